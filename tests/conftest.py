"""What all tests share."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder of real data-set rows; tests that need it are skipped where there is none."""
    folder = os.environ.get("HARNESS_TEST_DATA")
    if not folder:
        pytest.skip("HARNESS_TEST_DATA does not name the folder of real rows")
    return Path(folder)
