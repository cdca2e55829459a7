"""Facts of a sample: what it took, named and written the same in tables, pages and exports."""

from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, Protocol

from harness import registry
from harness.figures import UNKNOWN, clock, dollars
from harness.models.protocol import Usage


class Taken(Protocol):
    """What a result, or a row of the viewer's index, says of what a sample took."""

    @property
    def model_calls(self) -> int: ...  # noqa: D102
    @property
    def usage(self) -> Usage | None: ...  # noqa: D102
    @property
    def cost(self) -> float | None: ...  # noqa: D102
    @property
    def seconds(self) -> float: ...  # noqa: D102


@dataclass(frozen=True)
class SampleFact:
    """A figure of a sample.

    Attributes:
        key: its name in `show --json`, in exports, and in the viewer's addresses.
        name: the heading of its column, and its value of `show --sort`.
        value: returns the figure; None if it is unknown.
        text: formats a known figure.
        sentence: returns what a sample's page says; default: the cell.
        leaves: order in which a narrow terminal drops its column.
        exported: whether CSV, Parquet and data frames have a column for it.
    """

    key: str
    name: str
    value: Callable[[Taken], float | None]
    text: Callable[[Any], str] = "{:,}".format
    _: KW_ONLY
    sentence: Callable[[Taken], str] | None = None
    leaves: int = 1
    exported: bool = True

    def written(self, value: float | None) -> str:
        """Return a figure as text; `unknown` if it is None."""
        return UNKNOWN if value is None else self.text(value)

    def cell(self, sample: Taken) -> str:
        """Return the fact of a sample as a cell of a table."""
        return self.written(self.value(sample))

    def line(self, sample: Taken) -> str:
        """Return the fact as a sample's own page has it."""
        return self.sentence(sample) if self.sentence else self.cell(sample)


def sample_facts() -> Iterator[SampleFact]:
    """Yield the facts of a sample, in the order of their columns."""
    for target in registry.SAMPLE_FACTS:
        yield from registry.resolve(target)


def _tokens(sample: Taken) -> str:
    usage = sample.usage
    if usage is None:
        return UNKNOWN
    return f"{usage.total_tokens:,} ({usage.input_tokens:,} in, {usage.output_tokens:,} out)"


SAMPLE_FACTS = (
    # an imported sample has neither turns nor time
    SampleFact("turns", "turns", lambda s: s.model_calls or None, leaves=5, exported=False),
    SampleFact("seconds", "time", lambda s: s.seconds or None, clock, leaves=4, exported=False),
    SampleFact(
        "tokens",
        "tokens",
        lambda s: None if s.usage is None else s.usage.total_tokens,
        sentence=_tokens,
        exported=False,
    ),
    SampleFact("cost", "cost", lambda s: s.cost, dollars, leaves=3, exported=False),
)
"""Facts of every sample; exports have them in fields of the result."""
