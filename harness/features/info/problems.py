"""`harness problems`: list problems, or show one."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Self

import typer
from rich import box
from rich.table import Table
from rich.text import Text

from harness.cli import completion
from harness.cli.settings_flags import PROBLEMS, with_settings
from harness.cli.shared_flags import AsJson, Source, with_progress_flags, with_source
from harness.errors import UsageError
from harness.excerpts import shorten
from harness.figures import bad_rows, count
from harness.frozen import Frozen
from harness.languages.known import language
from harness.problem import Kind, Problem, TestCase, shows_output
from harness.run.settings.spec import read_spec
from harness.sources.benchmarks import is_source
from harness.sources.hub_datasets import meaning
from harness.sources.selection import select
from harness.terminal.consoles import console, write_json
from harness.terminal.progress import load_with_bar
from harness.text import printable, printable_line

SCHEMA = 1
FACTS = frozenset(
    {
        *("id", "title", "platform", "difficulty", "release_date", "tags", "kind"),
        *("entry_point", "known_issues"),
    }
)
"""Fields of a problem that a list has as they are."""
LONGEST_TEST = 2_000
LEAST_TITLE = 8
PADDING = 3
EDGES = 2  # columns of a terminal beside those of the table
DISPENSABLE = ("kind", "public", "issues", "title", "released")
"""Columns that a narrow terminal does without, the first one first."""
COLUMNS = ("problem", "title", "platform", "difficulty", "released", "kind", "public", "issues")


def list_problems(what: str | None, flags: dict[str, Any], *, as_json: bool) -> None:
    """Print the list of problems, or the problem that `what` names."""
    one = what is not None and not is_source(what.partition(":")[0])
    if what is not None and not one:
        flags["benchmark"] = what
    elif what is not None:
        flags["task"] = [*flags.get("task", []), what]
    spec = read_spec(None, flags)
    loaded = load_with_bar(
        spec.benchmark or "fixture", console(error=True), skip_bad_rows=spec.skip_bad_rows
    )
    chosen = select(loaded.problems, spec.selection())
    out = console()
    if as_json:
        listed = Listed(
            problems=tuple(map(_in_full if one else ListedProblem.of, chosen.problems)),
            of=len(loaded.problems),
            bad_rows=tuple(map(str, loaded.skipped)),
        )
        write_json(out, [listed.model_dump_json()])
        return
    if one:
        for problem in chosen.problems:
            out.print(_shown(problem), soft_wrap=True)
        return
    out.print(_table([_row(problem) for problem in chosen.problems], out.width))
    out.print(f"{count(len(chosen.problems), 'problem')} of {len(loaded.problems):,}")
    if sentence := meaning(spec.benchmark or ""):
        out.print(f"{sentence}.", soft_wrap=True)
    if loaded.skipped:
        out.print(bad_rows(loaded.skipped))


def _table(rows: list[tuple[str, ...]], width: int) -> Table:
    """Make a table that fits: only titles are cut, empty columns are left out."""
    longest = [max(map(len, cells)) for cells in zip(COLUMNS, *rows, strict=True)]
    shown = [i for i in range(len(COLUMNS)) if any(row[i] for row in rows)]
    for dispensable in DISPENSABLE:
        others = sum(longest[i] + PADDING for i in shown if COLUMNS[i] != "title")
        titled = any(COLUMNS[i] == "title" for i in shown)
        if others + EDGES + LEAST_TITLE * titled > width:
            shown = [i for i in shown if COLUMNS[i] != dispensable]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    others = sum(longest[i] + PADDING for i in shown if COLUMNS[i] != "title")
    for i in shown:
        most = longest[i]
        if COLUMNS[i] == "title":  # gets the rest of the width
            most = max(LEAST_TITLE, min(most, width - others - EDGES))
        table.add_column(COLUMNS[i], no_wrap=True, min_width=most, max_width=most)
    for row in rows:
        table.add_row(*(Text(printable_line(row[i])) for i in shown))
    return table


def _row(problem: Problem) -> tuple[str, ...]:
    return (
        problem.id,
        problem.title,
        problem.platform,
        problem.difficulty or problem.difficulty_word or "",
        str(problem.release_date or ""),
        _kind(problem),
        str(len(problem.tests.public)),
        ", ".join(problem.known_issues),
    )


class ShownTest(Frozen):
    """A public test; without an output where several answers are right."""

    input: str
    output: str | None


class ListedProblem(Frozen):
    """A problem of a list; `native_difficulty` is the source's own word."""

    id: str
    title: str
    platform: str
    difficulty: str | None
    native_difficulty: str
    release_date: date | None
    tags: tuple[str, ...]
    kind: Kind
    entry_point: str | None
    public_tests: int
    known_issues: tuple[str, ...]

    @classmethod
    def of(cls, problem: Problem, **more: Any) -> Self:
        """Return a problem as it is shown, with the fields `more`."""
        return cls(
            **{key: getattr(problem, key) for key in ListedProblem.model_fields if key in FACTS},
            native_difficulty=problem.difficulty_word,
            public_tests=len(problem.tests.public),
            **more,
        )


class ShownProblem(ListedProblem):
    """One problem in full; its hidden tests are counted, not shown."""

    statement: str
    starter_code: str
    starters: dict[str, str]
    code: str
    call: str
    public_rule: str
    hidden_tests: int
    tests: tuple[ShownTest, ...]


class Listed(Frozen):
    """What `harness problems --json` prints: the selected ones `of` all that were loaded."""

    schema_version: int = SCHEMA
    problems: tuple[ShownProblem | ListedProblem, ...]
    of: int
    bad_rows: tuple[str, ...]


def _in_full(problem: Problem) -> ShownProblem:
    tests = tuple(
        ShownTest(
            input=test.input, output=test.output if shows_output(problem.judge, test) else None
        )
        for test in problem.tests.public
    )
    return ShownProblem.of(
        problem,
        statement=problem.statement,
        starter_code=problem.starter_code,
        starters=dict(problem.starters),
        code=problem.code,
        call=problem.call,
        public_rule=problem.public_rule,
        hidden_tests=sum(not test.public for test in problem.tests.all()),
        tests=tests,
    )


def _kind(problem: Problem) -> str:
    """Name the kind in a word or two, for a column."""
    match problem.kind:
        case Kind.CODE_GENERATION:
            return "function" if problem.entry_point else "program"
        case Kind.TEST_OUTPUT_PREDICTION:
            return "test output"
        case Kind.CODE_EXECUTION:
            return "execution"


def _kind_in_full(problem: Problem) -> str:
    if problem.call:
        return f"{problem.kind.replace('_', ' ')}, function {problem.entry_point}"
    return f"function {problem.entry_point}" if problem.entry_point else "program on stdin"


def _shown(problem: Problem) -> str:
    """Describe a problem in full; hidden tests are counted, not shown."""
    tests = problem.tests.all()
    public = len(problem.tests.public)
    repeated = sum(test.public for test in tests) - public
    hidden = len(tests) - public - repeated
    again = f", {repeated} more that repeat a public one" if repeated else ""
    facts = {
        "id": problem.id,
        "platform": problem.platform,
        "difficulty": problem.difficulty or problem.difficulty_word,
        "released": str(problem.release_date or "unknown"),
        "tags": ", ".join(problem.tags),
        "kind": _kind_in_full(problem),
        "tests": f"{public} public, {hidden} hidden{again}",
        "public by": problem.public_rule,
        "known issues": ", ".join(problem.known_issues),
    }
    parts = [
        problem.title,
        "\n".join(f"{name + ':':14}{value}" for name, value in facts.items() if value),
        problem.statement.strip(),
    ]
    if problem.starter_code.strip():
        parts.append(f"Starter code:\n{problem.starter_code.rstrip()}")
    for name, code in problem.starters:
        parts.append(f"Starter code in {language(name).title}:\n{code.rstrip()}")
    if problem.code:
        parts.append(f"Program:\n{problem.code.rstrip()}")
    if problem.call:
        parts.append(f"Asked is the value of:\n{problem.call}")
    parts += [_test(problem, test, number) for number, test in enumerate(problem.tests.public, 1)]
    return printable("\n\n".join(part for part in parts if part)) + "\n"


def _test(problem: Problem, test: TestCase, number: int) -> str:
    given, wanted = (shorten(text.rstrip("\n"), LONGEST_TEST) for text in (test.input, test.output))
    name = "Given to the judge" if problem.judge == "dialogue" else "Input"
    parts = [f"Public test {number}", f"{name}:\n{given}"]
    if shows_output(problem.judge, test):
        parts.append(f"Expected output:\n{wanted}")
    return "\n".join(parts)


@with_settings(*PROBLEMS)
@with_progress_flags
def problems(
    settings: Mapping[str, Any],
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="[SPEC|ID]",
            autocompletion=completion.benchmarks,
            help="A benchmark as NAME[:WHERE], or the id of a problem (of --benchmark; else a "
            "bundled one).",
        ),
    ] = None,
    source: Source = None,
    schema: Annotated[
        bool,
        typer.Option("--schema", help="Print a row of jsonl:PATH, and the JSON Schema of rows."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List problems, or show one."""
    if schema and as_json:
        raise UsageError("--schema prints JSON as it is; leave --json out")
    if schema:
        import json

        from harness.sources.jsonl_row import EXAMPLE
        from harness.sources.jsonl_row import schema as row_schema

        typer.echo(json.dumps(EXAMPLE))
        typer.echo(json.dumps(row_schema(), indent=2))
        return
    list_problems(what, with_source(settings, source), as_json=as_json)
