"""Find the price of a model in the user's list or the bundled one."""

from pathlib import Path
from urllib.parse import urlsplit

from harness.models.prices.price_lists import BUNDLED, ListedPrice, bundled_prices, read_prices
from harness.models.route import Route

# Providers in the bundled price list. The same model name has another price elsewhere: at a
# gateway, in another cloud, on a local machine.
LISTED_HOSTS = frozenset(
    {"api.openai.com", "api.anthropic.com", "generativelanguage.googleapis.com"}
)
LISTED_TIERS = frozenset({None, "auto", "default", "standard_only"})
"""Service tiers with the listed price; others cost less or more."""


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
