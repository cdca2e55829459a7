"""Where the settings of a run came from, in words."""

import json
import re
from collections.abc import Iterable, Mapping

from pydantic import BaseModel, ConfigDict, JsonValue

from harness.run.settings.given import Given
from harness.run.settings.model_settings import PRESET_KEYS
from harness.run.settings.spec import RunSpec, default_of, given_as, stored

ENVIRONMENT = "the environment"
LONGEST = 100
"""Most characters of a value."""
_AFTER_FILE = re.compile(r"(:\d+)?: \w+$")
"""What follows the file in the name of a setting's place."""


class Origin(BaseModel):
    """A setting that is not its default, and where it came from.

    Attributes:
        value: the value as `run.json` has it; None if it was passed over.
        origin: a flag, a file with the line, a variable, or a recording.
        passed_over: whether it was found, and has no effect on this run.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    value: JsonValue
    origin: str
    passed_over: bool = False

    @property
    def words(self) -> str:
        """The value and its origin."""
        if self.passed_over:
            return f"passed over, as it has no effect ({self.origin})"
        text = self.value if isinstance(self.value, str) else json.dumps(self.value)
        return f"{text[:LONGEST]} ({self.origin})"


def origins(spec: RunSpec, given: Given, other: str) -> dict[str, Origin]:
    """Return the settings that are no defaults, and those that were passed over, by key.

    Args:
        spec: the settings of a run.
        given: the settings as they were given and found.
        other: origin of the values that neither gave.
    """
    values = stored(spec)
    lost = given.found - spec.found
    known = {
        key: Origin(value=value, origin=_origin(key, given, given.keys() - lost, other))
        for key, value in values.items()
        if value != default_of(key)
    }
    return known | {key: _passed(key, given) for key in sorted(lost - known.keys())}


def _passed(key: str, given: Given) -> Origin:
    return Origin(value=None, origin=place_of(key, given), passed_over=True)


def _origin(key: str, given: Given, said: Iterable[str], other: str) -> str:
    if key in said:
        return place_of(key, given)
    if key == "mode" and "agent_command" in said:
        return place_of("agent_command", given)
    if key in PRESET_KEYS and "sampling_preset" in said:
        return place_of("sampling_preset", given)
    return other


def place_of(key: str, given: Given) -> str:
    """Return where a value was given: a flag, a variable, or a file, with the line if known."""
    return given_as(key, given, given[key]).removesuffix(f": {key}")


def found_in(specs: Iterable[RunSpec], given: Given) -> dict[str, Origin]:
    """Return the settings that were found; passed over is what has no effect on any of the runs."""
    found: dict[str, Origin] = {}
    lost = set(given.found)
    for spec in specs:
        lost -= spec.found
        found |= {key: each for key, each in origins(spec, given, "").items() if key in spec.found}
    return found | {key: _passed(key, given) for key in sorted(lost)}


def found_line(settings: Mapping[str, Origin], given: Given) -> str:
    """Return which of some settings were found where, in a line; empty for none.

    The address is told in full, as keys are sent there.
    """
    by_source: dict[str, list[str]] = {}
    for key in sorted(given.found):
        if key not in settings or settings[key].passed_over:
            continue
        file = _AFTER_FILE.search(given.names[key])
        source = given.names[key][: file.start()] if file else ENVIRONMENT
        word = f"{key} {settings[key].value}" if key == "base_url" else key
        by_source.setdefault(source, []).append(word)
    found = [f"{source}: {', '.join(keys)}" for source, keys in by_source.items()]
    return f"settings from {'; from '.join(found)}" if found else ""
