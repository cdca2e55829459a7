"""Tune scripted models whose answers depend on a phrase in the prompt, with many seeds.

    python tests/benchmarks/tuning.py    # 20 seeds with a helpful phrase, 100 without
    python tests/benchmarks/tuning.py --helpful 5 --useless 10
    python tests/benchmarks/tuning.py --in-memory    # the search alone: no run, no server

A quarter of the proposals add the helpful phrase, the others a rule with a number. The problems are
split as `harness tune` does: 9 train, 8 selection and 17 test problems. Prints how often
it is found within 60 evaluations (of a candidate on a problem), and whether the gain on the test
part is the planted one. Without it each prompt solves a random half of the problems: prints how
often a gain is claimed.
"""

import argparse
import asyncio
import sys
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from chat_server import ChatServer
from tuning_in_memory import PROBLEMS, Found, planted_share, searched
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
from harness.features.tune.outcome import TuneOutcome
from harness.features.tune.tune_file import TuneOptions, read_tune
from harness.features.tune.tuning import TuneRequest, Tuning
from harness.run.engine.controller import RunController
from harness.run.reporter import LOG, print_nothing

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
        options = TuneOptions(reflection_model=REFLECTION, max_evaluations=MOST_EVALUATIONS)
        asked = TuneRequest.of(settings, options, folder)
        tuning = Tuning(asked, RunController(LOG, watched(None, progress=False)), print_nothing)
        tuning.close(tuning.prepare())
        return tuning.carry_out()


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


def main() -> int:
    """Print a line per seed, then the counts."""
    parser = argparse.ArgumentParser(description="Tune scripted models, with many seeds.")
    parser.add_argument("--helpful", type=int, default=20, help="seeds with a helpful phrase")
    parser.add_argument("--useless", type=int, default=100, help="seeds without one")
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--in-memory", action="store_true", help="no runs and no server")
    given = parser.parse_args()
    tune = partial(searched, most=MOST_EVALUATIONS) if given.in_memory else whole
    hits = exact = claimed = tested = 0
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
            hits += hit
            exact += hit and one.difference is not None and abs(one.difference - one.planted) < TINY
            finding = "found" if hit else "not found"
            print(f"helpful, seed {seed}: {finding}, {_told(one, began)}", flush=True)
        for seed in useless:
            models = TuningModels(by_chance, USELESS, 9, seed, fresh=True)
            began = time.process_time()
            one = tune(folder / f"u{seed}", models, seed, folder / "p.jsonl")
            tested += one.p_value is not None
            claimed += one.p_value is not None and one.p_value < LEVEL and one.difference > 0
            print(f"useless, seed {seed}: {_told(one, began)}", flush=True)
    print(f"helpful: found in {hits} of {len(helpful)}, the planted gain in {exact} of these")
    print(f"useless: {claimed} gains claimed in {len(useless)}; {tested} asked the test part")
    return 0


def _told(outcome: Found, began: float) -> str:
    gain = "the start is kept"
    if outcome.difference is not None:
        gain = f"gain {outcome.difference:+.2f}, p {outcome.p_value:.2g}"
        gain += f", planted {outcome.planted:.2f}"
    return (
        f"{outcome.evaluations} evaluations, {outcome.proposals} proposals, {gain}; "
        f"{time.process_time() - began:.1f} CPU s"
    )


if __name__ == "__main__":
    sys.exit(main())
