"""Lists of prices: the one in the package, and files of the user's."""

import re
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from harness.errors import UsageError
from harness.models.prices.price import Price
from harness.models.route import Route
from harness.value_faults import fault_words

BUNDLED = "bundled"
"""Value that stands for the list in the package, instead of a file of prices."""

# Providers in the bundled price list. The same model name has another price elsewhere: at a
# gateway, in another cloud, on a local machine.
LISTED_HOSTS = frozenset(
    {"api.openai.com", "api.anthropic.com", "generativelanguage.googleapis.com"}
)
LISTED_TIERS = frozenset({None, "auto", "default", "standard_only"})
"""Service tiers with the listed price; others cost less or more."""
MOST_BYTES = 1 << 20  # of a file of prices
DAY = r"^\d{4}-\d{2}(-\d{2})?$"

# A listed name may be followed by the date of a snapshot only. The price of `gpt-5` does not hold
# for `gpt-5-pro`, which costs twelve times as much.
_SNAPSHOT = re.compile(r"[-@](\d{4}-\d{2}-\d{2}|\d{8}|latest)")
_VENDOR = re.compile(r"^(openai|anthropic|google|gemini)/")


class ListedPrice(Price):
    """Price in a list.

    Attributes:
        as_of: day or month on which it was read; None where unknown.
        source: where it was read.
    """

    as_of: str | None = Field(default=None, pattern=DAY)
    source: str = ""

    def times(self, factor: float) -> "ListedPrice":
        """Return the price multiplied by a factor."""
        prices = {name: getattr(self, name) for name in Price.model_fields}
        dearer = {name: value * factor for name, value in prices.items() if value is not None}
        return self.model_copy(update=dearer)


class PriceList(BaseModel):
    """Prices by model.

    Attributes:
        models: prices by name. A name stands for its dated snapshots as well, and one that ends
            with `*` for every name that begins so; the longest match counts.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    as_of: str | None = Field(default=None, pattern=DAY)
    source: str = ""
    models: dict[str, ListedPrice]

    def of(self, model: str) -> ListedPrice | None:
        """Return the price of a model, with the list's date and source as defaults.

        None where the model is not listed.
        """
        plain = _VENDOR.sub("", model)
        fitting = [name for name in self.models if _fits(name, model) or _fits(name, plain)]
        if not fitting:
            return None
        price = self.models[max(fitting, key=lambda name: (not name.endswith("*"), len(name)))]
        dated = {"as_of": price.as_of or self.as_of, "source": price.source or self.source}
        return price.model_copy(update=dated)


def _fits(listed: str, model: str) -> bool:
    if listed.endswith("*"):
        return model.startswith(listed[:-1])
    rest = model.removeprefix(listed)
    return model.startswith(listed) and (not rest or bool(_SNAPSHOT.fullmatch(rest)))


def bundled_prices() -> PriceList:
    """Return the list in the package."""
    text = (files("harness.models.prices") / "prices.json").read_bytes()
    return PriceList.model_validate_json(text)


def read_prices(path: Path) -> PriceList:
    """Return the price list of a file.

    Raises:
        UsageError: it cannot be read, or is not such a list; the message names the error.
    """
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path}: the file cannot be read ({error.strerror})") from error
    if len(text) > MOST_BYTES:
        raise UsageError(f"{path}: larger than {MOST_BYTES >> 20} MiB, which no list of prices is")
    try:
        return PriceList.model_validate_json(text)
    except ValidationError as error:
        # A misspelt key causes two errors, unknown and missing; the former helps the user.
        first = min(error.errors(), key=lambda each: each["type"] != "extra_forbidden")
        raise UsageError(f"{path}: {_place(first['loc'])}{_what(first)}") from error


def _place(location: Iterable[int | str]) -> str:
    where = ".".join(map(str, location))
    return f"{where[:200]}: " if where else ""


def _what(error: Any) -> str:
    if error["type"] == "extra_forbidden":
        row = error["loc"][0] == "models"
        keys = (ListedPrice if row else PriceList).model_fields
        return f"unknown key; there are: {', '.join(keys)}"
    given = error["input"]
    shown = f" (given: {str(given)[:60]})" if isinstance(given, int | float) else ""
    return f"{fault_words(error)}{shown}"


def find_price(
    name: str, route: Route | None, *, prices: str | None, service_tier: str | None
) -> ListedPrice | None:
    """Return the price of a model, from the user's list or the bundled one; None if unknown.

    Args:
        name: name of the model in results, as the user's list may have it.
        route: route of its requests; without one, the bundled list does not hold.
        prices: file of the user's list, or `bundled`; None for none.
        service_tier: the service tier that is asked for.

    Raises:
        UsageError: the list cannot be read.
    """
    if prices is not None:
        given = bundled_prices() if prices == BUNDLED else read_prices(Path(prices))
        price = given.of(name) or (given.of(route.model) if route is not None else None)
        if price is not None:
            return price
    if route is None or service_tier not in LISTED_TIERS:
        return None
    is_listed = urlsplit(route.base_url).hostname in LISTED_HOSTS
    return bundled_prices().of(route.model) if is_listed else None
