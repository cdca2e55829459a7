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
from problemtools.diagnostics import LoggingDiagnostics
from problemtools.judge import SubmissionJudge, SubmissionResult, execute_testcase
from problemtools.model import DEFAULT_VALIDATOR

from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.stop import Stop
from harness.grading.verdict import Grade, Verdict
from harness.problem import Problem, Reference
from harness.sandbox.worker import Worker
from harness.sources.contests.checker_programs import token_checker
from harness.sources.contests.icpc import load

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
            package = Package(problem, Path(str(file.path)), cpu_s, counts)
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
            stop=Stop.LATE, cpu_by_problem={problem.id: cpu_s}, memory_bytes=problem.memory_bytes
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
        task = self.options.task(self.problem, known.code, self.tests, known.language)
        grade = judge(worker, task)
        if grade.verdict is Verdict.COMPILE_ERROR:
            print(f"! {self.problem.native_id} {known.name}: compiled by problemtools only")
            return 1
        by_content = {
            (test.input, test.output): grade.tests[number] for number, test in enumerate(self.tests)
        }
        results: dict[Path, SubmissionResult] = {}
        differences = 0
        for case in self.theirs.testdata.get_all_testcases():
            content = case.infile.read_bytes(), case.ansfile.read_bytes()
            mine = by_content[tuple(each.decode("utf-8", "surrogateescape") for each in content)]
            result = execute_testcase(
                case,
                program,
                self.validator,
                self.theirs.metadata,
                self.cpu_s,
                base,
                self.diagnostics,
            )
            results[case.infile] = result
            self.counts["tests"] += 1
            points = result.score if mine.passed and mine.points is not None else mine.points
            if VERDICTS[mine.verdict] != result.verdict or points != mine.points:
                differences += 1
                print(
                    f"! {self.problem.native_id} {known.name} {case.path}: ours {mine.verdict} "
                    f"{mine.points} {mine.error[:80]!r}, theirs {result}"
                )
            if result.verdict == "TLE":  # the other tests may take as long
                self.counts["submissions stopped at the first time limit"] += 1
                return differences
        self.counts["submissions"] += 1
        return differences + self.compare_whole(program, known, grade, results, base)

    def compare_whole(
        self,
        program: Any,
        known: Reference,
        grade: Grade,
        results: dict[Path, SubmissionResult],
        base: Path,
    ) -> int:
        """Compare the verdict of the whole, or the points."""
        root = Remembered(
            program,
            self.validator,
            self.theirs.metadata,
            self.theirs.testdata,
            base,
            Context(),
            self.theirs.graders,
            self.diagnostics,
        ).with_results(results)
        whole = root.judge(self.cpu_s)[-1]
        if grade.score is not None:
            same = whole.score is not None and abs(whole.score - grade.score.points) < 1e-6
        else:
            same = (whole.verdict == "AC") == (grade.verdict is Verdict.ACCEPTED)
        if not same:
            print(
                f"! {self.problem.native_id} {known.name}: ours {grade.verdict} {grade.score}, "
                f"theirs {whole}"
            )
        return not same


class Remembered(SubmissionJudge):
    """problemtools' judge of a submission, which has the results of the tests already."""

    def with_results(self, results: dict[Path, SubmissionResult]) -> "Remembered":
        self.results = results
        return self

    def _run(self, testcase: Any, timelim: float) -> SubmissionResult:  # noqa: ARG002 - its own
        return self.results[testcase.infile]


if __name__ == "__main__":
    main()
