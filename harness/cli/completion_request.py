"""A shell's request for completion, and its answer."""

import io
import sys
from collections.abc import Callable, MutableMapping
from contextlib import redirect_stdout
from typing import Any

COMPLETE = "_HARNESS_COMPLETE"
"""Set by a shell that requests completions of a word."""
BASH = "complete_bash"


def answered(app: Callable[..., Any], environ: MutableMapping[str, str]) -> Any:
    """Answer a shell's request, whichever way it splits words.

    Bash splits `a:b` into the three words a, : and b, and expects completions of the last one.

    Args:
        app: the command line, which completes unsplit words itself.
        environ: the environment, which contains the typed words.
    """
    from typer.completion import completion_init  # pyright: ignore[reportPrivateImportUsage]

    completion_init()
    cut = join_words(environ) if environ.get(COMPLETE) == BASH else 0
    if not cut:
        return app(standalone_mode=False)
    output = io.StringIO()
    try:
        with redirect_stdout(output):
            return app(standalone_mode=False)
    finally:
        sys.stdout.writelines(f"{line[cut:]}\n" for line in output.getvalue().splitlines())
        sys.stdout.flush()


def join_words(environ: MutableMapping[str, str]) -> int:
    """Join words that bash split at colons, and at the `=` of KEY=VALUE.

    Returns:
        Number of characters of the unfinished word before its last part.
    """
    words = environ.get("COMP_WORDS", "").split("\n")
    place = environ.get("COMP_CWORD", "")
    if not place.isdecimal() or int(place) >= len(words):
        return 0
    joined: list[str] = []
    for word in words[: int(place) + 1]:
        if joined and (_goes_on(word[:1], joined[-1]) or _goes_on(joined[-1][-1:], joined[-1])):
            joined[-1] += word
        else:
            joined.append(word)
    environ["COMP_WORDS"] = "\n".join(joined)
    environ["COMP_CWORD"] = str(len(joined) - 1)
    return max(joined[-1].rfind(mark) for mark in _marks(joined[-1])) + 1


def _marks(word: str) -> str:
    """Return where bash splits a word; a flag and its value are two for click too."""
    return ":" if word.startswith("-") else ":="


def _goes_on(mark: str, word: str) -> bool:
    return mark != "" and mark in _marks(word)
