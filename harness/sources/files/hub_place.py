"""Parsing of releases and splits on the hub in a benchmark's name."""

import difflib
from collections.abc import Collection
from glob import has_magic
from pathlib import Path
from typing import NamedTuple

from harness.errors import UsageError

_SUFFIXES = (".jsonl", ".json", ".gz", ".parquet")


class HubPlace(NamedTuple):
    """Release, split or set on the hub; the empty word is the source's default."""

    word: str
    revision: str


def hub_place(where: str | None, source: str, words: Collection[str], said: str) -> HubPlace | None:
    """Parse a place on the hub, `[WORD][@REVISION]`; return None for a path or glob.

    A word is never a path: a file of that name is `./WORD`.

    Args:
        where: text after the colon, if any.
        source: name before it.
        words: words that the source knows.
        said: the same words for a message.

    Raises:
        UsageError: it is neither one of these words nor looks like a path.
    """
    if where is None:
        return HubPlace("", "main")
    word, at, revision = where.partition("@")
    if word not in words and _exists(where):
        return None
    if at and not revision:
        raise UsageError(f"{source}:{where} ends at the @; give {source}:{word}@REVISION")
    if word in words or (at and not word):
        return HubPlace(word, revision or "main")
    if has_magic(where) or "/" in where or where.endswith(_SUFFIXES) or where.startswith("~"):
        return None
    near = difflib.get_close_matches(word, words, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise UsageError(
        f"{source} has no {word!r}, and there is no such file; {hint}known: {said}, or a path"
    )


def _exists(where: str) -> bool:
    """Return whether it is an existing path. Raises UsageError where it cannot be one."""
    try:
        where.encode()
        return Path(where).expanduser().exists()
    except UnicodeError:
        raise UsageError(f"{where!r} is not UTF-8") from None
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: `~` of an unknown user
        raise UsageError(f"{where!r:.80} cannot be a path: {error!s:.200}") from None
