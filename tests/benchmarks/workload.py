"""What is graded: real solutions that are right, with real tests, in three suites.

- `functional`: LeetCodeDataset's references, called as functions.
- `stdin`: the same work as programs, which read the arguments from stdin and print the result.
- `lcb`: programs that models wrote for LiveCodeBench's rows, which passed there.
"""

import gzip
import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from harness.agent.extraction.code import extract
from harness.grading.jobs import Job
from harness.problem import Codec, Problem, TestCase, TestSuite
from harness.sources import preambles
from harness.sources.benchmarks import load

LEETCODE = "leetcodedataset/LeetCodeDataset-v0.3.1-test.jsonl.gz"
LIVECODEBENCH = "lcb_codegen_full184"
LIVECODEBENCH_FILES = ("test_small.jsonl", "test_medium.jsonl.gz", "test_large.jsonl.gz")
GENERATIONS = "graded_generations.jsonl.gz"
EVALUATION = "lcb_evals/o1-mini-2024-09-12_N1_v5_880_eval_all.json.gz"

_CALL = """

import json
import sys

lines = [line for line in sys.stdin.read().split("\\n") if line]
print(json.dumps(Solver().{name}(*map(json.loads, lines))))
"""


@dataclass(frozen=True, slots=True)
class Row:
    """A solution and its tests, as pairs of input and expected output."""

    id: str
    source: str
    code: str
    preamble: str
    entry_point: str | None
    tests: Sequence[tuple[str, str]]

    def problem(self) -> Problem:
        """It as the judge takes it."""
        tests = (TestCase(input=given, output=wanted, public=True) for given, wanted in self.tests)
        return Problem(
            id=self.id,
            source=self.source,
            title=self.id,
            statement="",
            platform="",
            difficulty=None,
            difficulty_word="",
            entry_point=self.entry_point,
            tests=TestSuite(tuple(tests)),
            preamble=self.preamble,
            content_hash="",
        )


Suites = dict[str, list[Row]]


def jobs(rows: Iterable[Row]) -> list[Job]:
    """Rows as the judge's jobs, numbered in order."""
    return [Job(number, row.problem(), row.code) for number, row in enumerate(rows)]


def count(rows: Iterable[Row]) -> int:
    """How many tests they have."""
    return sum(len(row.tests) for row in rows)


def candidates(data: Path, tests: int) -> Suites:
    """All rows of the three suites, with at most so many tests each; nothing is checked yet."""
    pairs = list(_leetcode(data / LEETCODE, tests))
    return {
        "functional": [function for function, _ in pairs],
        "stdin": [program for _, program in pairs],
        "lcb": list(_livecodebench(data, tests)),
    }


def _leetcode(path: Path, most: int) -> Iterator[tuple[Row, Row]]:
    """The references of problems whose arguments and results are JSON, in both forms."""
    for problem in load(f"leetcodedataset:{path}").problems:
        codecs = {*problem.signature.arguments, problem.signature.result}
        name = problem.entry_point
        if codecs != {Codec.JSON} or problem.checker or not problem.programs() or name is None:
            continue
        code = problem.programs()[0]
        tests = [(test.input, test.output) for test in problem.tests.all()[:most]]
        yield (
            Row(problem.id, problem.source, code, problem.preamble, name, tests),
            Row(
                problem.id,
                "livecodebench",
                # A class of that name is all that LiveCodeBench's grader sees of a program.
                re.sub(r"\bSolution\b", "Solver", code) + _CALL.format(name=name),
                preambles.LIVECODEBENCH,
                None,
                [(given, json.dumps(json.loads(wanted))) for given, wanted in tests],
            ),
        )


def _livecodebench(data: Path, most: int) -> Iterator[Row]:
    """One program that passed, of each problem that wants one and has any."""
    codes = {**_published(data / EVALUATION), **_generated(data / LIVECODEBENCH / GENERATIONS)}
    for file in LIVECODEBENCH_FILES:
        for problem in load(f"livecodebench:{data / LIVECODEBENCH / file}").problems:
            if problem.entry_point is None and codes.get(problem.native_id):
                tests = [(test.input, test.output) for test in problem.tests.all()[:most]]
                code = codes[problem.native_id]
                yield Row(problem.id, problem.source, code, problem.preamble, None, tests)


def _generated(path: Path) -> dict[str, str]:
    """The first generation of each question that passed all its tests."""
    codes: dict[str, str] = {}
    for line in gzip.decompress(path.read_bytes()).splitlines():
        row = json.loads(line)
        if row["passed"] == row["total"] and row["question_id"] not in codes:
            codes[row["question_id"]] = extract(row["output"], None).code
    return codes


def _published(path: Path) -> dict[str, str]:
    """The first solution of each question that upstream's published evaluation passed."""
    return {
        row["question_id"]: row["code_list"][row["graded_list"].index(True)]
        for row in json.loads(gzip.decompress(path.read_bytes()))
        if True in row["graded_list"]
    }


def spread(rows: Sequence[Row], most: int) -> list[Row]:
    """At most so many of them, evenly from first to last."""
    number = min(most, len(rows))
    return [rows[place * len(rows) // number] for place in range(number)]


def write(suites: Suites, path: Path) -> None:
    """Keep suites for the programs that measure."""
    path.write_text(json.dumps({name: list(map(asdict, rows)) for name, rows in suites.items()}))


def read(path: Path) -> Suites:
    """What `write` kept."""
    return {
        name: [Row(**row) for row in rows] for name, rows in json.loads(path.read_text()).items()
    }
