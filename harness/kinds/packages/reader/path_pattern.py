"""Patterns of paths in a package: `*` within a name, and choices in braces.

Source: the format of 2025-09, "Glob patterns". A pattern matches a path, and all paths below it.
"""

import re
from collections.abc import Iterable
from fnmatch import fnmatchcase

MOST_CHOICES = 100
"""Most patterns that the braces of one stand for."""
LONGEST = 1_000
_REFUSED = ("**", "[", "]")
_BRACES = re.compile(r"\{([^{}]*)\}")


class PatternError(ValueError):
    """A pattern is not one of the format."""


class PathPattern:
    """A pattern.

    Raises:
        PatternError: it has what the format does not have, or stands for too many patterns.
    """

    def __init__(self, text: str) -> None:
        if len(text) > LONGEST:
            raise PatternError(f"longer than {LONGEST:,} characters")
        if refused := [each for each in _REFUSED if each in text]:
            raise PatternError(f"{refused[0]!r} is not in the format's patterns")
        self._choices = [choice.strip("/").split("/") for choice in _choices(text)]

    @property
    def choices(self) -> int:
        """Number of patterns without braces that it stands for."""
        return len(self._choices)

    def matches(self, path: str) -> bool:
        """Return whether it matches a path, or a folder around it."""
        names = path.split("/")
        return any(
            len(choice) <= len(names)
            and all(_is_like(name, part) for name, part in zip(names, choice, strict=False))
            for choice in self._choices
        )

    def may_begin_with(self, folders: Iterable[str]) -> bool:
        """Return whether every path that it matches may be in one of some folders."""
        names = [*folders]
        return all(any(_is_like(name, parts[0]) for name in names) for parts in self._choices)


def _is_like(name: str, part: str) -> bool:
    return fnmatchcase(name, part.replace("?", "[?]"))


def _choices(text: str) -> list[str]:
    """Return the patterns that a pattern with braces stands for, the innermost braces first."""
    whole: list[str] = []
    left = [text]
    while left:
        pattern = left.pop()
        braces = _BRACES.search(pattern)
        if braces is None:
            if "{" in pattern or "}" in pattern:
                raise PatternError("a brace without its partner")
            whole.append(pattern)
        else:
            before, after = pattern[: braces.start()], pattern[braces.end() :]
            left += [f"{before}{choice}{after}" for choice in braces[1].split(",")]
        if len(whole) + len(left) > MOST_CHOICES:
            raise PatternError(f"its braces stand for more than {MOST_CHOICES} patterns")
    return whole
