"""Prices of tokens, and what a request costs.

A price that is neither given nor listed is unknown. The cost is then what the provider itself says,
or unknown: never zero.
"""

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from harness.models.protocol import Usage


PRICE_FACTOR = 0.5
"""Price factor of a batch request: OpenAI and Anthropic charge half."""


class Price(BaseModel):
    """US dollars per million tokens; `cached_input` and `cache_write` default to `input`."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached_input: float | None = Field(default=None, ge=0)
    cache_write: float | None = Field(default=None, ge=0)


def cost(usage: "Usage | None", price: Price | None) -> float | None:
    """Return US dollars; without a price the provider's own; None when unknown, never a guess."""
    if usage is None:
        return None
    if price is None:
        return usage.cost_usd
    cached = price.input if price.cached_input is None else price.cached_input
    written = price.input if price.cache_write is None else price.cache_write
    fresh = usage.input_tokens - usage.cached_input_tokens - usage.cache_write_tokens
    return (
        fresh * price.input
        + usage.cache_write_tokens * written
        + usage.cached_input_tokens * cached
        + usage.output_tokens * price.output
    ) / 1e6
