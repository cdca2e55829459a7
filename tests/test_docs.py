"""README and docs hang together: links, length, the table of settings, every command."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pages import DOCS, PAGES, README, ROOT
from spec_table import table, written
from typer.main import get_command

from harness.cli.app import app

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def links(page: Path) -> Iterator[str]:
    for found in LINK.findall(FENCE.sub("", page.read_text())):
        if "://" not in found:
            yield found


def anchors(page: Path) -> set[str]:
    heads = HEADING.findall(FENCE.sub("", page.read_text()))
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
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
    command: Any = get_command(app)
    text = "".join(page.read_text() for page in PAGES)
    for name in command.commands:
        assert re.search(rf"harness {name}\b", text), name


def test_every_setting_stands_there_with_its_default_and_its_meaning() -> None:
    assert written() == table(), "run: python tests/support/spec_table.py"
