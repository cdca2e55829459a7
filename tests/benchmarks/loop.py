"""What the agent loop costs: CPU and time of a run, its memory, and its bytes on disk.

A sample has a statement of 2 KB, and four model calls with three tool calls between them: it reads
the problem, writes 1 KB of code, runs the public tests, which the code fails, and says so. The
model is in this process and answers at once; the engine is the real one, the transcript is on.
Statement and code are drawn from made-up words, so that they compress as LiveCodeBench's do.

    python tests/benchmarks/loop.py [--samples 100 1000 10000] [--problems P] [--no-sandbox-time]
    python tests/benchmarks/loop.py --profile [--samples 200]
"""

import argparse
import asyncio
import cProfile
import json
import pstats
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, Self, cast

from cost import table

from harness.grading.verdict import Grade, TestResult, Verdict
from harness.models.protocol import (
    Message,
    Model,
    ModelSettings,
    ModelStop,
    ModelTurn,
    RetryObserver,
    ToolCall,
    ToolSpec,
    Usage,
)
from harness.problem import ProblemView
from harness.run.engine.engine import Engine
from harness.run.engine.manifest import manifest
from harness.run.plan.plan import prepare
from harness.run.settings.spec import RunSpec
from harness.run.store.directory import RESULTS, RunDirectory
from harness.run.store.results import read_results
from harness.run.summary.summary import summarize
from harness.sandbox.pool import SandboxPool
from harness.sandbox.strongest import choose

SAMPLES = (100, 1_000, 10_000)
CALLS_A_SAMPLE = 4
STATEMENT_BYTES, CODE_BYTES = 2_000, 1_000
PARTS, PARTS_A_PROGRAM = 997, 4
WORDS_A_STATEMENT = 95  # then one alone shrinks to 780 bytes, as LiveCodeBench's of 2 KB do
CONCURRENCY = 8
SLOW_SAMPLES, SLOW_S, CONNECTIONS = 200, 0.5, 50
TESTS = [{"input": "1", "output": "2", "public": public} for public in (True, False)]


def _vocabulary() -> tuple[list[str], list[float]]:
    """Words of one to four syllables, the early ones said most often (Zipf's law)."""
    noise = random.Random(1)
    syllables = [a + b + c for a in "bdfglmnprst" for b in "aeiou" for c in ("", "n", "r", "s")]
    words = [
        "".join(noise.choices(syllables, k=noise.choice((1, 2, 2, 3, 4)))) for _ in range(6000)
    ]
    return words, list(accumulate(1 / (place + 3) for place in range(len(words))))


WORDS, WEIGHTS = _vocabulary()


def statement(number: int) -> str:
    """Sentences of made-up words, and numbers, another for each problem."""
    noise = random.Random(number)
    own = noise.choices(WORDS, cum_weights=WEIGHTS, k=WORDS_A_STATEMENT)
    sentences: list[str] = []
    while sum(map(len, sentences)) + len(sentences) < STATEMENT_BYTES:
        words = noise.choices(own, k=noise.randint(5, 16))
        words[noise.randrange(len(words))] = str(noise.randint(1, 1_000))
        sentences.append(" ".join(words).capitalize() + ".")
    return " ".join(sentences)[:STATEMENT_BYTES]


def part(number: int) -> str:
    """A few lines of a program, another for each number."""
    noise = random.Random(-1 - number)
    lines = [f"def {noise.choice(WORDS)}():"]
    names = noise.choices(WORDS, cum_weights=WEIGHTS, k=4)
    while sum(map(len, lines)) + len(lines) < CODE_BYTES // PARTS_A_PROGRAM:
        a, b, c = (f"v_{noise.choice(names)}" for _ in range(3))
        value = noise.randint(1, 9_999)
        lines += noise.choice(
            (
                [f"    {a} = {value}"],
                [f"    {a} = sorted({{{value}, {value % 97}}})  # {noise.choice(WORDS)}"],
                [f"    for {a} in range({value % 13}):", f"        {b} = {a} * {value} + 1"],
                [f"    if {value} % {value % 7 + 2} == 0:", f"        {c} = [{value}] * 2"],
            )
        )
    return "\n".join(lines)


def program(number: int, parts: Sequence[str]) -> str:
    """A program that prints the wrong thing; cheap to put together, as it counts as the loop's."""
    chosen = (parts[number * (2 * k + 1) * 7_919 % len(parts)] for k in range(PARTS_A_PROGRAM))
    return "\n\n".join([*chosen, "print('none')\n"])


class Looper:
    """A model that reads, writes, tests and gives up, each answer `latency_s` after its request."""

    name = "looper"

    def __init__(self, latency_s: float, parts: Sequence[str], code: str = "") -> None:
        self._latency_s = latency_s
        self._parts = parts
        self._asked = 0
        arguments = ("{}", json.dumps({"code": code}), "{}")
        tools = ("read_problem", "write_solution", "run_tests")
        self._calls = list(zip(tools, arguments, strict=True))

    def for_sample(self, problem: ProblemView, index: int) -> Model:
        """Itself from the beginning, with a program for that sample."""
        code = program(int(problem.title) * 1_000 + index, self._parts)
        return Looper(self._latency_s, self._parts, code)

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
        on_retry: RetryObserver | None = None,
    ) -> ModelTurn:
        """The next turn."""
        del messages, tools, settings, on_retry
        if self._latency_s:
            await asyncio.sleep(self._latency_s)
        used, turn = Usage(input_tokens=900, output_tokens=90), self._asked
        self._asked += 1
        if turn == len(self._calls):
            closing_text = "The tests fail, and I do not see why. I stop here."
            return ModelTurn(text=closing_text, usage=used, stop=ModelStop(reason="end_turn"))
        name, arguments = self._calls[turn]
        return ModelTurn(
            text=f"Next I call {name}.",
            tool_calls=(ToolCall(id=f"call_{turn}", name=name, arguments=arguments),),
            usage=used,
            stop=ModelStop(reason="tool_use"),
        )

    async def close(self) -> None:
        """Nothing to let go of."""


class NoSandbox:
    """In the place of the pool: every solution is judged wrong, here and at once."""

    size = 1

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def call(self, work: object, *, urgent: bool = False, queued: object = None) -> Grade:
        """A grade of the public test, or of both."""
        del work, queued
        tests = tuple(
            TestResult(
                index=index,
                public=not index,
                verdict=Verdict.WRONG_ANSWER,
                cpu_s=0.001,
                wall_s=0.001,
                got="none",
            )
            for index in range(1 if urgent else 2)
        )
        return Grade(
            verdict=Verdict.WRONG_ANSWER,
            tests=tests,
            public_total=1,
            hidden_total=0 if urgent else 1,
        )


class Silent:
    """An observer that tells nobody."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        return lambda *_: None


Figures = dict[str, float]


def measured(
    samples: int, problems: int, *, sandbox: bool, latency_s: float = 0, profile: bool = False
) -> Figures:
    """One run of so many samples in this process, and all that is looked at."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "rows.jsonl").open("w") as file:
            for n in range(problems):
                row = {"id": f"p{n}", "title": f"{n}", "statement": statement(n), "tests": TESTS}
                file.write(json.dumps(row) + "\n")
        spec = RunSpec(
            mode="agentic",
            model="python:looper",
            max_turns=CALLS_A_SAMPLE,  # the last message would get a reminder
            benchmark=f"jsonl:{folder / 'rows.jsonl'}",
            samples_per_problem=samples // problems,
            tool_protocol="native",
            concurrency=CONNECTIONS if latency_s else CONCURRENCY,
        )
        looper = Looper(latency_s, [part(n) for n in range(PARTS)])
        plan = prepare(spec, {}, own_model=looper)
        choice = choose()
        directory = RunDirectory.create(folder / "run", manifest(plan, choice))
        before = _peak_kib()
        watch = cProfile.Profile()
        begin, cpu, below = time.perf_counter(), time.process_time(), _children_s()

        async def run() -> tuple[float, float]:
            pool = SandboxPool(isolation=choice.isolation) if sandbox else NoSandbox()
            async with pool:
                engine = Engine(plan, directory, cast("SandboxPool", pool), cast("Any", Silent()))
                if profile:
                    watch.enable()
                failures = await engine.run(plan.samples)
                watch.disable()
                assert not failures, failures[0]
                return time.perf_counter() - begin, time.process_time() - cpu

        wall, spent = asyncio.run(run())
        directory.close()
        if profile:
            pstats.Stats(watch).sort_stats("tottime").print_stats(40)
            pstats.Stats(watch).sort_stats("cumtime").print_stats(60)
        calls = samples * CALLS_A_SAMPLE
        figures = {
            "wall": wall,
            "own CPU": 1000 * spent / calls,
            "sandbox CPU": 1000 * (_children_s() - below) / calls,
            "peak": _peak_kib() / 1024,
            "before": before / 1024,
        }
        return figures | _on_disk(folder / "run", samples)


def _on_disk(run: Path, samples: int) -> Figures:
    """Bytes a sample, and how long the results take to read and to sum up."""
    transcripts = sum(path.stat().st_size for path in (run / "transcripts").iterdir())
    begin = time.perf_counter()
    results = list(read_results(run / RESULTS))
    read = time.perf_counter()
    summarize(results, samples)
    summed = time.perf_counter()
    calls, call_counts = CALLS_A_SAMPLE * samples, {result.model_calls for result in results}
    assert (len(results), call_counts) == (samples, {CALLS_A_SAMPLE}), (calls, call_counts)
    return {
        "transcript": transcripts / samples,
        "results": (run / RESULTS).stat().st_size / samples,
        "reading": read - begin,
        "summing": summed - read,
    }


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _peak_kib() -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM:"))


def asked(samples: int, problems: int, *more: str) -> Figures:
    """The figures of a run in a process of its own."""
    numbers = ["--samples", str(samples), "--problems", str(problems)]
    command = [sys.executable, __file__, "--one", *numbers, *more]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


FIGURES = (
    ("own CPU a model call, ms", "own CPU", "≤ 1.0"),
    ("CPU of the sandbox's processes a model call, ms", "sandbox CPU", ""),
    ("wall of the run, s", "wall", ""),
    ("peak memory, MiB", "peak", "≤ 80 at 1,000"),
    ("of it before the first sample, MiB", "before", ""),
    ("transcript, bytes a sample", "transcript", "≤ 8,000 with results"),
    ("results, bytes a sample", "results", ""),
    ("reading all results, s", "reading", "≤ 0.4 at 1,000"),
    ("summing them up, s", "summing", "≤ 0.02 at 1,000"),
)


def report(figures: dict[int, Figures]) -> None:
    """A column for each number of samples, and what is to be reached."""
    counts = list(figures)
    rows = [
        [label, *(f"{figures[count][key]:,.3g}" if figures[count][key] < 1000
                  else f"{figures[count][key]:,.0f}" for count in counts), target]
        for label, key, target in FIGURES
    ]  # fmt: skip
    growth = ["growth of the peak, KiB a sample", ""]
    for less, more in pairwise(counts):
        grown = (figures[more]["peak"] - figures[less]["peak"]) * 1024 / (more - less)
        growth.append(f"{grown:,.2f}")
    print(table(["samples", *(f"{count:,}" for count in counts), "target"],
                [*rows, [*growth, "none"]]))  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, nargs="+", default=SAMPLES)
    parser.add_argument(
        "--problems", type=int, help="so many, each sampled evenly; default: as many as samples"
    )
    parser.add_argument(
        "--no-sandbox-time", action="store_true", help="no program is run: the loop alone"
    )
    parser.add_argument("--profile", action="store_true", help="where the loop's time goes")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--latency", type=float, default=0, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.problems and any(samples % options.problems for samples in options.samples):
        parser.error("every number of samples must be a multiple of the problems")
    if options.one or options.profile:
        figures = measured(
            options.samples[0],
            options.problems or options.samples[0],
            sandbox=not options.no_sandbox_time,
            latency_s=options.latency,
            profile=options.profile,
        )
        print(json.dumps(figures))
        return
    programs = "are not run" if options.no_sandbox_time else "are run in the sandbox"
    print(f"{CALLS_A_SAMPLE} model calls and 3 tool calls a sample; the programs {programs}")
    more = ["--no-sandbox-time"] if options.no_sandbox_time else []
    counts = sorted(options.samples)
    report({count: asked(count, options.problems or count, *more) for count in counts})
    slow = asked(SLOW_SAMPLES, SLOW_SAMPLES, "--latency", str(SLOW_S), *more)
    floor = SLOW_SAMPLES * CALLS_A_SAMPLE * SLOW_S / CONNECTIONS
    print(
        f"{SLOW_SAMPLES} samples, {SLOW_S} s a call, {CONNECTIONS} connections: "
        f"{slow['wall']:.2f} s of wall (floor {floor:.0f} s; target ≤ 9 s)"
    )


if __name__ == "__main__":
    main()
