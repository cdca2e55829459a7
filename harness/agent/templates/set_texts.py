"""The texts of a prompt set by path, as a folder of the user holds them."""

from collections.abc import Mapping
from pathlib import Path, PurePosixPath

from harness.agent.templates.prompt_set import (
    OWN_PARTS,
    SINGLE_SHOT,
    VARIANTS,
    find_templates,
    read_set,
)
from harness.errors import StorageError, UsageError
from harness.languages import PYTHON
from harness.problem import Kind

Texts = dict[PurePosixPath, str]
"""Templates by path in a folder, such as `agentic/system.j2`."""


def set_texts(name: str) -> Texts:
    """Return all templates of a bundled set or folder; none if it has none.

    A template that a mode shares with single shot is listed once.
    """
    texts: Texts = {}
    for mode in OWN_PARTS:
        for kind, language in VARIANTS:
            try:
                templates = find_templates(name, mode, kind, language)
            except UsageError:
                continue
            for part, text in read_set(name, templates).parts.items():
                if OWN_PARTS[mode] and texts.get(_place(SINGLE_SHOT, kind, part, language)) == text:
                    continue  # the same as in single shot
                texts[_place(mode, kind, part, language)] = text
    return texts


def place_in(texts: Mapping[PurePosixPath, str], mode: str, kind: Kind, part: str) -> PurePosixPath:
    """Return the path of a mode's template: its own, or the one that it shares."""
    own = _place(mode, kind, part)
    return own if own in texts else _place(SINGLE_SHOT, kind, part)


def write_texts(texts: Mapping[PurePosixPath, str], folder: Path) -> None:
    """Write templates into a folder, which is made.

    Raises:
        StorageError: the disk refused a write.
    """
    try:
        for place, text in texts.items():
            path = folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{folder}: {error.strerror or error}") from error


def _place(mode: str, kind: Kind, part: str, language: str = PYTHON) -> PurePosixPath:
    of_code = "" if language == PYTHON else language
    of_kind = of_code if kind is Kind.CODE_GENERATION else str(kind)
    return PurePosixPath(mode, of_kind, f"{part}.j2")
