"""The texts of a prompt set by path, as a folder of the user holds them."""

from collections.abc import Iterator, Mapping
from importlib.resources.abc import Traversable
from pathlib import Path, PurePosixPath

from harness.agent.templates.prompt_set import (
    DEFAULT,
    OPENING,
    PARTS,
    VARIANTS,
    own_parts,
    read_set,
    set_folder,
    variant_folder,
)
from harness.errors import StorageError, UsageError

Texts = dict[PurePosixPath, str]
"""Templates by path in a folder, such as `again.j2` or `codet/tests.j2`."""


def set_texts(name: str, *, whole: bool = False) -> Texts:
    """Return the templates of a bundled set or folder; none if it has none.

    Args:
        name: the set.
        whole: whether to add the texts that the set takes from `default`.

    Raises:
        UsageError: a file cannot be read.
    """
    texts = dict(_texts(name, set_folder(name)))
    if whole and texts:
        rest = dict(_texts(DEFAULT, set_folder(DEFAULT)))
        of_parts = {f"{part}.j2" for part in PARTS}
        texts |= {
            place: text
            for place, text in rest.items()
            if place not in texts and (str(place) in of_parts or place.parts[0] in own_parts())
        }
    return texts


def _texts(name: str, folder: Traversable) -> Iterator[tuple[PurePosixPath, str]]:
    for kind, language in VARIANTS:
        place = variant_folder(folder, kind, language)
        inner = variant_folder(PurePosixPath(), kind, language)  # type: ignore[arg-type]
        for part in (
            *OPENING,
            *PARTS,
            *(f"{m}/{p}" for m, own in own_parts().items() for p in own),
        ):
            file = place / f"{part}.j2"
            if file.is_file():
                texts = read_set(name, {part: file}).parts
                yield PurePosixPath(str(inner), f"{part}.j2"), texts[part]


def write_texts(texts: Mapping[PurePosixPath, str], folder: Path) -> None:
    """Write templates into a folder, which is made.

    Raises:
        UsageError: the folder cannot be made.
        StorageError: the disk refused a write.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{folder} cannot be made: {error.strerror or error}") from error
    try:
        for place, text in texts.items():
            path = folder / place
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{folder}: {error.strerror or error}") from error
