"""Commands of `generators.yaml`: a program, its arguments, and the seed that follows from them."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha512

from harness.errors import DataError
from harness.sources.contests.package.constants import with_constants

LONGEST = 4_000
"""Most characters of a command."""
SEEDS = 1 << 31
NAME, COUNT = "{name}", "{count}"
FILE_NAME = "testcase"
"""Name, without ending, of files that a generator may write in place of its output."""
_SEED = re.compile(r"\{seed(?::[0-9]+)?\}")


@dataclass(frozen=True, slots=True)
class Command:
    """A command.

    Attributes:
        program: name of the program, as the file spells it.
        arguments: its arguments; the seed's place is not filled in.
        seed: the seed.
    """

    program: str
    arguments: tuple[str, ...]
    seed: int = 0

    def arguments_with(self, more: int = 0) -> tuple[str, ...]:
        """Return the arguments with the seed, or one that is larger by `more`."""
        seed = str((self.seed + more) % SEEDS)
        return tuple(_SEED.sub(seed, each).replace(NAME, FILE_NAME) for each in self.arguments)


def read_command(
    text: str, where: str, *, salt: str = "", index: int = 0, constants: Mapping[str, str]
) -> Command:
    """Return a command.

    The seed is the one of the format's text: SHA-512 of salt and command, modulo 2 to the 31.
    Repetitions (`count`) after the first put their number before the command, as BAPCtools does.

    Args:
        text: the command.
        where: the test, for errors.
        salt: the file's `random_salt`.
        index: number of the repetition, from 0.
        constants: the package's constants.

    Raises:
        DataError: it is empty, too long, or has two places for a seed.
    """
    text = with_constants(text, constants).replace(COUNT, str(index + 1)).strip()
    program, *arguments = text.split() or [""]
    if not program or len(text) > LONGEST or "\0" in text:
        raise DataError(where, None, f"a command has 1 to {LONGEST:,} characters")
    if len(_SEED.findall(text)) > 1:
        raise DataError(where, None, f"{{seed}} is there more than once: {text!r:.80}")
    salted = f"{salt}:{index}{text}" if index else f"{salt}{text}"
    digest = sha512(salted.encode("utf-8", "surrogatepass")).hexdigest()
    return Command(program, tuple(arguments), int(digest, 16) % SEEDS)
