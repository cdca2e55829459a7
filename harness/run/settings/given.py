"""Settings of one command: their values, and where each was given or found."""

from collections.abc import Collection, Mapping
from typing import Any

from harness.errors import UsageError

COMMA_LISTS = ("filter_difficulty", "filter_platform")


class Given(dict[str, Any]):
    """Settings by key.

    Args:
        values: the settings.
        names: for each key that no flag gave, where its value was given, as a user knows it.
        found: the keys whose values were found, and not given for this command.
    """

    def __init__(
        self,
        values: Mapping[str, Any],
        names: Mapping[str, str],
        found: Collection[str] = (),
    ) -> None:
        super().__init__(values)
        self.names = dict(names)
        self.found = frozenset(found)

    @classmethod
    def of(cls, settings: Mapping[str, Any]) -> "Given":
        """Return settings as such; those of which nothing is known are flags."""
        return settings if isinstance(settings, Given) else cls(settings, {})

    def over(self, below: "Given") -> "Given":
        """Return these settings with others below them, which count where these have none."""
        kept = {key: name for key, name in below.names.items() if key not in self}
        found = self.found | below.found.difference(self)
        return Given({**below, **self}, {**kept, **self.names}, found)

    def with_flags(self, **values: Any) -> "Given":
        """Return these settings with some that flags gave, which win over them."""
        return Given(values, {}).over(self)

    def without(self, keys: Collection[str]) -> "Given":
        """Return these settings without some."""
        kept = {key: value for key, value in self.items() if key not in keys}
        return Given(kept, self.names, self.found.difference(keys))


def given_settings(values: Mapping[str, Any], name: str = "--price") -> dict[str, Any]:
    """Return the given settings in the format of a spec.

    Args:
        values: values by key, or texts; None and an empty list are no value.
        name: where `price` was given, for messages.

    Raises:
        UsageError: the price cannot be read.
    """
    given = {key: value for key, value in values.items() if value is not None and value != []}
    for key in COMMA_LISTS:
        if key in given:
            items = [given[key]] if isinstance(given[key], str) else given[key]
            words = [word.strip() for item in items for word in item.split(",")]
            given[key] = [word for word in words if word] or [""]
    if "price" in given:
        given["price"] = read_price(given["price"], name)
    return given


def read_price(text: str, name: str = "--price") -> dict[str, float | None]:
    """Parse `IN,OUT[,CACHED]`, US dollars per million tokens. Raises UsageError."""
    try:
        price, output, *cached = (float(part) for part in text.split(","))
        (cached_input,) = cached or (None,)
    except ValueError as error:
        raise UsageError(f"{name} {text!r}: give dollars per million tokens, as 2.5,10") from error
    return {"input": price, "output": output, "cached_input": cached_input}
