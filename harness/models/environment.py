"""Keys, addresses and the default model, from the environment and from `.env`.

A `.env` is read only for the names in `NAMES`. Its values are kept here and not put into the
environment, so that no started program and no judged code can read them.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from harness.errors import UsageError

DOTENV = Path(".env")
ENVIRONMENT = "environment"
HUB = "huggingface_hub"
MODEL_ID = "MODEL_ID"
OPENAI_BASE_URL = "OPENAI_BASE_URL"
ANTHROPIC_BASE_URL = "ANTHROPIC_BASE_URL"
HF_TOKEN = "HF_TOKEN"  # noqa: S105 - a variable's name
NAMES = frozenset(
    {
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        HF_TOKEN,
        MODEL_ID,
        OPENAI_BASE_URL,
        ANTHROPIC_BASE_URL,
    }
)
MOST_BYTES = 2**20  # a larger .env is something else


@dataclass(frozen=True, slots=True)
class FoundVariable:
    """Value of a variable, and where it was found.

    Attributes:
        variable: name of the variable.
        where: `environment`, `.env`, or `huggingface_hub` for the token of `hf auth login`.
        value: the value; never shown, as it may be a key.
    """

    variable: str
    where: str
    value: str = field(repr=False)


def hub_token() -> str | None:
    """Return the token stored by `hf auth login`."""
    from huggingface_hub import get_token

    try:
        return get_token()
    except Exception:  # noqa: BLE001 - no home, no network, no permission: no token
        return None


class Environment:
    """Variables that the user has set.

    Args:
        environ: the process's environment. A name in it, even with an empty value, hides the same
            name in `.env`.
        dotenv: values of a `.env`.
        hub_token: function that returns the token of `huggingface_hub`.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        dotenv: Mapping[str, str] | None = None,
        *,
        hub_token: Callable[[], str | None] = hub_token,
    ) -> None:
        self._environ = environ
        self._dotenv = dotenv or {}
        self._hub_token = hub_token

    @classmethod
    def read(
        cls, environ: Mapping[str, str], path: Path = DOTENV, more: Collection[str] = ()
    ) -> "Environment":
        """Return the environment with the `.env` at `path`, if there is one.

        Args:
            environ: the process's environment.
            path: path of the `.env`.
            more: further names to read from it, given by the user.

        Raises:
            UsageError: the file cannot be parsed.
        """
        return cls(environ, read_dotenv(path, NAMES.union(more)))

    def find(self, *names: str) -> FoundVariable | None:
        """Return the first of some names that has a value, stripped of white space."""
        return next(filter(None, map(self._find, names)), None)

    def text(self, name: str) -> str:
        """Return the value of a name, "" where it has none."""
        found = self.find(name)
        return found.value if found else ""

    def _find(self, name: str) -> FoundVariable | None:
        places = ((ENVIRONMENT, self._environ), (str(DOTENV), self._dotenv))
        for where, values in places:
            if name in values:
                value = values[name].strip()
                return FoundVariable(name, where, value) if value else None
        token = self._hub_token() if name == HF_TOKEN else None
        return FoundVariable(name, HUB, token) if token else None


def read_dotenv(path: Path, names: Collection[str] = NAMES) -> dict[str, str]:
    """Return the values of some names in a `.env`; empty where there is no file.

    Raises:
        UsageError: the file is too large, or a line with one of the names cannot be parsed.
    """
    if not path.is_file():  # a folder of that name is a virtual environment
        return {}
    from dotenv.parser import parse_stream

    with path.open("rb") as file:
        raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise UsageError(f"{path}: larger than {MOST_BYTES >> 20} MiB; it should hold a few keys")
    values: dict[str, str] = {}
    # Bytes that are not UTF-8 become characters that no key has, and are refused where the key is
    # used.
    for line in parse_stream(StringIO(raw.decode("utf-8-sig", "replace"))):
        if line.error:
            _refuse_ours(path, line.original.line, line.original.string, names)
        elif line.key is not None and line.key in names and line.value is not None:
            values[line.key] = line.value
    return values


def _refuse_ours(path: Path, number: int, text: str, names: Collection[str]) -> None:
    """Raise UsageError if an unreadable line contains one of the names."""
    ours = next((name for name in sorted(names) if name in text), None)
    if ours is not None:
        raise UsageError(f"{path}:{number}: {ours} cannot be read; write {ours}=VALUE")
