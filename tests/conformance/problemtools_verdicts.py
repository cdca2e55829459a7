"""problemtools 1.20260907: its default output validator, and its verdicts on whole packages.

    python tests/conformance/problemtools_verdicts.py [FOLDER...] [--pairs N] [--seconds S]

Outputs made at random are compared by both default validators. Then every submission in C++ or
Python of each package in a folder is judged on every test by both, one at a time. problemtools
runs them without a sandbox: name only packages that you trust. Submissions that the jury expects to
reach the time limit are left out: the limits are not the same. Each difference is printed with both
verdicts.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from problemtools import model
from problemtools.context import Context
from problemtools.diagnostics import LoggingDiagnostics, VerifyError
from problemtools.judge import SubmissionJudge, SubmissionResult
from problemtools.model import DEFAULT_VALIDATOR

from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.stop import Stop
from harness.grading.verdict import TestResult, Verdict
from harness.kinds.packages.checker_programs import token_checker
from harness.kinds.packages.icpc import load
from harness.problem import Problem, Reference
from harness.sandbox.worker import Worker

SEED = 7
# fmt: off
WORDS = [
    "1", "2", "1.0", "1.00", "01", "-0", "0", "+1", "1e3", "1000", "1000.0", "1.0000001",
    "0.99999999", "abc", "ABC", "nan", "inf", "-inf", "yes", "Yes", "YES", "1.", ".5", "0.5",
    "5e-1", "0x10", "16", "1e-7", "é", "1_0", "10",
]
# fmt: on
SPACES = (" ", "  ", "\n", "\t", " \n", "\r\n", "\n\n")
FLAGS: tuple[tuple[str, ...], ...] = (
    (),
    ("case_sensitive",),
    ("space_change_sensitive",),
    ("case_sensitive", "space_change_sensitive"),
    ("float_tolerance", "1e-6"),
    ("float_absolute_tolerance", "1e-3"),
    ("float_relative_tolerance", "1e-4"),
    ("float_tolerance", "1e-6", "case_sensitive"),
)
HEXADECIMAL = re.compile(r"0x[0-9a-f]+", re.IGNORECASE)
EXPLAINED = "hexadecimal numbers, which are numbers to problemtools and not in the format's text"
LANGUAGES = f"""python3:
  compile: '{sys.executable} -m py_compile {{files}}'
  run: '{sys.executable} "{{mainfile}}"'
"""  # instead of PyPy
SCORE_OF_WRONG = 'validator produced "score.txt" on a WA verdict'
"""An error to problemtools; the points of a wrong answer are not read here."""
VERDICTS = {
    Verdict.ACCEPTED: "AC",
    Verdict.WRONG_ANSWER: "WA",
    Verdict.RUNTIME_ERROR: "RTE",
    Verdict.MEMORY_LIMIT: "RTE",
    Verdict.OUTPUT_LIMIT: "OLE",
    Verdict.TIME_LIMIT: "TLE",
    Verdict.CHECKER_ERROR: "JE",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path)
    parser.add_argument("--pairs", type=int, default=6000)
    parser.add_argument("--seconds", type=float, default=10.0, help="CPU limit of a test")
    asked = parser.parse_args()
    differences = compare_default(asked.pairs)
    with tempfile.TemporaryDirectory() as settings:
        os.environ["XDG_CONFIG_HOME"] = settings
        languages = Path(settings, "problemtools", "languages.yaml")
        languages.parent.mkdir()
        languages.write_text(LANGUAGES)
        differences += compare_packages(asked.folders, asked.seconds)
    if differences:
        sys.exit(f"problemtools: {differences} differences")
    print("problemtools: all holds")


def compare_packages(folders: Sequence[Path], cpu_s: float) -> int:
    """Judge the submissions of packages by both; return the number of differences."""
    differences = 0
    worker = Worker()
    counts: Counter[str] = Counter()
    for folder in folders:
        loaded = load(str(folder), skip_bad_rows=True)
        for error in loaded.skipped:
            print(f"refused: {error}")
        for problem, file in zip(loaded.problems, loaded.files, strict=True):
            try:
                package = Package(problem, Path(str(file.path)), cpu_s, counts)
            except VerifyError as error:
                print(f"refused by problemtools: {error}")
                continue
            differences += package.compare(worker)
    worker.stop()
    if folders:
        print(*(f"{count} {name}" for name, count in sorted(counts.items())), sep=", ")
    return differences


def compare_default(pairs: int) -> int:
    """Compare made-up outputs by both default validators; return the number of differences."""
    made = random.Random(SEED)
    checks = [checker(flags) for flags in FLAGS]
    explained = differences = 0
    accepted = 0
    with tempfile.TemporaryDirectory() as folder:
        given, answer, feedback = (Path(folder, name) for name in ("in", "ans", "feedback"))
        given.write_text("")
        feedback.mkdir()
        command = [*DEFAULT_VALIDATOR.get_runcmd(), str(given), str(answer), f"{feedback}/"]
        for _ in range(pairs):
            number = made.randrange(len(FLAGS))
            expected = text(made)
            printed = near(made, expected)
            answer.write_text(expected, newline="")
            done = subprocess.run(
                [*command, *FLAGS[number]], input=printed.encode(), capture_output=True, check=False
            )
            theirs = {42: True, 43: False}[done.returncode]
            ours = checks[number](((), FLAGS[number]), expected, printed) is True
            accepted += theirs
            if ours == theirs:
                continue
            plain = (HEXADECIMAL.sub(_decimal, each) for each in (expected, printed))
            if (checks[number](((), FLAGS[number]), *plain) is True) == theirs:
                explained += 1
            else:
                differences += 1
                print(f"! {FLAGS[number]} {expected!r} {printed!r}: ours {ours}, theirs {theirs}")
    print(f"default validator: {pairs} outputs, {accepted} accepted, {differences} differences")
    print(f"and {explained} by {EXPLAINED}")
    return differences


def checker(flags: tuple[str, ...]) -> Callable[[Any, str, str], Any]:
    names: dict[str, Any] = {}
    exec(compile(token_checker([flags]), "checker", "exec"), names)
    return names["check"]


def _decimal(number: re.Match[str]) -> str:
    return str(int(number[0], 16))


def text(made: random.Random) -> str:
    return "".join(made.choice(WORDS) + made.choice(SPACES) for _ in range(made.randrange(5)))


def near(made: random.Random, expected: str) -> str:
    """Return a text that is equal to another one, or nearly so, or not at all."""
    kind = made.random()
    if kind < 0.35:
        return expected
    if kind < 0.5:
        return expected.strip() + made.choice(("", "\n", " "))
    if kind < 0.65:
        return expected.upper() if kind < 0.575 else expected.lower()
    words = expected.split()
    if kind < 0.8 and words:
        words[made.randrange(len(words))] = made.choice(WORDS)
        return made.choice((" ", "\n")).join(words) + "\n"
    return text(made)


class Package:
    """A package as both read it."""

    def __init__(self, problem: Problem, root: Path, cpu_s: float, counts: Counter[str]) -> None:
        self.problem = problem
        self.tests = problem.tests.all()
        self.options = Options(
            stop=Stop.LATE if problem.scoring is None else Stop.NEVER,
            cpu_by_problem={problem.id: cpu_s},
            memory_bytes=problem.memory_bytes,
        )
        self.cpu_s = cpu_s
        self.counts = counts
        self.diagnostics = LoggingDiagnostics.create(root.name, log_level=50)
        self.theirs = model.load_problem(root, self.diagnostics)
        self.validator = self.theirs.output_validators.select(
            self.theirs.format_version, self.theirs.metadata
        )

    def compare(self, worker: Worker) -> int:
        """Judge every submission by both; return the number of differences."""
        ours = {each.name: each for each in self.problem.load_references()}
        ours |= {each.name: each for each in self.problem.load_rejected()}
        differences = 0
        with tempfile.TemporaryDirectory() as folder:
            for submission in self.theirs.submissions.submissions:
                known = ours.get(f"{submission.directory}/{submission.program.name}")
                if known is None or known.language == "python2":
                    self.counts["submissions in other languages"] += 1
                elif known.verdicts == (Verdict.TIME_LIMIT,):
                    self.counts["submissions that are too slow"] += 1
                elif submission.program.compile(Path(folder)).success:
                    differences += self.compare_submission(
                        worker, submission.program, known, Path(folder)
                    )
                else:
                    self.counts["submissions that problemtools cannot compile"] += 1
                    print(f"{self.problem.native_id} {known.name}: problemtools cannot compile it")
        return differences

    def compare_submission(self, worker: Worker, program: Any, known: Reference, base: Path) -> int:
        """Judge a submission by both; return the number of differences."""
        name = f"{self.problem.native_id} {known.name}"
        task = self.options.task(self.problem, known.code, self.tests, known.language)
        grade = judge(worker, task)
        if grade.verdict is Verdict.COMPILE_ERROR:
            print(f"! {name}: compiled by problemtools only")
            return 1
        theirs = self.their_results(program, base)
        ours = {
            (self.tests[each.index].input, self.tests[each.index].output): each
            for each in grade.tests
        }
        differences = 0
        for result in theirs.results.values():
            case = result.test_node
            mine = ours.get(content_of(case))
            if mine is None:
                self.counts["tests that only problemtools ran"] += 1
                continue
            self.counts["tests"] += 1
            if {mine.verdict == Verdict.TIME_LIMIT, result.verdict == "TLE"} == {True, False} and (
                min(mine.cpu_s, result.runtime) > self.cpu_s / 2
            ):
                self.counts["tests near the time limit"] += 1
                return differences
            if not same(mine, result):
                differences += 1
                print(f"! {name} {case.path}: ours {shown(mine)}, theirs {result}")
        self.counts["submissions"] += 1
        whole = theirs.judge(self.cpu_s)[-1]
        if grade.score is not None:
            equal = whole.score is not None and abs(whole.score - grade.score.points) < 1e-6
        else:
            equal = (whole.verdict == "AC") == (grade.verdict is Verdict.ACCEPTED)
        if not equal:
            print(f"! {name}: ours {grade.verdict} {grade.score}, theirs {whole.score} {whole}")
        return differences + (not equal)

    def their_results(self, program: Any, base: Path) -> "Remembering":
        """Return problemtools' judge after it has judged a submission.

        Where no test gives points it would stop at the first rejected one; it goes on here, to the
        first time limit.
        """
        root = self.theirs.testdata
        judging = Remembering(
            program,
            self.validator,
            self.theirs.metadata,
            root,
            base,
            Context(),
            self.theirs.graders,
            self.diagnostics,
        )
        judging.results = {}
        if self.theirs.metadata.is_pass_fail():
            for case in root.get_all_testcases():
                if judging._run(case, self.cpu_s).verdict == "TLE":
                    break
        judging.judge(self.cpu_s)
        return judging


class Remembering(SubmissionJudge):
    """problemtools' judge of a submission, which runs a test once and keeps its result."""

    results: dict[Path, SubmissionResult]

    def _run(self, testcase: Any, timelim: float) -> SubmissionResult:
        if testcase.infile not in self.results:
            result = self.results[testcase.infile] = super()._run(testcase, timelim)
            if result.reason == SCORE_OF_WRONG:
                result.verdict = "WA"
        return self.results[testcase.infile]


def content_of(case: Any) -> tuple[str, str]:
    given, answer = case.infile.read_bytes(), case.ansfile.read_bytes()
    return given.decode("utf-8", "surrogateescape"), answer.decode("utf-8", "surrogateescape")


def same(mine: TestResult, result: SubmissionResult) -> bool:
    """Return whether verdict and points are equal, where we have points."""
    if VERDICTS[mine.verdict] != result.verdict:
        return False
    return not mine.passed or mine.points in (None, result.score)


def shown(mine: TestResult) -> str:
    return f"{mine.verdict} {mine.points} {mine.error[:80]!r}"


if __name__ == "__main__":
    main()
