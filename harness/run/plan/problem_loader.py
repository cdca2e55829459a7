"""Problems from a benchmark's name, or already loaded ones."""

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
"""`NAME[:WHERE]` as on the command line, or loaded problems."""


def load_problems(
    benchmark: str = "fixture", *, limit: int | None = None, **keys: Unpack[SelectionKeys]
) -> tuple[Problem, ...]:
    """Load a benchmark's problems, in the order of the data.

    Hidden tests are decoded when first needed.

    Args:
        benchmark: `NAME[:WHERE]`, as for `harness run --benchmark`; downloaded if necessary.
        limit: largest number of problems; the same as `sample_size`.
        keys: filters, as keys of a spec: `filter_difficulty="easy"`, `task=["two-sum"]`.

    Raises:
        UsageError: the benchmark or a key is unknown, or a value is invalid.
        DataError: a row does not match its schema.
        NothingSelectedError: no problem matches the filters.
    """
    spec = spec_from(
        "load_problems()", keys, SelectionKeys, ("benchmark", "limit"), sample_size=limit
    )
    loaded = read(checked(benchmark), spec)
    return select(loaded.problems, spec.selection()).problems


def read(benchmark: Benchmark, spec: RunSpec) -> Loaded:
    """Return a benchmark's contents, before any selection.

    Raises:
        UsageError: there is no benchmark of that name.
    """
    if not isinstance(benchmark, str):
        return Loaded(tuple(benchmark))
    loaded = load(benchmark, skip_bad_rows=spec.skip_bad_rows)
    if loaded.skipped:
        log.warning(bad_rows(loaded.skipped))
    return loaded


def checked(benchmark: Benchmark) -> Benchmark:
    """Return a benchmark, after checking loaded problems.

    Raises:
        UsageError: it is neither a name nor problems, or two problems have the same id.
    """
    if isinstance(benchmark, str):
        return benchmark
    given: Any = benchmark
    if isinstance(given, Problem):
        raise UsageError("the benchmark is one problem; give a list of problems, [problem]")
    if not isinstance(given, Iterable):
        kind = type(given).__name__
        raise UsageError(f"the benchmark is a {kind}; give NAME[:WHERE], or loaded problems")
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
    """Return the `NAME[:WHERE]` of a benchmark; None if its problems share none."""
    if isinstance(benchmark, str):
        return benchmark
    sources = {problem.source for problem in benchmark}
    return next((each for each in sources if len(sources) == 1 and is_source(each)), None)
