"""`harness experiment --dry-run`: what each variant may take, the automatic shots included."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from rich.console import Console, Group, RenderableType
from rich.text import Text

from harness.features.experiment.equal_shots import MOST_SHOTS, agents_of
from harness.features.experiment.experiment_file import Experiment
from harness.figures import count, dollars, number_range
from harness.frozen import Frozen
from harness.models.providers import REPLAY_PREFIX
from harness.run.engine.lifecycle import PreparedRun
from harness.run.plan.estimate import estimate
from harness.run.settings.origins import Origin
from harness.run.settings.spec import stored
from harness.terminal.consoles import write_json
from harness.terminal.rich_tables import facts, figures_table
from harness.text import printable_line

SCHEMA = 1
Range = tuple[float, float]
"""The least and the most."""


@dataclass(frozen=True, slots=True)
class VariantEstimate:
    """The estimate for a variant.

    Attributes:
        name: name of the variant.
        samples: number of pending samples; of a variant that follows an agent's spend, the fewest.
        requests: fewest and most requests.
        tokens: fewest and most tokens, input and output together.
        cost: lowest and highest cost in US dollars; None if the price is unknown.
        played: whether recordings are replayed.
    """

    name: str
    samples: int
    requests: tuple[int, int]
    tokens: tuple[int, int]
    cost: Range | None
    played: bool = False

    @classmethod
    def of(cls, name: str, prepared: PreparedRun) -> "VariantEstimate":
        """Return the estimate for a prepared variant."""
        plan, samples = prepared.plan, prepared.samples
        if plan.model_name.startswith(REPLAY_PREFIX):
            return cls(name, len(samples), (0, 0), (0, 0), (0.0, 0.0), played=True)
        estimated = estimate(plan, samples)
        tokens = estimated.least.total_tokens, estimated.most.total_tokens
        return cls(name, len(samples), estimated.requests, tokens, estimated.cost)

    def times(self, factor: float) -> "VariantEstimate":
        """Return the estimate for so many times the samples."""
        requests, tokens = (
            (round(low * factor), round(high * factor))
            for low, high in (self.requests, self.tokens)
        )
        return replace(
            self,
            samples=round(self.samples * factor),
            requests=requests,
            tokens=tokens,
            cost=self.cost and (self.cost[0] * factor, self.cost[1] * factor),
        )

    def following(self, agents: "Sequence[VariantEstimate]") -> "VariantEstimate":
        """Return the estimate for as many shots as the dearest agent's spend buys."""
        if self.played or not self.samples or not agents:
            return self
        ends: list[tuple[int, int, float]] = []
        for end in (0, 1):
            tokens = max(self.tokens[end], *(agent.tokens[end] for agent in agents))
            shots = min(float(MOST_SHOTS), tokens / self.tokens[end] if self.tokens[end] else 1.0)
            costs = [each.cost[end] for each in (self, *agents) if each.cost is not None]
            ends.append((round(self.requests[end] * shots), tokens, max(costs, default=0.0)))
        low, high = ends
        return replace(
            self,
            requests=(low[0], high[0]),
            tokens=(low[1], high[1]),
            cost=None if self.cost is None else (low[2], high[2]),
        )


class ForetoldExperiment(Frozen):
    """What `harness experiment --dry-run --json` prints.

    Attributes:
        cost: lowest and highest cost of all variants in US dollars; None if any one's is unknown.
        settings: the settings that were found, by key.
        auto_shots: the variants that take as many shots as the other mode's spend buys.
    """

    schema_version: int = SCHEMA
    baseline: str
    variants: tuple[VariantEstimate, ...]
    cost: Range | None
    settings: dict[str, Origin]
    auto_shots: tuple[str, ...]


def foretold(experiment: Experiment, prepared: Mapping[str, PreparedRun]) -> list[VariantEstimate]:
    """Return the estimate for each variant."""
    plain = {name: VariantEstimate.of(name, each) for name, each in prepared.items()}
    specs = {variant.name: stored(variant.spec) for variant in experiment.variants}
    return [
        each.following([plain[agent] for agent in agents_of(specs[name], specs)])
        if name in experiment.auto_shots
        else each
        for name, each in plain.items()
    ]


def total_cost(variants: Sequence[VariantEstimate]) -> Range | None:
    """Return the lowest and highest cost of all variants; None if any one's is unknown."""
    known = [variant.cost for variant in variants if variant.cost is not None]
    if len(known) < len(variants):
        return None
    return sum(low for low, _ in known), sum(high for _, high in known)


def print_estimate(
    out: Console,
    variants: Sequence[VariantEstimate],
    experiment: Experiment,
    found: Mapping[str, Origin],
    *,
    as_json: bool,
) -> None:
    """Print the variants, the settings that were found, and an estimate of the cost."""
    auto = sorted(experiment.auto_shots)
    if not as_json:
        if found:
            out.print(facts((key, each.words) for key, each in found.items()))
        out.print(grid_view(variants, experiment.baseline, auto))
        if auto:
            out.print("+ as many shots as the other mode's spend buys; the estimate includes them")
        return
    whole = ForetoldExperiment(
        baseline=experiment.baseline,
        variants=tuple(variants),
        cost=total_cost(variants),
        settings=dict(found),
        auto_shots=tuple(auto),
    )
    write_json(out, [whole.model_dump_json()])


def grid_view(
    variants: Sequence[VariantEstimate], baseline: str, auto: Sequence[str] = ()
) -> RenderableType:
    """Show the samples, requests and cost of each variant and of all together."""
    rows = (
        (
            printable_line(variant.name) + (" (baseline)" if variant.name == baseline else ""),
            f"{variant.samples:,}" + ("+" if variant.name in auto else ""),
            "none: recordings" if variant.played else number_range(*variant.requests),
            money(variant.cost),
        )
        for variant in variants
    )
    table = figures_table("variant", "pending", "requests", "cost, roughly", rows=rows)
    lows, highs = zip(*(variant.requests for variant in variants), strict=True)
    table.add_section()
    table.add_row(
        f"all {count(len(variants), 'variant')}",
        f"{sum(variant.samples for variant in variants):,}" + ("+" if auto else ""),
        number_range(sum(lows), sum(highs)),
        money(total_cost(variants)),
    )
    note = "what a token costs is said with price or prices; `harness run --dry-run` tells more"
    return Group(table, Text(note)) if total_cost(variants) is None else table


def money(cost: Range | None) -> str:
    """Return a range of US dollars in words."""
    if cost is None:
        return "unknown"
    low, high = cost
    return dollars(low) if low == high else f"{dollars(low)} to {dollars(high)}"
