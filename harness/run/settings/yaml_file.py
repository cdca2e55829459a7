"""Files that hold settings, and those in YAML."""

from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.yaml_text import YamlError, parse_yaml

MOST_BYTES = 1 << 20


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a file's keys and values; `-` in a key counts as `_`.

    Raises:
        UsageError: the file cannot be read, is not YAML or too long, or is not a mapping.
    """
    try:
        values: Any = parse_yaml(read_text(path), spelling=_plain)
    except YamlError as error:
        raise UsageError(f"{path}: {error}") from None
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise UsageError(f"{path}: keys and values are expected, as in `benchmark: fixture`")
    return with_underscores(values)  # pyright: ignore[reportUnknownArgumentType]


def read_text(path: Path) -> str:
    """Return the text of a file with settings. Raises UsageError if it is none, or too long."""
    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise UsageError(f"{path}: longer than {MOST_BYTES:,} bytes; is it the right file?")
        return data.decode()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise UsageError(f"{path}: the file cannot be read ({reason})") from error


def with_underscores(values: dict[Any, Any]) -> dict[str, Any]:
    """Return the values with keys spelled as in Python."""
    return {_plain(key): value for key, value in values.items()}


def _plain(key: object) -> str:
    return str(key).replace("-", "_")
