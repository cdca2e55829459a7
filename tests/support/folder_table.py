"""The table of folders in CONTRIBUTING.md: `python tests/support/folder_table.py` writes it."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "CONTRIBUTING.md"
BEGIN, END = "<!-- folders -->\n", "<!-- end of the folders -->\n"
ORDER = (
    *("sources", "models", "languages", "sandbox", "grading", "kinds", "tools", "agent", "run"),
    *("stats", "terminal", "cli", "features"),
)


def table() -> str:
    """Return a row for each folder, in reading order; lines to the nearest hundred."""
    return "".join(_rows())


def _rows() -> Iterator[str]:
    for name in ORDER:
        folder = ROOT / ("tools" if name == "tools" else f"harness/{name}")
        lines = sum(len(path.read_text().splitlines()) for path in folder.rglob("*.py"))
        doc = ast.get_docstring(ast.parse((folder / "__init__.py").read_text())) or ""
        where = folder.relative_to(ROOT)
        yield f"| `{where}/` | {doc.splitlines()[0].replace('|', ' ')} | {round(lines, -2):,} |\n"


def written() -> str:
    """Return the table in the page."""
    return PAGE.read_text().partition(BEGIN)[2].partition(END)[0]


def put() -> None:
    """Write the table into the page."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(before + BEGIN + table() + END + rest.partition(END)[2])


if __name__ == "__main__":
    put()
