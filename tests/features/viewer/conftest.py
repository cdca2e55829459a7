from collections.abc import Iterator
from pathlib import Path

import pytest
from visitor import Visitor


@pytest.fixture
def visitor(tmp_path: Path) -> Iterator[Visitor]:
    """One who looks at the runs below a test's folder."""
    visitor = Visitor(tmp_path)
    yield visitor
    visitor.client.close()
