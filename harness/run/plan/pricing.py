"""The price of a run's model, and whether its budgets can be kept."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from harness.errors import RunDirectoryError, UsageError
from harness.models.model_names import is_sent
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
from harness.run.plan.target import route_of
from harness.run.spec.spec import RunSpec
from harness.run.store.results import SampleResult

# Whose own prices are in the bundled list. The same name costs something else elsewhere: at a
# gateway, in another cloud, on one's own machine.
LISTED_HOSTS = frozenset(
    {"api.openai.com", "api.anthropic.com", "generativelanguage.googleapis.com"}
)

LISTED_TIERS = frozenset({None, "auto", "default", "standard_only"})
"""Service tiers at the listed price; others are cheaper or dearer."""


def price_of(
    name: str,
    spec: RunSpec,
    environ: Mapping[str, str],
    before: Mapping[str, Any] | None = None,
) -> ListedPrice | None:
    """The price of a run's model: the spec's own, else its list's, else the bundled one's.

    By the batch it is half of that.

    Args:
        name: the model's name.
        spec: of the run.
        environ: where the address may stand.
        before: the manifest of the run, where one goes on: a price that it has stays.

    Returns:
        None where it is unknown, as that of recordings and of one's own code is.

    Raises:
        UsageError: the list cannot be read.
        RunDirectoryError: the manifest's price is none, or another one is given now.
    """
    if before is not None and before.get("price") is not None:
        return _kept(before, spec)
    price = _full_price(name, spec, environ)
    return price.times(PRICE_FACTOR) if price is not None and spec.batch else price


def _full_price(name: str, spec: RunSpec, environ: Mapping[str, str]) -> ListedPrice | None:
    if spec.price is not None:
        return ListedPrice(**spec.price.model_dump())
    given = _given_list(spec)
    found = given.of(name) if given else None
    if found or not is_sent(name):
        return found
    route = route_of(name, spec, environ)
    if route is None:
        return None
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
        raise RunDirectoryError("run.json: its price is none; start a new run") from error


def with_costs(results: Iterable[SampleResult], price: Price | None) -> list[SampleResult]:
    """The results, with the costs of those that were graded before the run had a price."""
    if price is None:
        return list(results)
    return [
        result.model_copy(update={"cost": cost(result.usage, price)})
        if result.cost is None
        else result
        for result in results
    ]


def allowance_of(spec: RunSpec) -> Allowance:
    """The budgets of a spec."""
    return Allowance(spec.max_cost, spec.max_tokens_total, spec.max_cost_per_sample)


def check_budget(spec: RunSpec, name: str, price: ListedPrice | None) -> None:
    """Refuse a budget of dollars where nobody knows what a token costs.

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
    """The token limit of one answer that a run set; None where it set none."""
    limit = manifest["spec"].get("max_tokens")
    return limit if isinstance(limit, int) else None


def prices_as_of(manifest: Mapping[str, Any]) -> str | None:
    """The date of the list that a run's prices are from; None where there was none."""
    price = manifest.get("price")
    dated = price.get("as_of") if isinstance(price, dict) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    return dated if isinstance(dated, str) else None
