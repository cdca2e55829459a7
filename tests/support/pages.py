"""The pages that users read: README.md and docs/."""

from collections.abc import Iterable
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

ROOT = Path(__file__).parents[2]
README = ROOT / "README.md"
DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [README, *DOCS]


def carried_out(pages: Iterable[Path]) -> list[ParameterSet]:
    """Parameters of a test that carries out what pages show: the README, in thorough runs all."""
    return [
        pytest.param(page, id=page.name, marks=[] if page == README else [pytest.mark.thorough])
        for page in pages
    ]
