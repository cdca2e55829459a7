"""Problems from a benchmark's name, or already loaded ones."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack, cast

from pydantic_core import to_json

from harness.errors import DataError, UsageError
from harness.figures import bad_rows
from harness.problem import Problem
from harness.run.reporter import log
from harness.run.settings.keys import SelectionKeys
from harness.run.settings.python_arguments import spec_from
from harness.run.settings.python_signature import listing
from harness.run.settings.spec import RunSpec
from harness.sources.benchmarks import is_source, load
from harness.sources.files.lines import Line
from harness.sources.files.rows import Loaded
from harness.sources.selection import select

Benchmark = str | Sequence[Problem | Mapping[str, Any]]
"""`NAME[:WHERE]` as on the command line, loaded problems, or rows of the `jsonl` format."""
Checked = str | tuple[Problem, ...]
"""A benchmark whose problems are known to be problems."""


@listing(SelectionKeys)
def load_problems(
    benchmark: Benchmark = "fixture", *, limit: int | None = None, **keys: Unpack[SelectionKeys]
) -> tuple[Problem, ...]:
    """Load a benchmark's problems, in the order of the data.

    Hidden tests are decoded when first needed.

    Args:
        benchmark: `NAME[:WHERE]`, as for `harness run --benchmark`, downloaded if necessary; or
            your own problems, each a dictionary with the keys of a line of `jsonl:PATH`.
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


def read(benchmark: Checked, spec: RunSpec) -> Loaded:
    """Return a benchmark's contents, before any selection.

    Raises:
        UsageError: there is no benchmark of that name.
    """
    if not isinstance(benchmark, str):
        return Loaded(benchmark)
    loaded = load(benchmark, skip_bad_rows=spec.skip_bad_rows)
    if loaded.skipped:
        log.warning(bad_rows(loaded.skipped))
    return loaded


def checked(benchmark: Benchmark) -> Checked:
    """Return a benchmark, after checking loaded problems and making problems of rows.

    Raises:
        UsageError: it is neither a name nor problems, or two problems have the same id.
        DataError: a row does not have the `jsonl` format.
    """
    if isinstance(benchmark, str):
        return benchmark
    given: Any = benchmark
    if isinstance(given, Problem):
        raise UsageError("the benchmark is one problem; give a list of problems, [problem]")
    if not isinstance(given, Iterable):
        kind = type(given).__name__
        raise UsageError(f"the benchmark is a {kind}; give NAME[:WHERE], loaded problems, or rows")
    problems: dict[str, Problem] = {}
    for number, each in enumerate(cast("Iterable[Any]", given), start=1):
        problem = _of_row(cast("Mapping[str, Any]", each), number) if _is_row(each) else each
        if not isinstance(problem, Problem):
            kind = type(problem).__name__
            raise UsageError(
                f"a {kind} is not a problem; give what load_problems returns, or rows, which are "
                "dictionaries"
            )
        if problem.id in problems:
            raise UsageError(f"{problem.id} is there twice; give each problem once")
        problems[problem.id] = problem
    return tuple(problems.values())


def _is_row(given: object) -> bool:
    return isinstance(given, Mapping)


def _of_row(row: Mapping[str, Any], number: int) -> Problem:
    """Return the problem of a row of the `jsonl` format. Raises DataError."""
    from harness.sources.jsonl import parse_row

    where = Path("the benchmark's row")
    try:
        raw = to_json(dict(row))
    except ValueError as error:
        raise DataError(f"{where} {number}", None, f"it cannot be JSON: {error}") from None
    return parse_row(Line(where, str(where), number, None, raw), source="jsonl")


def name_of(benchmark: Checked) -> str | None:
    """Return the `NAME[:WHERE]` of a benchmark; None if its problems share none."""
    if isinstance(benchmark, str):
        return benchmark
    sources = {problem.source for problem in benchmark}
    return next((each for each in sources if len(sources) == 1 and is_source(each)), None)
