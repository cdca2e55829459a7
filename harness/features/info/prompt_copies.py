"""`harness prompts copy` and `harness prompts diff`."""

from difflib import unified_diff
from pathlib import Path, PurePosixPath

from harness.agent.templates.prompt_set import OWN_PARTS, SINGLE_SHOT, find_templates, read_set
from harness.errors import StorageError, UsageError
from harness.problem import Kind
from harness.terminal.summary_table import console
from harness.text import count, printable

Texts = dict[PurePosixPath, str]


def copy_set(name: str, folder: Path) -> None:
    """Copy all templates of a set into a folder, which becomes a set.

    Raises:
        UsageError: there is no such set, or the folder exists and is not empty.
        StorageError: the folder cannot be written.
    """
    texts = _texts(name)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists and is not an empty folder; give another")
    try:
        for place, text in texts.items():
            path = folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{folder}: {error.strerror or error}") from error
    out = console()
    out.print(f"{count(len(texts), 'template')} of {name!r} in {folder}", soft_wrap=True)
    out.print(f"change them, then: harness prompts check {folder}", soft_wrap=True)
    out.print(f"use them with:     harness run --prompt {folder}", soft_wrap=True)


def diff_sets(one: str, other: str) -> None:
    """Print the differences between the templates of two sets, as `diff -u` does.

    Raises:
        UsageError: a set does not exist.
    """
    before, after = _texts(one), _texts(other)
    out, same = console(), True
    for place in sorted({*before, *after}):
        old, new = before.get(place), after.get(place)
        if old == new:
            continue
        same = False
        names = _named(one, place, old), _named(other, place, new)
        for line in unified_diff(_lines(old), _lines(new), names[0], names[1], lineterm=""):
            out.print(printable(line), soft_wrap=True)
    if same:
        out.print(f"{one} and {other} have the same templates", soft_wrap=True)


def _named(name: str, place: PurePosixPath, text: str | None) -> str:
    return "/dev/null" if text is None else f"{name}/{place}"


def _lines(text: str | None) -> list[str]:
    return [] if text is None else text.splitlines()


def _texts(name: str) -> Texts:
    """Return all templates of a set, by their paths in a folder. Raises UsageError."""
    texts: Texts = {}
    for mode in OWN_PARTS:
        for kind in Kind:
            try:
                found = find_templates(name, mode, kind)
            except UsageError:
                continue
            of_kind = "" if kind is Kind.CODE_GENERATION else str(kind)
            for part, text in read_set(name, found).parts.items():
                if OWN_PARTS[mode] and texts.get(_place(SINGLE_SHOT, of_kind, part)) == text:
                    continue  # the same as in single shot
                texts[_place(mode, of_kind, part)] = text
    if not texts:
        find_templates(name, SINGLE_SHOT)
    return texts


def _place(mode: str, kind: str, part: str) -> PurePosixPath:
    return PurePosixPath(mode, kind, f"{part}.j2")
