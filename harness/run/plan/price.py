"""The price of a run's model, and whether a budget in dollars can be kept."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from harness.errors import RunDirectoryError, UsageError
from harness.models.prices.price import PRICE_FACTOR
from harness.models.prices.price_lists import ListedPrice, find_price
from harness.run.plan.target import Target
from harness.run.settings.spec import RunSpec

if TYPE_CHECKING:
    from harness.run.plan.plan import Start


def price_of(
    target: Target, spec: RunSpec, before: Mapping[str, Any] | None = None
) -> ListedPrice | None:
    """Return the price of a run's model, half of it in batch mode; None if unknown.

    Args:
        target: the run's model.
        spec: the run's spec, whose price wins, then its list, then the bundled list.
        before: the manifest of a run to resume, which keeps its price; None for a new run.

    Raises:
        UsageError: the list cannot be read.
        RunDirectoryError: the manifest's price is invalid, or another one is given now.
    """
    if before is not None and before.get("price") is not None:
        return _kept_price(before, spec)
    if spec.price is not None:
        price = ListedPrice(**spec.price.model_dump())
    else:
        asked = {"prices": spec.prices, "service_tier": spec.service_tier}
        price = find_price(target.name, target.route, **asked)
    return price.times(PRICE_FACTOR) if price is not None and spec.batch else price


def _kept_price(before: Mapping[str, Any], spec: RunSpec) -> ListedPrice:
    now = spec.model_dump(mode="json", include={"price", "prices"})
    if any(before["spec"].get(key) != value for key, value in now.items()):
        raise RunDirectoryError("a run keeps the price it began with; leave --price[s] out")
    try:
        return ListedPrice.model_validate(before["price"])
    except ValueError as error:
        raise RunDirectoryError("run.json: the price is invalid; start a new run") from error


def check_start(start: "Start") -> None:
    """Refuse a budget in dollars if the price is unknown. Raises UsageError."""
    spec, name = start.spec, start.target.name
    given = {"--max-cost": spec.max_cost, "--set max_cost_per_sample": spec.max_cost_per_sample}
    flag = next((flag for flag, limit in given.items() if limit is not None), None)
    if flag is not None and start.price is None:
        raise UsageError(
            f"{flag} cannot be kept: what {name[:100]} costs is unknown; give --price IN,OUT in US "
            "dollars per million tokens, a list with --set prices=FILE, or "
            "--max-tokens-total instead"
        )
