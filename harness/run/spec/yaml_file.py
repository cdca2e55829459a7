"""Reading of a YAML file of keys and values, such as a spec."""

from pathlib import Path
from typing import Any

from harness.errors import UsageError

MOST_BYTES = 1 << 20


def read_yaml(path: Path) -> dict[str, Any]:
    """Read a file's keys and values; `-` in a key counts as `_`.

    Raises:
        UsageError: the file cannot be read, is not YAML or too long, or is not a mapping.
    """
    import yaml

    try:
        with path.open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            raise UsageError(f"{path}: longer than {MOST_BYTES:,} bytes; is it the right file?")
        values: Any = _read(data.decode())
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "not UTF-8 text"
        raise UsageError(f"{path}: the file cannot be read ({reason})") from error
    except _TwiceError as error:
        raise UsageError(f"{path}: {error}") from None
    except RecursionError as error:
        raise UsageError(f"{path}: nested too deeply") from error
    except (yaml.YAMLError, ValueError) as error:  # such as February 30th
        raise UsageError(f"{path}: not valid YAML: {' '.join(str(error).split())}") from error
    if values is None:
        return {}
    if not isinstance(values, dict):
        raise UsageError(f"{path}: keys and values are expected, as in `benchmark: fixture`")
    return with_underscores(values)  # pyright: ignore[reportUnknownArgumentType]


def with_underscores(values: dict[Any, Any]) -> dict[str, Any]:
    """Return the values with keys spelled as in Python."""
    return {_plain(key): value for key, value in values.items()}


def _plain(key: object) -> str:
    return str(key).replace("-", "_")


class _TwiceError(Exception):
    """A mapping contains a key twice."""


def _read(text: str) -> Any:
    """Parse a YAML text, rejecting duplicate keys.

    Raises:
        _TwiceError: a mapping contains a key twice.
        YAMLError: the text is not YAML.
    """
    import yaml

    node: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    seen, waiting = set[int](), [node]
    while waiting:
        each = waiting.pop()
        if id(each) in seen:  # an alias
            continue
        seen.add(id(each))
        if isinstance(each, yaml.MappingNode):
            _check_keys(each)
            waiting += [part for pair in each.value for part in pair]
        elif isinstance(each, yaml.SequenceNode):
            waiting += each.value
    return yaml.safe_load(text)


def _check_keys(mapping: Any) -> None:
    import yaml

    lines: dict[str, int] = {}
    for key, _ in mapping.value:
        if not isinstance(key, yaml.ScalarNode) or key.value == "<<":
            continue
        name, line = _plain(key.value), key.start_mark.line + 1
        if name in lines:
            first = lines[name]
            raise _TwiceError(f"{key.value} is given twice, in lines {first} and {line}")
        lines[name] = line
