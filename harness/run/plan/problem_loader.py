"""Load problems by a benchmark's name, or take problems that are loaded."""

from collections.abc import Iterable, Sequence
from typing import Any, Unpack, cast

from harness.errors import UsageError
from harness.problem import Problem
from harness.run.reporter import log
from harness.run.spec.keys import SelectionKeys, spec_from
from harness.run.spec.spec import RunSpec
from harness.sources.benchmarks import is_source, load
from harness.sources.files.rows import Loaded
from harness.sources.selection import select
from harness.text import bad_rows

Benchmark = str | Sequence[Problem]
"""`NAME[:WHERE]` as on the command line, or problems that are loaded."""


def load_problems(
    benchmark: str = "fixture", *, limit: int | None = None, **keys: Unpack[SelectionKeys]
) -> tuple[Problem, ...]:
    """The problems of a benchmark, in the data's order; hidden tests are decoded when first needed.

    Args:
        benchmark: `NAME[:WHERE]`, as for `harness run --benchmark`; fetched if it is not at hand.
        limit: how many at most; another word for `sample_size`.
        keys: which of them, by the keys of a spec: `filter_difficulty="easy"`, `task=["two-sum"]`.

    Raises:
        UsageError: the benchmark or a key is unknown, or a value is none that can be.
        DataError: a row is not as its schema says.
        NothingSelectedError: the filters left nothing.
    """
    spec = spec_from(
        "load_problems()", keys, SelectionKeys, ("benchmark", "limit"), sample_size=limit
    )
    loaded = read(checked(benchmark), spec)
    return select(loaded.problems, spec.selection()).problems


def read(benchmark: Benchmark, spec: RunSpec) -> Loaded:
    """What a benchmark holds, before any is selected.

    Raises:
        UsageError: there is none of that name.
    """
    if not isinstance(benchmark, str):
        return Loaded(tuple(benchmark))
    loaded = load(benchmark, skip_bad_rows=spec.skip_bad_rows)
    if loaded.skipped:
        log.warning(bad_rows(loaded.skipped))
    return loaded


def checked(benchmark: Benchmark) -> Benchmark:
    """What was given for a benchmark, problems that are loaded looked at.

    Raises:
        UsageError: it is neither, or two of the problems have one id.
    """
    if isinstance(benchmark, str):
        return benchmark
    given: Any = benchmark
    if not isinstance(given, Iterable):
        kind = type(given).__name__
        raise UsageError(f"a {kind} names no problems; give NAME[:WHERE], or what is loaded")
    problems = tuple(cast("Iterable[Any]", given))
    seen: set[str] = set()
    for problem in problems:
        if not isinstance(problem, Problem):
            kind = type(problem).__name__
            raise UsageError(f"a {kind} is no problem; give what load_problems returns")
        if problem.id in seen:
            raise UsageError(f"{problem.id} is there twice; give each problem once")
        seen.add(problem.id)
    return problems


def name_of(benchmark: Benchmark) -> str | None:
    """The `NAME[:WHERE]` that problems are filed under; None where they have no name together."""
    if isinstance(benchmark, str):
        return benchmark
    sources = {problem.source for problem in benchmark}
    return next((each for each in sources if len(sources) == 1 and is_source(each)), None)
