"""Tables of the rates by groups of problems."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.text import Text

from harness.figures import count
from harness.run.store.results import SampleResult
from harness.run.summary.groups import FEWEST, rates_by
from harness.terminal.rich_tables import rates_table


def groups_view(results: Sequence[SampleResult], kinds: Sequence[str]) -> Iterator[RenderableType]:
    """Yield a table of rates for each grouping; small groups are only counted."""
    for kind in kinds:
        rates = rates_by(results, kind)
        shown = [(each.name, each.rate) for each in rates if each.rate.problems >= FEWEST]
        if shown:
            yield rates_table(*shown, title=f"by {kind}")
        yield from too_few(kind, len(rates) - len(shown))


def too_few(kind: str, groups: int) -> Iterator[Text]:
    """Yield a note on the number of groups not shown, if any."""
    if groups:
        counted = count(groups, kind, {"difficulty": "difficulties"}.get(kind))
        yield Text(f"{counted} with fewer than {FEWEST} problems not shown", style="dim")
