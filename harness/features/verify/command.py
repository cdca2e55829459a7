"""`harness verify`: load problems, judge references without verdict, report."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any

import typer
from rich.console import Console, Group, RenderableType

from harness.cli.settings_flags import (
    FILTERS,
    JUDGING,
    AsJson,
    Benchmark,
    Named,
    among,
    named_benchmark,
    with_settings,
)
from harness.errors import INFRASTRUCTURE, INTERRUPTED, OK, UsageError
from harness.features.verify.generated import CrossChecked, CrossChecks
from harness.features.verify.generated_run import CrossChecking, check_range
from harness.features.verify.verification import (
    References,
    Verification,
    VerifiedProblem,
    finding,
    list_references,
    reference_jobs,
    summarize_verification,
    verified,
)
from harness.features.verify.view import some_problems, verification_view
from harness.grading.jobs import Judged
from harness.grading.reference_verdicts import Finding, VerifiedCache, default_folder
from harness.problem import Problem
from harness.run.session.judging_session import JudgingSession, judge_jobs, judging, vet
from harness.run.spec.spec import read_spec
from harness.sandbox.isolation import Level
from harness.sources.benchmarks import parse_spec
from harness.sources.selection import select
from harness.terminal.layout import facts, words_table
from harness.terminal.progress import TerminalReporter, load_telling
from harness.terminal.summary_table import console, sandbox_level, words, write_json
from harness.text import count, printable_line

COLUMNS = ("problem", "reference", "generated inputs", "how many", "why")


def cross_checks_view(
    summary: CrossChecks, problems: Sequence[Problem], checked: Mapping[int, CrossChecked]
) -> RenderableType:
    """Show the summary, then each disagreeing reference and each failing generator.

    Args:
        summary: summary of all results.
        problems: the selected problems.
        checked: results, by the problem's index.
    """
    parts: list[RenderableType] = [facts(_facts(summary))]
    rows = [row for place in sorted(checked) for row in _rows(problems[place].id, checked[place])]
    if rows:
        parts.append(words_table(COLUMNS, rows))
    return Group(*parts)


def _facts(summary: CrossChecks) -> Iterator[tuple[str, str]]:
    made_for = f"made for {summary.made_for:,} of {count(summary.problems, 'problem')}"
    without = summary.problems - summary.with_generator
    yield "generated inputs", made_for + (f"; {without:,} without a generator" if without else "")
    yield (
        "compared",
        f"on {summary.compared:,} of {count(summary.different, 'different input')} "
        f"({summary.made:,} made of {summary.tried:,} tried)",
    )
    yield from sandbox_level(summary.isolation)
    for name, ids in (
        ("references disagree", summary.disagree),
        ("generator fails", summary.generator_fails),
        ("fewer than two references", summary.too_few_references),
    ):
        if ids:
            yield name, some_problems(ids)
    if summary.infrastructure:
        number = count(summary.infrastructure, "problem")
        yield "infrastructure", f"{number} could not be checked, or not wholly"


def _rows(name: str, found: CrossChecked) -> Iterator[tuple[str, ...]]:
    for each in found.disagreements:
        how_many = f"{each.inputs:,} of {found.compared:,}"
        why = f"seed {each.seed}, {each.input}: {each.detail}"
        yield name, str(each.reference), words(each.verdict), how_many, why
    for what, fault, of in (
        ("not compared", found.not_compared, found.different),
        ("generator fails", found.generator_fails, found.tried),
    ):
        if fault is not None:
            how_many = f"{fault.inputs:,} of {of:,}"
            yield name, "", what, how_many, f"seed {fault.seed}: {fault.why}"
    if found.failure:
        yield name, "", "not checked", "", found.failure


def verify_source(
    flags: dict[str, Any],
    judging: JudgingSession,
    *,
    most: int | None,
    inputs: int | None,
    fresh: bool,
    as_json: bool,
) -> int:
    """Verify the references of selected problems and return the exit code.

    Args:
        flags: selection of problems, by keys of the spec.
        judging: settings of judging.
        most: most references of a problem, from the first; None for all.
        inputs: number of inputs to generate for each problem, on which its references are compared;
            None for none.
        fresh: also judge references with a stored verdict.
        as_json: print one JSON object in place of a table.

    Raises:
        UsageError: a flag has a value that is not accepted.
        DataError: a row is malformed.
        NothingSelectedError: no problem is left.
    """
    if most is not None and most < 1:
        raise UsageError(f"--references {most}: give 1 or more")
    check_range(inputs)
    spec = read_spec(None, flags)
    benchmark = spec.benchmark or ""
    err = console(error=True)
    loaded = load_telling(benchmark, err, skip_bad_rows=spec.skip_bad_rows)
    problems = select(loaded.problems, spec.selection()).problems
    generated = CrossChecking(problems, inputs, most) if inputs is not None else None
    problems = vet(problems, judging, TerminalReporter(err))
    with err.status("reading references"):  # shown on a terminal only
        listed = list_references(problems, most, judging.options)
    with _cache(parse_spec(benchmark).name, err) as cache:
        found = {} if fresh else _known(cache, listed, judging, err)
        interrupted = _judge(listed, found, cache, judging, err)
    if generated is not None and not interrupted:
        interrupted = generated.run(judging, err)
    results = verified(listed, found, judging.options)
    summary = summarize_verification(results)
    checks = None if generated is None else generated.summary()
    out = console()
    if as_json:
        write_json(out, _json(summary, results, generated))
    else:
        out.print(verification_view(summary, results))
        if generated is not None and checks is not None:
            out.print(cross_checks_view(checks, problems, generated.checked))
    if interrupted:
        left = sum(key not in found for each in listed for key in each.keys)
        err.print(_left(left, generated, keeps=cache.keeps))
        return INTERRUPTED
    failed = summary.infrastructure or (checks is not None and checks.infrastructure)
    return INFRASTRUCTURE if failed else OK


def _left(references: int, generated: CrossChecking | None, *, keeps: bool) -> str:
    """Say what an interrupt left undone."""
    parts: list[str] = []
    if references or generated is None:
        hint = "; run the same command again to continue" if keeps else ""
        parts.append(f"{count(references, 'reference')} not judged{hint}")
    if generated is not None:
        parts.append(f"generated inputs of {count(generated.left, 'problem')} not compared")
    return f"interrupted: {'; '.join(parts)}"


def _cache(source: str, err: Console) -> VerifiedCache:
    def warn(message: str) -> None:
        err.print(printable_line(message), soft_wrap=True)

    return VerifiedCache(source, default_folder(), warn)


def _known(
    cache: VerifiedCache, listed: Sequence[References], judging: JudgingSession, err: Console
) -> dict[str, Finding]:
    """Return stored verdicts from sandboxes strong enough, and print their number."""
    keys = [key for each in listed for key in each.keys]
    known = cache.find(keys, Level.NONE if judging.unsafe else judging.least)
    if known:
        many = sum(key in known for key in keys)
        err.print(f"{many:,} of {count(len(keys), 'verdict')} known already; --fresh judges anew")
    return known


def _judge(
    listed: Sequence[References],
    found: dict[str, Finding],
    cache: VerifiedCache,
    judging: JudgingSession,
    err: Console,
) -> bool:
    """Judge the rest into `found`, storing each; return whether the user interrupted."""
    jobs = reference_jobs(listed, found)

    def keep(judged: Judged) -> None:
        key = jobs[judged.number].key
        found[key] = finding(judged)
        cache.add(key, found[key])

    return judge_jobs(jobs, judging, TerminalReporter(err), "references", keep)


def _json(
    summary: Verification, problems: Sequence[VerifiedProblem], generated: CrossChecking | None
) -> Iterator[str]:
    """Yield one JSON object in pieces, as it is large for a large source."""
    yield '{"problems": ['
    for number, problem in enumerate(problems):
        row = problem.model_dump(mode="json")
        if generated is not None:
            row["generated"] = generated.json_of(number)
        yield (", " if number else "") + json.dumps(row)
    total = summary.model_dump(mode="json")
    if generated is not None:
        total["generated"] = generated.summary().model_dump(mode="json")
    yield f'], "summary": {json.dumps(total)}}}'


@with_settings(*JUDGING, *FILTERS)
def verify(
    settings: Mapping[str, Any],
    *,
    spec: Named = None,
    benchmark: Benchmark = None,
    references: Annotated[
        int | None,
        typer.Option(metavar="N", help="Most references per problem. Default: all."),
    ] = None,
    generated: Annotated[
        int | None,
        typer.Option(
            metavar="N",
            help="Also compare a problem's references on N inputs of its own generator, 1 to "
            "1,000 (Mercury's problems have one).",
        ),
    ] = None,
    fresh: Annotated[
        bool, typer.Option("--fresh", help="Judge again what has been judged before.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Judge a benchmark's reference solutions: which fail, which are slow, what has no tests.

    Verdicts are stored: an interrupted verification goes on, and what has not changed is not judged
    again.
    """
    wanted = among(settings, FILTERS) | {"benchmark": named_benchmark(spec, benchmark)}
    how = judging(among(settings, JUDGING), by_reference=False)
    code = verify_source(
        wanted, how, most=references, inputs=generated, fresh=fresh, as_json=as_json
    )
    raise typer.Exit(code)
