"""How `harness problems` lists problems and shows one."""

from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text

from harness.problem import Problem, TestCase
from harness.report.tables import console
from harness.report.text import count, printable
from harness.runs.spec import read_spec
from harness.sources.registry import LOADERS, load
from harness.sources.selection import select

LONGEST_TEST = 2_000
LEAST_TITLE = 8
COLUMNS = ("problem", "title", "platform", "difficulty", "released", "kind", "public", "issues")


def list_problems(what: str | None, flags: dict[str, Any]) -> None:
    """Print the list, or the problem that `what` names."""
    one = what is not None and what.partition(":")[0].lower() not in LOADERS
    if what is not None and not one:
        flags["benchmark"] = what
    elif what is not None:
        flags["task"] = [*flags.get("task", []), what]
    spec = read_spec(None, flags)
    loaded = load(spec.benchmark or "fixture", skip_bad_rows=spec.skip_bad_rows)
    chosen = select(loaded.problems, spec.selection())
    out = console()
    if one:
        for problem in chosen.problems:
            out.print(_shown(problem), soft_wrap=True)
        return
    out.print(_table([_row(problem) for problem in chosen.problems]))
    out.print(f"{count(len(chosen.problems), 'problem')} of {len(loaded.problems):,}")
    if loaded.skipped:
        first = printable(str(loaded.skipped[0]))
        out.print(f"{count(len(loaded.skipped), 'bad row')} skipped, the first: {first}")


def _table(rows: list[tuple[str, ...]]) -> Table:
    """All columns in full, but for the title, which takes what room is left."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for index, column in enumerate(COLUMNS):
        longest = max((len(row[index]) for row in rows), default=0)
        least = LEAST_TITLE if column == "title" else max(longest, len(column))
        table.add_column(column, no_wrap=True, min_width=least)
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table


def _row(problem: Problem) -> tuple[str, ...]:
    return (
        problem.id,
        problem.title,
        problem.platform,
        problem.difficulty or problem.difficulty_word or "",
        str(problem.release_date or ""),
        "function" if problem.entry_point else "program",
        str(len(problem.tests.public)),
        ", ".join(problem.known_issues),
    )


def _shown(problem: Problem) -> str:
    """A problem for a person; hidden tests are counted, not shown."""
    hidden = len(problem.tests.load_hidden())
    kind = f"function {problem.entry_point}" if problem.entry_point else "program on stdin"
    facts = {
        "id": problem.id,
        "platform": problem.platform,
        "difficulty": problem.difficulty or problem.difficulty_word,
        "released": str(problem.release_date or "unknown"),
        "tags": ", ".join(problem.tags),
        "kind": kind,
        "tests": f"{len(problem.tests.public)} public, {hidden} hidden",
        "known issues": ", ".join(problem.known_issues),
    }
    parts = [
        problem.title,
        "\n".join(f"{name + ':':14}{value}" for name, value in facts.items() if value),
        problem.statement.strip(),
    ]
    if problem.starter_code.strip():
        parts.append(f"Starter code:\n{problem.starter_code.rstrip()}")
    parts += [_test(test, number) for number, test in enumerate(problem.tests.public, 1)]
    return printable("\n\n".join(parts)) + "\n"


def _test(test: TestCase, number: int) -> str:
    from harness.grading.excerpts import shorten

    given, wanted = (shorten(text.rstrip("\n"), LONGEST_TEST) for text in (test.input, test.output))
    return f"Public test {number}\nInput:\n{given}\nExpected output:\n{wanted}"
