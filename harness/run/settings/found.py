"""Settings that are found: in a file of the working folder or above, in `.env`, the environment.

The nearest `harness.yaml`, or `pyproject.toml` with a table `[tool.harness]`, is the file. A name
that begins with `HARNESS_` and is no key is passed over: other things have such names.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, cast

from harness.errors import UsageError
from harness.models.environment import nearest_dotenv, read_dotenv
from harness.nearest import candidates
from harness.registry import CONFIG_OF_AGENT, TASK_OF_AGENT
from harness.run.settings.given import Given, given_settings
from harness.run.settings.unknown_keys import refuse_unknown
from harness.run.settings.yaml_file import read_text, read_yaml, with_underscores

YAML, TOML = "harness.yaml", "pyproject.toml"
PREFIX = "HARNESS_"

_YAML_KEY = re.compile(r"""^['"]?([\w-]+)['"]?\s*:""")
_TOML_KEY = re.compile(r"""^\s*(?:\[\s*tool\s*\.\s*harness\s*\.\s*)?['"]?([\w-]+)['"]?\s*[=.\]]""")


def found_settings(environ: Mapping[str, str], keys: Collection[str]) -> Given:
    """Return the settings that are found, those of the environment over those of files.

    Args:
        environ: the process's environment.
        keys: all keys.

    Raises:
        UsageError: a file cannot be read, or has an unknown key; the message names file and line.
    """
    names = {f"{PREFIX}{key.upper()}": key for key in keys}
    if CONFIG_OF_AGENT in environ:  # this is a process of an agent
        del names[TASK_OF_AGENT]
    here = {name: environ[name] for name in names if name in environ}
    dotenv = nearest_dotenv()
    lines = {} if dotenv is None else read_dotenv(dotenv, names.keys() - here.keys())
    texts = {name: (f"{dotenv}:{line}: {name}", text) for name, (text, line) in lines.items()}
    texts |= {name: (name, text) for name, text in here.items()}
    values: dict[str, Any] = {}
    places: dict[str, str] = {}
    for name, (place, text) in texts.items():
        if text.strip():  # an empty one is as good as none
            values |= given_settings({names[name]: text}, place)
            places[names[name]] = place
    return Given(values, places, values).over(_of_file(keys))


def _of_file(keys: Collection[str]) -> Given:
    """Return the settings of the nearest file. Raises UsageError."""
    for path in candidates(YAML, TOML):
        read, pattern = (read_yaml, _YAML_KEY) if path.name == YAML else (_table, _TOML_KEY)
        values = read(path)
        if values is None:
            continue
        lines = _lines(path, pattern)
        places = {key: f"{path}:{lines[key]}" if key in lines else str(path) for key in values}
        for key, place in places.items():
            refuse_unknown([key], keys, place)
        return Given(values, {key: f"{place}: {key}" for key, place in places.items()}, values)
    return Given({}, {})


def _table(path: Path) -> dict[str, Any] | None:
    """Return the table `[tool.harness]` of a TOML file; None without one. Raises UsageError."""
    text = read_text(path)
    if "harness" not in text:
        return None
    import tomllib

    try:
        tools: Any = tomllib.loads(text).get("tool", {})
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from None
    table = cast("dict[str, Any]", tools).get("harness") if isinstance(tools, dict) else None
    if table is None:
        return None
    if not isinstance(table, dict):
        raise UsageError(f"{path}: tool.harness: keys and values are expected")
    return with_underscores(cast("dict[Any, Any]", table))


def _lines(path: Path, pattern: re.Pattern[str]) -> dict[str, int]:
    """Return the lines of the keys at the top of a file's settings, the first line being 1."""
    lines: dict[str, int] = {}
    inside = path.name == YAML
    for number, line in enumerate(read_text(path).splitlines(), 1):
        if path.name == TOML and line.lstrip().startswith("["):
            inside = re.match(r"\s*\[\s*tool\s*\.\s*harness\b", line) is not None
        if inside and (match := pattern.match(line)):
            lines.setdefault(match[1].replace("-", "_"), number)
    return lines
