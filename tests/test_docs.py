"""README and docs hang together: links, length, the table of settings, every command."""

import re
from collections.abc import Iterator
from pathlib import Path

import folder_table
import pytest
from for_each import for_each
from pages import DOCS, PAGES, README, ROOT
from spec_table import table, written

from harness.registry import COMMANDS

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
GUIDES = [ROOT / name for name in ("AGENTS.md", "CONTRIBUTING.md", "SECURITY.md")]


def links(page: Path) -> Iterator[str]:
    for target in LINK.findall(FENCE.sub("", page.read_text())):
        if "://" not in target:
            yield target


def anchors(page: Path) -> set[str]:
    heads = HEADING.findall(FENCE.sub("", page.read_text()))
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@for_each("page", [*PAGES, *GUIDES])
def test_every_link_leads_somewhere(page: Path) -> None:
    for link in links(page):
        name, _, anchor = link.partition("#")
        target = (page.parent / name) if name else page
        assert target.exists(), f"{page.name}: {link}"
        if anchor:
            assert anchor in anchors(target), f"{page.name}: {link}"


def test_the_readme_is_read_in_a_sitting() -> None:
    assert len(README.read_text().splitlines()) <= 250


def test_every_page_is_linked_from_the_readme() -> None:
    linked = set(links(README))
    for page in DOCS:
        assert page.name == "index.md" or str(page.relative_to(ROOT)) in linked


def test_every_command_is_named_in_a_page() -> None:
    text = "".join(page.read_text() for page in PAGES)
    for command in COMMANDS:
        assert re.search(rf"harness {command.name}\b", text), command.name


def test_every_folder_stands_in_the_table_with_about_its_size() -> None:
    """A line count may be off by a quarter before somebody has to write the table again."""
    was, now = (
        [[cell.strip() for cell in line.split("|")[1:4]] for line in each.splitlines()]
        for each in (folder_table.written(), folder_table.table())
    )
    assert [row[:2] for row in was] == [row[:2] for row in now]
    for (name, _, old), (_, _, new) in zip(was, now, strict=True):
        sizes = [int(each.replace(",", "")) for each in (old, new)]
        assert sizes[0] == pytest.approx(sizes[1], rel=0.25), f"{name}: run folder_table.py"


def test_every_feature_and_core_folder_is_in_the_development_page() -> None:
    text = (ROOT / "docs" / "development.md").read_text()
    for path in [*(ROOT / "harness").iterdir(), *(ROOT / "harness" / "features").iterdir()]:
        if (path / "__init__.py").is_file() and not path.is_symlink():
            assert f"`{path.name}/`" in text, path.name


def test_the_tour_names_about_forty_files_once_each_with_a_description() -> None:
    text = (ROOT / "docs" / "development.md").read_text()
    section = re.split(r"^## ", text.partition("\n## A tour")[2], flags=re.MULTILINE)[0]
    stops = [line for line in section.splitlines() if line[:1].isdigit()]
    assert 35 <= len(stops) <= 45
    files: list[str] = []
    for number, line in enumerate(stops, start=1):
        match = re.fullmatch(rf"{number}\. `([^`]+)`: (\S.*)", line)
        assert match, line
        files.append(match[1])
    assert [file for file in files if not (ROOT / file).is_file()] == []
    assert len(set(files)) == len(files)


CELL = re.compile(r"(?<!\\)\|")
LONGEST = 25
"""Most words in a cell of a table."""


@for_each("page", PAGES)
def test_no_cell_of_a_table_is_a_paragraph(page: Path) -> None:
    rows = [line for line in FENCE.sub("", page.read_text()).splitlines() if line[:1] == "|"]
    cells = [cell.strip() for row in rows for cell in CELL.split(row)]
    assert [cell for cell in cells if len(cell.split()) > LONGEST] == []


def test_every_setting_stands_there_with_its_default_and_its_meaning() -> None:
    assert written() == table(), "run: python tests/support/spec_table.py"
