"""What requests take from the user's surroundings: keys, addresses, headers, the default model.

They come from the environment and from the nearest `.env`, in the working folder or above. Of a
`.env` only names in `NAMES` are read here. Its values are not put into the environment, so that no
started program and no judged code can read them.

The value of a user's header may be a secret. It is sent but never stored: `stored_header` leaves it
out. A variable's name is not a secret, and is kept.

The vendors' SDKs read more headers from variables that hold, for example, the name of an
organisation or a gateway's key, and would send them to every address. `vendor_headers` returns them
for the vendor's own host only.
"""

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path

from harness.errors import UsageError
from harness.models.providers import is_at

DOTENV = ".env"
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

OPENAI_HOST = "api.openai.com"
ANTHROPIC_HOST = "api.anthropic.com"
VARIABLES: Mapping[str, tuple[str, ...]] = {
    OPENAI_HOST: ("OPENAI_CUSTOM_HEADERS", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"),
    ANTHROPIC_HOST: ("ANTHROPIC_CUSTOM_HEADERS",),
}
# The variables that hold one value; the others hold lines of `name: value`.
NAMED = {"OPENAI_ORG_ID": "OpenAI-Organization", "OPENAI_PROJECT_ID": "OpenAI-Project"}
KEY_HEADERS = frozenset({"authorization", "x-api-key", "api-key"})
"""Headers that carry a key themselves."""

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")  # a token of RFC 9110, section 5.6.2
_VARIABLE = re.compile(r"\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})")
_OF_THE_CLIENT = frozenset(
    {"host", "content-length", "content-type", "transfer-encoding", "connection"}
)
_SPELT = {"authorization": "Authorization", "user-agent": "User-Agent", "accept": "Accept"}
"""Headers that the SDKs set, in their spelling: the SDKs treat two spellings as different."""


@dataclass(frozen=True, slots=True)
class FoundVariable:
    """Value of a variable, and where it was found.

    Attributes:
        variable: name of the variable.
        where: `environment`, the path of a `.env`, or `huggingface_hub` for the token of
            `hf auth login`.
        value: the value; never shown, as it may be a key.
    """

    variable: str
    where: str
    value: str = field(repr=False)

    @property
    def headers(self) -> list[tuple[str, str]]:
        """Headers that it defines; lines without a colon are ignored, as by the SDKs."""
        if self.variable in NAMED:
            return [(NAMED[self.variable], self.value)]
        lines = (line.partition(":") for line in self.value.split("\n"))
        return [(name.strip(), value.strip()) for name, colon, value in lines if colon]


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
        path: path of the `.env`.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        dotenv: Mapping[str, str] | None = None,
        *,
        hub_token: Callable[[], str | None] = hub_token,
        path: Path | None = None,
    ) -> None:
        self._environ = environ
        self._dotenv = dotenv or {}
        self._path = path or Path(DOTENV)
        self._hub_token = hub_token

    @classmethod
    def read(
        cls, environ: Mapping[str, str], path: Path | None = None, more: Collection[str] = ()
    ) -> "Environment":
        """Return the environment with the `.env` at `path`, if there is one.

        Args:
            environ: the process's environment.
            path: path of the `.env`; default: the nearest one.
            more: further names to read from it, given by the user.

        Raises:
            UsageError: the file cannot be parsed.
        """
        path = path or nearest_dotenv()
        lines = {} if path is None else read_dotenv(path, NAMES.union(more))
        return cls(environ, {name: value for name, (value, _) in lines.items()}, path=path)

    def find(self, *names: str) -> FoundVariable | None:
        """Return the first of some names that has a value, stripped of white space."""
        return next(filter(None, map(self._find, names)), None)

    def text(self, name: str) -> str:
        """Return the value of a name, "" where it has none."""
        setting = self.find(name)
        return setting.value if setting else ""

    def key(self, *names: str) -> FoundVariable | None:
        """Return the first key that is set. Raises UsageError if no HTTP header can carry it."""
        key = self.find(*names)
        if key is not None and not (key.value.isascii() and key.value.isprintable()):
            raise UsageError(
                f"{key.variable} ({key.where}) holds characters that no key has; set it again"
            )
        return key

    def _find(self, name: str) -> FoundVariable | None:
        places = ((ENVIRONMENT, self._environ), (str(self._path), self._dotenv))
        for where, values in places:
            if name in values:
                value = values[name].strip()
                return FoundVariable(name, where, value) if value else None
        token = self._hub_token() if name == HF_TOKEN else None
        return FoundVariable(name, HUB, token) if token else None


def nearest_dotenv() -> Path | None:
    """Return the path of the nearest `.env`, in the working folder or above; None without one."""
    from harness.nearest import candidates

    return next(candidates(DOTENV), None)


def read_dotenv(path: Path, names: Collection[str]) -> dict[str, tuple[str, int]]:
    """Return the values of some names in a `.env`, with their lines; empty where there is no file.

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
    values: dict[str, tuple[str, int]] = {}
    # Bytes that are not UTF-8 become characters that no key has, and are refused where the key is
    # used.
    for line in parse_stream(StringIO(raw.decode("utf-8-sig", "replace"))):
        text = line.original.string  # it may begin with empty lines
        number = line.original.line + text[: -len(text.lstrip()) or None].count("\n")
        if line.error:
            _refuse_ours(path, number, text, names)
        elif line.key is not None and line.key in names and line.value is not None:
            values[line.key] = line.value, number
    return values


def _refuse_ours(path: Path, number: int, text: str, names: Collection[str]) -> None:
    """Raise UsageError if an unreadable line contains one of the names."""
    ours = next((name for name in sorted(names) if name in text), None)
    if ours is not None:
        raise UsageError(f"{path}:{number}: {ours} cannot be read; write {ours}=VALUE")


def _can_be_sent(name: str, value: str) -> bool:
    """Return whether HTTP can carry a header."""
    return _NAME.fullmatch(name) is not None and value.isascii() and value.isprintable()


def variable_of(header: str) -> str | None:
    """Return the environment variable that a header's value is read from, or None."""
    match = _VARIABLE.fullmatch(header.partition(":")[2].strip())
    return match and (match[1] or match[2])


def name_of(header: str) -> str:
    """Return the name of a header, in lower case."""
    return header.partition(":")[0].strip().lower()


def stored_header(header: str) -> str:
    """Return a header as it may be stored: without its value, unless that is a variable."""
    variable = variable_of(header)
    name = header.partition(":")[0].strip()
    return name if variable is None else f"{name}: ${variable}"


def check_header(header: str) -> str:
    """Return the header unchanged. One without a value may come from a stored run.

    Raises:
        ValueError: it cannot be sent; the message shows no value.
    """
    name, colon, value = header.partition(":")
    name = name.strip()
    if not _can_be_sent(name, value.strip()) or (colon and not value.strip()):
        raise ValueError("give NAME:VALUE, in ASCII and with both")
    if name.lower() in _OF_THE_CLIENT:
        raise ValueError(f"the header {name} is set by the harness; leave it out")
    return header


def read_headers(headers: Iterable[str], environment: Environment) -> dict[str, str]:
    """Return the headers as they are sent.

    Raises:
        UsageError: one has no value, or its variable has none.
    """
    values: dict[str, str] = {}
    for header in headers:
        name, variable = header.partition(":")[0].strip(), variable_of(header)
        value = environment.text(variable) if variable else header.partition(":")[2].strip()
        if variable and not value:
            raise UsageError(f"--header {name}: the variable {variable} is not set")
        if not value:
            raise UsageError(
                f"--header {name[:100]}: the value is missing; no run keeps it, so give "
                f"--header '{name[:100]}: VALUE' again"
            )
        if not _can_be_sent(name, value):
            raise UsageError(
                f"--header {name}: the value of {variable} is not valid in an HTTP header"
            )
        values[_SPELT.get(name.lower(), name)] = value
    return values


def vendor_headers(base_url: str, environment: Environment) -> tuple[FoundVariable, ...]:
    """Return the vendor's header variables, if the address is the vendor's own host.

    Raises:
        UsageError: HTTP cannot carry a header; its value is not shown.
    """
    names = (each for host, names in VARIABLES.items() if is_at(base_url, host) for each in names)
    settings = tuple(filter(None, map(environment.find, names)))
    for each in settings:
        if not all(_can_be_sent(name, value) for name, value in each.headers):
            raise UsageError(
                f"{each.variable} ({each.where}) is not a valid HTTP header; set it again"
            )
    return settings
