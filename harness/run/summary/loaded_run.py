"""A run as those read it who have nothing to do with its making: comparison, reports, exports."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from harness.errors import RunDirectoryError
from harness.models.prices import ListedPrice
from harness.run.plan.pricing import max_tokens_of, prices_as_of, with_costs
from harness.run.spec.shard import planned_samples
from harness.run.store.directory import MANIFEST, RESULTS, read_manifest
from harness.run.store.results import SampleResult, load_results, uncollected
from harness.run.store.state import RunState, state_of, unheard_requests
from harness.run.summary.summary import Summary, summarize


@dataclass(frozen=True)
class Run:
    """A run on disk; one that is under way reads as what it has so far.

    Attributes:
        path: its directory.
        manifest: what `run.json` says.
        results: the committed samples in the order they ended, with costs where the price is known.
        repeated: lines of the results that named a sample again.
        filtered_by: what `result_filter.filtered` kept, in words; empty where that is all.
        filter_notes: what it left out because it could not be told, in words.
    """

    path: Path
    manifest: dict[str, Any]
    results: tuple[SampleResult, ...]
    repeated: int = 0
    filtered_by: str = ""
    filter_notes: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The directory's name."""
        return self.path.resolve().name

    @property
    def spec(self) -> dict[str, Any]:
        """The stored spec, by its keys."""
        return self.manifest["spec"]

    @property
    def planned(self) -> int:
        """How many samples it is to have, those of shards that are missing included."""
        return planned_samples(self.manifest)

    @cached_property
    def state(self) -> RunState:
        """How far it is, and why it is no further."""
        return state_of(self.path, self.manifest, {result.sample for result in self.results})

    @cached_property
    def summary(self) -> Summary:
        """What the results come to, and why the other samples are pending."""
        return summarize(
            self.results,
            self.planned,
            self.state.pending,
            prices_as_of=prices_as_of(self.manifest),
            max_tokens=max_tokens_of(self.manifest),
            unheard=self._unheard,
        )

    @property
    def _unheard(self) -> int:
        """Requests of pending samples whose answer nobody heard; a damaged pack tells of none."""
        if len(self.results) >= self.planned or self.filtered_by:
            return 0  # of pending samples that a filter left out, the requests cannot be told apart
        try:
            return unheard_requests(self.path, self.results)
        except RunDirectoryError:
            return 0


def read_run(path: Path) -> Run:
    """Read a run.

    Raises:
        RunDirectoryError: it is none, or a line of its results is no result.
    """
    manifest = read_manifest(path)
    try:
        price = manifest.get("price")
        listed = None if price is None else ListedPrice.model_validate(price)
    except ValidationError as error:
        raise RunDirectoryError(f"{path / MANIFEST}: its price is none") from error
    with uncollected():
        found = load_results(path / RESULTS)
        return Run(path, manifest, tuple(with_costs(found.results, listed)), found.repeated)
