"""The price of a run's model, and checks of its budgets."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from harness.errors import RunDirectoryError, UsageError
from harness.models.prices import (
    BUNDLED,
    PRICE_FACTOR,
    ListedPrice,
    Price,
    PriceList,
    bundled_prices,
    cost,
    read_prices,
)
from harness.run.plan.budget import Allowance
from harness.run.plan.target import Target
from harness.run.spec.spec import RunSpec
from harness.run.store.results import SampleResult

# Providers in the bundled price list. The same model name has another price elsewhere: at a
# gateway, in another cloud, on a local machine.
LISTED_HOSTS = frozenset(
    {"api.openai.com", "api.anthropic.com", "generativelanguage.googleapis.com"}
)

LISTED_TIERS = frozenset({None, "auto", "default", "standard_only"})
"""Service tiers with the listed price; others cost less or more."""


def price_of(
    target: Target, spec: RunSpec, before: Mapping[str, Any] | None = None
) -> ListedPrice | None:
    """Return the price of a run's model, from the spec, its list or the bundled list.

    In batch mode it is half of that.

    Args:
        target: the run's model.
        spec: the run's spec.
        before: the manifest of a run to resume, which keeps its price; None for a new run.

    Returns:
        None if unknown, as for recordings and a user's own code.

    Raises:
        UsageError: the list cannot be read.
        RunDirectoryError: the manifest's price is invalid, or another one is given now.
    """
    if before is not None and before.get("price") is not None:
        return _kept(before, spec)
    price = _full_price(target, spec)
    return price.times(PRICE_FACTOR) if price is not None and spec.batch else price


def _full_price(target: Target, spec: RunSpec) -> ListedPrice | None:
    if spec.price is not None:
        return ListedPrice(**spec.price.model_dump())
    given = _given_list(spec)
    found = given.of(target.name) if given else None
    route = target.route
    if found or route is None:
        return found
    found = given.of(route.model) if given else None
    if found:
        return found
    listed = urlsplit(route.base_url).hostname in LISTED_HOSTS
    if not listed or spec.service_tier not in LISTED_TIERS:
        return None
    return bundled_prices().of(route.model)


def _given_list(spec: RunSpec) -> PriceList | None:
    if spec.prices is None:
        return None
    return bundled_prices() if spec.prices == BUNDLED else read_prices(Path(spec.prices))


def _kept(before: Mapping[str, Any], spec: RunSpec) -> ListedPrice:
    now = spec.model_dump(mode="json", include={"price", "prices"})
    if any(before["spec"].get(key) != value for key, value in now.items()):
        raise RunDirectoryError("a run keeps the price it began with; leave --price[s] out")
    try:
        return ListedPrice.model_validate(before["price"])
    except ValueError as error:
        raise RunDirectoryError("run.json: the price is invalid; start a new run") from error


def with_costs(results: Iterable[SampleResult], price: Price | None) -> list[SampleResult]:
    """Return the results with costs added to those graded without a price."""
    if price is None:
        return list(results)
    return [
        result.model_copy(update={"cost": cost(result.usage, price)})
        if result.cost is None
        else result
        for result in results
    ]


def allowance_of(spec: RunSpec) -> Allowance:
    """Return a spec's budget limits."""
    return Allowance(spec.max_cost, spec.max_tokens_total, spec.max_cost_per_sample)


def check_budget(spec: RunSpec, name: str, price: ListedPrice | None) -> None:
    """Refuse a budget in dollars if the price is unknown.

    Raises:
        UsageError: says how to give a price.
    """
    given = {"--max-cost": spec.max_cost, "--max-cost-per-sample": spec.max_cost_per_sample}
    flag = next((flag for flag, limit in given.items() if limit is not None), None)
    if flag is not None and price is None:
        raise UsageError(
            f"{flag} cannot be kept: what {name[:100]} costs is unknown; give --price IN,OUT in US "
            "dollars per million tokens, a list with --prices FILE, or --max-tokens-total instead"
        )


def max_tokens_of(manifest: Mapping[str, Any]) -> int | None:
    """Return a run's token limit of one answer; None if it has none."""
    limit = manifest["spec"].get("max_tokens")
    return limit if isinstance(limit, int) else None


def prices_as_of(manifest: Mapping[str, Any]) -> str | None:
    """Return the date of a run's price list; None if there was none."""
    price = manifest.get("price")
    dated = price.get("as_of") if isinstance(price, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return dated if isinstance(dated, str) else None
