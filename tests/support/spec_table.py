"""The settings table of docs/configuration.md: `python tests/support/spec_table.py` writes it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from harness.run.settings.spec import SETTINGS, RunSpec

BEGIN, END = "<!-- keys of the spec -->\n", "<!-- end of the keys -->\n"
PAGE = Path(__file__).parents[2] / "docs" / "configuration.md"


def table() -> str:
    """Return a row per key: its default and its help."""
    lines = ["| key | default | |", "| --- | --- | --- |", *_rows()]
    return "\n".join(lines) + "\n"


def _rows() -> Iterator[str]:
    for name, field in RunSpec.model_fields.items():
        default = field.get_default(call_default_factory=True)
        default_cell = "" if default in (None, ()) else f"`{_yaml(default)}`"
        text = SETTINGS[name].help.replace("|", "\\|")
        yield f"| `{name}` | {default_cell} | {text} |"


def _yaml(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def written() -> str:
    """Return the table in the page."""
    return PAGE.read_text().partition(BEGIN)[2].partition(END)[0].strip("\n") + "\n"


def put() -> None:
    """Write the table into the page."""
    text = PAGE.read_text()
    before, _, rest = text.partition(BEGIN)
    PAGE.write_text(before + BEGIN + "\n" + table() + "\n" + END + rest.partition(END)[2])


if __name__ == "__main__":
    put()
