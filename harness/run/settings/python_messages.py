"""Errors of the command line in words for Python: `out` for `--out`."""

import re
from collections.abc import Generator
from contextlib import contextmanager

from harness.errors import HarnessError

_FLAG = re.compile(
    r"`[^`]*`|\bharness [a-z]+ .*|(?<![^\s('\"])(?:--set |--|-(?=[bo]\b))([a-z][a-z_-]*)"
)
"""A flag, or `--set` and a key; or a whole command, whose flags stay."""


@contextmanager
def python_words(caller: str, **names: str) -> Generator[None]:
    """Reword errors of the command line for Python: `out` for `--out`, `plans` for `--set plans`.

    Args:
        caller: name of the function, for messages.
        names: arguments whose names differ from their flags, by flag.

    Raises:
        HarnessError: as raised inside, in other words.
    """

    def named(match: re.Match[str]) -> str:
        flag = match[1]
        return names.get(flag, flag.replace("-", "_")) if flag else match[0]

    try:
        yield
    except HarnessError as error:
        message = _FLAG.sub(named, str(error))
        if message != str(error):
            error.args = (message if message.startswith(caller) else f"{caller}: {message}",)
        raise
