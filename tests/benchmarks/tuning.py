"""Tune scripted models whose answers depend on a phrase in the prompt, with many seeds.

    python tests/benchmarks/tuning.py    # 20 seeds with a helpful phrase, 100 without
    python tests/benchmarks/tuning.py --helpful 5 --useless 10
    python tests/benchmarks/tuning.py --in-memory    # the search alone: no run, no server

A quarter of the proposals add the helpful phrase, the others a rule with a number. Prints how often
it is found within 60 evaluations (of a candidate on a problem), and whether the gain on the test
part is the planted one. Without it each prompt solves a random half of the problems: prints how
often a gain is claimed.
"""

import argparse
import asyncio
import sys
import threading
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from chat_server import ChatServer
from results_made import made_result
from tuning_made import (
    HELPFUL,
    MODEL,
    REFLECTION,
    USELESS,
    TuningModels,
    by_chance,
    write_problems,
)

from harness.features.compare.comparison import LEVEL
from harness.features.observers.observer_events import watched
from harness.features.tune.candidate_set import Candidate, CandidateSet, template_fault
from harness.features.tune.gepa_search import GepaSearch, Results
from harness.features.tune.outcome import TuneOutcome
from harness.features.tune.reflection_prompt import ShownSample
from harness.features.tune.split import Sizes, split_problems
from harness.features.tune.tune_file import TuneOptions, read_tune
from harness.features.tune.tuning import TuneRequest, Tuning
from harness.run.engine.controller import RunController
from harness.run.reporter import LOG, print_nothing
from harness.run.store.results import SampleResult
from harness.sources.benchmarks import load
from harness.stats.paired import compare_paired

SIZES = Sizes(train=6, selection=8, test=20)
PROBLEMS = 34
MOST_EVALUATIONS = 60
TINY = 1e-9


@contextmanager
def served(models: TuningModels) -> Generator[str]:
    """Serve models from a thread; yield the address."""
    ready, loop = threading.Event(), asyncio.new_event_loop()
    server, stop = ChatServer(models), asyncio.Event()

    async def serve() -> None:
        async with server:
            ready.set()
            await stop.wait()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()))
    thread.start()
    ready.wait()
    try:
        yield server.base_url
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()


def tuned(folder: Path, models: TuningModels, seed: int, problems: Path) -> TuneOutcome:
    """Tune once and return the outcome."""
    with served(models) as url:
        settings: dict[str, Any] = {
            "model": MODEL,
            "base_url": url,
            "benchmark": f"jsonl:{problems}",
            "mode": "single_shot",
            "seed": seed,
            "workers": 1,
        }
        options = TuneOptions(
            reflection_model=REFLECTION, sizes=SIZES, max_evaluations=MOST_EVALUATIONS
        )
        asked = TuneRequest.of(settings, options, folder)
        tuning = Tuning(asked, RunController(LOG, watched(None, progress=False)), print_nothing)
        tuning.close(tuning.prepare())
        return tuning.carry_out()


class Found(NamedTuple):
    """What a tuning came to.

    Attributes:
        text: all templates of the best prompt.
        is_start: whether that is the start.
        evaluations, proposals: of the search.
        difference, p_value: of the test part; None if it was not asked.
        planted: share of the test problems that the phrase makes solvable.
    """

    text: str
    is_start: bool
    evaluations: int
    proposals: int
    difference: float | None
    p_value: float | None
    planted: float


def whole(folder: Path, models: TuningModels, seed: int, problems: Path) -> Found:
    """Tune with runs, against the server."""
    outcome = tuned(folder, models, seed, problems)
    prompt, gain = Path(outcome.prompt or ""), outcome.gain
    return Found(
        "\n".join(path.read_text() for path in sorted(prompt.rglob("*.j2"))),
        not outcome.best,
        outcome.evaluations,
        outcome.proposals,
        gain.difference if gain else None,
        gain.p_value if gain else None,
        planted_share(read_tune(folder).split.test),
    )


class Unchecked(CandidateSet):
    """Candidates of which only the code of templates is checked, which is cheap."""

    def fault(self, candidate: Candidate) -> str:
        """Return what is wrong with the code of a template."""
        found = (template_fault(self.start[each], text) for each, text in candidate.items())
        return next(filter(None, found), "")


def in_memory(folder: Path, models: TuningModels, seed: int, problems: Path) -> Found:
    """Do the search and the test of the gain with scores made here."""
    folder.mkdir()
    loaded = load(f"jsonl:{problems}").problems
    split = split_problems(loaded, SIZES, seed)
    views = {each.id: each.view() for each in loaded}
    candidates = Unchecked.of("default", "single_shot", folder / "candidates", [*views.values()])

    def solves(candidate: Candidate, problem: str) -> bool:
        return models.solves(number_of(problem), "\n".join(candidate.values()))

    def ask(candidate: Candidate, wanted: Sequence[str]) -> Results:
        return {each: [made_result(each, solved=solves(candidate, each))] for each in wanted}

    def shown(candidate: Candidate, result: SampleResult) -> ShownSample:
        del candidate
        return ShownSample.of(views[result.problem_id], result, ())

    def reflect(messages: Sequence[Any]) -> str:
        return models.proposal("\n".join(each.content for each in messages))

    search = GepaSearch(
        *(candidates, split, ask, shown, reflect, folder),
        samples=1,
        most=MOST_EVALUATIONS,
        tell=print_nothing,
        seed=seed,
    )
    candidates.folder_of(candidates.start)
    search.run()
    best = search.record.best(split.selection)
    assert best is not None
    text = {
        place: (candidates.folder / best.name / place).read_text() for place in candidates.start
    }
    paired = None
    if best.number:
        before, after = (
            {each: float(solves(of, each)) for each in split.test}
            for of in (candidates.start, text)
        )
        paired = compare_paired(before, after)
    return Found(
        "\n".join(text.values()),
        not best.number,
        search.record.evaluations,
        search.record.proposals,
        paired.difference if paired else None,
        paired.p_value if paired else None,
        planted_share(split.test),
    )


def number_of(problem: str) -> int:
    """Return a problem's number."""
    return int(problem.rpartition("e")[2])


def planted_share(problems: Sequence[str]) -> float:
    """Return the share of problems that only the helpful phrase makes solvable."""
    return sum(number_of(each) % 3 == 1 for each in problems) / len(problems)


def main() -> int:
    """Print a line per seed, then the counts."""
    parser = argparse.ArgumentParser(description="Tune scripted models, with many seeds.")
    parser.add_argument("--helpful", type=int, default=20, help="seeds with a helpful phrase")
    parser.add_argument("--useless", type=int, default=100, help="seeds without one")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--in-memory", action="store_true", help="no runs and no server")
    given = parser.parse_args()
    tune = in_memory if given.in_memory else whole
    found = exact = claimed = tested = 0
    helpful = range(given.first, given.first + given.helpful)
    useless = range(given.first, given.first + given.useless)
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_problems(folder, PROBLEMS)
        for seed in helpful:
            models = TuningModels(phrases=(HELPFUL,), others=3, seed=seed, fresh=True)
            began = time.process_time()
            one = tune(folder / f"h{seed}", models, seed, folder / "p.jsonl")
            hit = HELPFUL in one.text and not one.is_start
            found += hit
            exact += hit and one.difference is not None and abs(one.difference - one.planted) < TINY
            words = "found" if hit else "not found"
            print(f"helpful, seed {seed}: {words}, {_told(one, began)}", flush=True)
        for seed in useless:
            models = TuningModels(by_chance, USELESS, 9, seed, fresh=True)
            began = time.process_time()
            one = tune(folder / f"u{seed}", models, seed, folder / "p.jsonl")
            tested += one.p_value is not None
            claimed += one.p_value is not None and one.p_value < LEVEL and one.difference > 0
            print(f"useless, seed {seed}: {_told(one, began)}", flush=True)
    print(f"helpful: found in {found} of {len(helpful)}, the planted gain in {exact} of these")
    print(f"useless: {claimed} gains claimed in {len(useless)}; {tested} asked the test part")
    return 0


def _told(found: Found, began: float) -> str:
    gain = "the start is kept"
    if found.difference is not None:
        gain = f"gain {found.difference:+.2f}, p {found.p_value:.2g}, planted {found.planted:.2f}"
    return (
        f"{found.evaluations} evaluations, {found.proposals} proposals, {gain}; "
        f"{time.process_time() - began:.1f} CPU s"
    )


if __name__ == "__main__":
    sys.exit(main())
