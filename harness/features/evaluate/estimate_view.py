"""Table of a cost estimate (`--dry-run`)."""

from collections.abc import Iterator

from rich.console import RenderableType

from harness.run.plan.estimate import CHARACTERS, Estimate
from harness.terminal.layout import facts
from harness.text import dollars


def estimate_view(estimate: Estimate, prices_as_of: str | None) -> RenderableType:
    """Show the ranges of requests, tokens and cost."""
    return facts(_rows(estimate, prices_as_of))


def _rows(estimate: Estimate, prices_as_of: str | None) -> Iterator[tuple[str, str]]:
    least, most = estimate.least, estimate.most
    yield "requests", _range(*estimate.requests)
    yield "input tokens", f"{_range(least.input_tokens, most.input_tokens)}, roughly"
    yield "output tokens", f"{_range(least.output_tokens, most.output_tokens)}, roughly"
    if most.reasoning_tokens:
        reasoning = _range(least.reasoning_tokens, most.reasoning_tokens)
        yield "reasoning", f"{reasoning} of the output tokens, a guess"
    if estimate.cost is None:
        yield "cost", "unknown; --price or --prices says what a token costs"
    else:
        low, high = estimate.cost
        yield "cost", f"{dollars(low)} to {dollars(high, prices_as_of)}, roughly"
    yield (
        "how",
        f"{CHARACTERS} characters are a token; from short answers and as few requests as can be, "
        "to long ones and all turns",
    )


def _range(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"
