"""Checkers that are programs: output validators of contest packages, and testlib's.

The program runs in a sandbox in which no solution ever runs. It finds the input, the expected
output and the answer there, and says its verdict by its exit code. One that crashes, runs out of a
limit or ends with another exit code is at fault: a `checker_error`, whatever the answer was.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from harness.excerpts import around
from harness.grading.answer_comparison import CheckedProgram, CheckerError, OwnScore
from harness.grading.sandbox_retry import RetryingWorker
from harness.grading.verdict import Difference
from harness.judged_by import Checker, CheckerProgram
from harness.kinds.checkers.check import difference_of, is_of_size, text_of
from harness.languages.known import language
from harness.problem import TestCase
from harness.sandbox.execution import Ending, Execution
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.test_folder import TestFolder, unpack_kept
from harness.sandbox.trial import Trial
from harness.text import writable

EXCERPT = 300  # characters of what it says
COMPILE_S = 60.0
PATIENCE = 2  # time-outs after which it is not asked any more
INPUT, EXPECTED, ANSWER, FEEDBACK = "test.in", "test.ans", "test.out", "feedback"
MESSAGE = "judgemessage.txt"
POINTS, SHARE = "score.txt", "score_multiplier.txt"
RIGHT, WRONG = 42, 43
TESTLIB_RIGHT, TESTLIB_WRONG = 0, frozenset({1, 2, 4, 8})
TESTLIB_POINTS = 7
TESTLIB_PARTS = range(50, 151)
"""Exit codes of an answer that is right in part: 50, and the per cent, up to 100. testlib.h has 0
in place of 50 where it is not told otherwise, and would accept."""
TESTLIB_FLAG = f"-DPC_BASE_EXIT_CODE={TESTLIB_PARTS.start}"
_TIME_IS_UP = frozenset({Ending.CPU_LIMIT, Ending.WALL_LIMIT})
_TESTLIB_SCORE = re.compile(r"^[ \t]*points[ \t]+(\S+)", re.MULTILINE)
SLACK = 1e-6
"""Of a test's points, for checkers that count in floats of 32 bits."""
_FAULTY = re.compile(r"error|undefined reference|multiple definition")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)
_START = """\
import sys as _sys
_sys.argv = {arguments!r}
_sys.path.insert(0, "")
exec(compile({code!r}, {name!r}, "exec"), globals())
"""


class NotWholeError(ValueError):
    """An answer is right in part, where only whole answers are right."""


class Ruling(NamedTuple):
    """What a checker's process said: right, a reason why not, or that it is at fault.

    Attributes:
        files: what it left in its folder.
    """

    right: bool
    reason: str = ""
    at_fault: bool = False
    files: Mapping[str, bytes] = {}

    @property
    def own_score(self) -> OwnScore | None:
        """The points that it gave. Raises ValueError where they are no points."""
        given = [name for name in (POINTS, SHARE) if name in self.files]
        if not given or not self.right:
            return None
        if len(given) > 1:
            raise ValueError(f"it wrote both {POINTS} and {SHARE}")
        if not self.files[given[0]].strip() and self.reason:
            raise ValueError(f"{self.reason!r:.60} has no points")
        text = self.files[given[0]][:EXCERPT].decode("utf-8", "replace").strip()
        value = float(text) if _NUMBER.fullmatch(text) else math.nan
        if not math.isfinite(value) or (given[0] == SHARE and not 0 <= value <= 1):
            raise ValueError(f"{given[0]} has {text[:60]!r}, which is not a score")
        return OwnScore(value) if given[0] == POINTS else OwnScore(share=value)


class ProgramCheck:
    """Checker of one solution, which is a program, or several that all have to say yes.

    Args:
        bench: worker on which no solution runs.
        program: the checker.
    """

    beside_rule = False

    def __init__(self, bench: RetryingWorker, program: CheckerProgram) -> None:
        self._bench = bench
        self._program = program
        self._inputs: list[bytes] = []
        self._overdue = self._overdue_by_answers = 0
        limits = Limits(program.cpu_s, program.memory_bytes)
        self._trial = Trial(checker_program(program), self._inputs, limits, has_folder=True)
        self._others = [ProgramCheck(bench, each) for each in program.others]

    @classmethod
    def of(cls, bench: RetryingWorker, checker: Checker, *, functional: bool) -> "ProgramCheck":
        """Return a checker that runs where no solution does."""
        del functional
        assert checker.program is not None
        return cls(RetryingWorker(bench.worker.beside), checker.program)

    def prepare(self, program: Program, tests: Sequence[TestCase]) -> CheckedProgram:
        """Return the solution and the inputs of the tests, which it does not change."""
        return CheckedProgram(program, [test.input for test in tests])

    def compare(
        self, pairs: Sequence[tuple[TestCase, str]]
    ) -> list[Difference | CheckerError | OwnScore | None]:
        """Compare answers; as in `harness.kinds.checkers.check.Check`."""
        return [self.judge_answer(test, answer) for test, answer in pairs]

    def text_of(self, answer: bytes, test: TestCase) -> str:
        """Return an answer as text, or the head of one that is too long to be right."""
        return text_of(answer, test, "surrogateescape")

    def shown(self, answer: str) -> str:
        """Return the part of an answer to show to a person."""
        return answer

    def close(self) -> None:
        """Close the checker in its sandbox."""
        self._bench.worker.leave(self._trial)
        self._trial.close()
        for each in self._others:
            each.close()

    def judge_answer(
        self, test: TestCase, answer: str
    ) -> Difference | CheckerError | OwnScore | None:
        """Judge one answer; as in `compare`."""
        if not is_of_size(test, answer):
            return difference_of("longer than any right answer", test, answer)
        if self._overdue >= PATIENCE:
            why = "the problem's checker runs out of time, and is asked no more"
            by_answers = self._overdue_by_answers == self._overdue
            return difference_of(why, test, answer) if by_answers else CheckerError(why)
        execution = self._run(test, answer)
        is_late = execution.ending in _TIME_IS_UP
        self._overdue += is_late
        ruling = ruling_of(execution, self._program)
        if ruling.at_fault and self._is_sound(test, answer, execution):
            self._overdue_by_answers += is_late
            where = f"the checker cannot make anything of it: {ruling.reason}"
            return difference_of(where, test, answer)
        if ruling.at_fault:
            return CheckerError(writable(f"the problem's checker is at fault: {ruling.reason}"))
        if not ruling.right:
            return difference_of(ruling.reason or "the checker says no", test, answer)
        rulings = (each.judge_answer(test, answer) for each in self._others)
        score = self._own_score(ruling, test, answer)
        return next((each for each in rulings if each is not None), score)

    def _own_score(
        self, ruling: Ruling, test: TestCase, answer: str
    ) -> OwnScore | CheckerError | Difference | None:
        try:
            return own_score_of(ruling, self._program)
        except NotWholeError as error:
            return difference_of(str(error), test, answer)
        except ValueError as error:
            return CheckerError(writable(f"the problem's checker is at fault: {error}"))

    def _is_sound(self, test: TestCase, answer: str, execution: Execution) -> bool:
        """Return whether a checker in Python that failed has a verdict on the expected output."""
        failed = execution.ending is Ending.ERROR or execution.ending in _TIME_IS_UP
        if not failed or language(self._program.language).is_compiled or not test.output.strip():
            return False
        if answer.split() == test.output.split():
            return False
        return not ruling_of(self._run(test, test.output), self._program).at_fault

    def _run(self, test: TestCase, answer: str) -> Execution:
        folder = folder_of(self._program, test, encoded(answer))
        if not language(self._program.language).is_compiled:
            with self._bench.worker.on(checker_trial(self._program, folder)) as trial:
                return self._bench.execute(trial, [0], last=True)[0]
        self._inputs.append(folder.packed())
        place = len(self._inputs) - 1
        try:
            return self._bench.execute(self._trial, [place])[0]
        finally:
            self._inputs[place] = b""


def checker_program(program: CheckerProgram, arguments: Sequence[str] = ("",)) -> Program:
    """Return a checker as a program that can be run.

    Args:
        program: the checker.
        arguments: its arguments; those of a compiled one come with the test.
    """
    if not language(program.language).is_compiled:
        return python_script(program.source, arguments)
    is_testlib = program.protocol == "testlib"
    return Program(
        program.source,
        language=program.language,
        flags=f"{language(program.language).flags} {TESTLIB_FLAG}" if is_testlib else "",
        files=program.files,
        compile_s=COMPILE_S,
    )


def checker_trial(program: CheckerProgram, folder: TestFolder, longer_s: float = 0.0) -> Trial:
    """Return the trial of a checker with one test.

    Args:
        program: the checker.
        folder: the test.
        longer_s: seconds by which it may take longer, as it waits for a solution.
    """
    limits = Limits(program.cpu_s, program.memory_bytes)
    limits = replace(limits, own_wall_s=limits.wall_s + longer_s)
    code = checker_program(program, folder.arguments)
    return Trial(code, [folder.packed()], limits, has_folder=True)


def encoded(text: str) -> bytes:
    """Return the bytes of an answer that was decoded by `surrogateescape`."""
    return text.encode("utf-8", "surrogateescape")


def folder_of(
    program: CheckerProgram,
    test: TestCase,
    answer: bytes,
    left: Mapping[str, bytes] | None = None,
) -> TestFolder:
    """Return what a checker finds: input, expected output and answer of a test.

    Args:
        program: the checker.
        test: the test.
        answer: what the solution printed; empty in a dialogue.
        left: files that it left in its folder in an earlier pass.
    """
    files = {INPUT: encoded(test.input), EXPECTED: encoded(test.output)}
    if not language(program.language).is_compiled:
        answer = answer.decode("utf-8", "replace").encode()  # no text that cannot be read is right
        files |= {name: encoded(text) for name, text in program.files}
    files |= {f"{FEEDBACK}/{name}": data for name, data in (left or {}).items()}
    if program.protocol == "testlib" and program.interactive:
        arguments = ("interactor", INPUT, f"{FEEDBACK}/{ANSWER}", EXPECTED, *test.flags)
        return TestFolder(arguments, files=files, kept=FEEDBACK)
    if program.protocol == "testlib":
        files[ANSWER] = answer
        return TestFolder(("checker", INPUT, ANSWER, EXPECTED, *test.flags), files=files)
    arguments = ("validator", INPUT, EXPECTED, f"{FEEDBACK}/", *test.flags)
    return TestFolder(arguments, answer, files, FEEDBACK)


def ruling_of(execution: Execution, program: CheckerProgram) -> Ruling:
    """Return what a checker said of an answer."""
    if execution.ending not in {Ending.FINISHED, Ending.EXIT}:
        return Ruling(False, _failure(execution), at_fault=True)
    if program.protocol == "testlib":
        return _testlib_ruling(execution.code, execution.stderr)
    if execution.code not in {RIGHT, WRONG}:
        what = f"it ended with exit code {execution.code}, not with {RIGHT} or {WRONG}"
        return Ruling(False, _with(what, execution.stderr), at_fault=True)
    try:
        files = unpack_kept(execution.result or execution.partial)
    except ValueError as error:
        return Ruling(False, str(error), at_fault=True)
    reason = _short(files.get(MESSAGE, b"").decode("utf-8", "replace"))
    return Ruling(execution.code == RIGHT, reason, files=files)


def own_score_of(ruling: Ruling, program: CheckerProgram) -> OwnScore | None:
    """Return the points of an accepted answer, where they count.

    Raises:
        NotWholeError: they do not count, and the answer is not whole.
        ValueError: they are no points.
    """
    if program.partial == "right":
        return None
    if program.partial == "counts":
        return ruling.own_score
    try:
        score = ruling.own_score
    except ValueError as error:
        raise NotWholeError(ruling.reason or str(error)) from None
    if score is None:
        return None
    most = 1.0 if score.points is None else program.most
    value = score.share if score.points is None else score.points
    if most is None or value is None or value < most * (1 - SLACK):
        raise NotWholeError(ruling.reason or "only a part of it is right")
    return None


def _testlib_ruling(code: int, message: str) -> Ruling:
    """Return what a checker said by testlib's exit codes."""
    if code == TESTLIB_RIGHT:
        return Ruling(True)
    if code in TESTLIB_WRONG or code == TESTLIB_PARTS.start:
        return Ruling(False, _short(message))
    if code in TESTLIB_PARTS:
        share = f"{(code - TESTLIB_PARTS.start) / 100:g}"
        return Ruling(True, _short(message), files={SHARE: share.encode()})
    if code == TESTLIB_POINTS:
        points = _least(_TESTLIB_SCORE.findall(message))
        right = not _NUMBER.fullmatch(points) or float(points) != 0
        return Ruling(right, _short(message), files={POINTS: points.encode()})
    return Ruling(False, _with(f"it ended with exit code {code}", message), at_fault=True)


def _least(points: Sequence[str]) -> str:
    """Return the least of some points: other lines than testlib's may be a solution's text.

    Where one is no number, that one is returned.
    """
    odd = (each for each in points if not _NUMBER.fullmatch(each))
    return next(odd, None) or min(points, key=float, default="")


def _failure(execution: Execution) -> str:
    lines = execution.error.strip().splitlines()
    if execution.ending is Ending.CANNOT_COMPILE:
        errors = [line for line in lines if _FAULTY.search(line)] or lines
        return _short(f"it cannot be compiled: {errors[0] if errors else 'no reason'}")
    if execution.ending is Ending.SIGNAL:
        return _with(f"killed by signal {execution.code}", execution.stderr)
    if execution.ending is Ending.ERROR and lines:
        return _with("it raises", lines[-1])  # the lines before have its source
    return _with(execution.ending.replace("_", " "), execution.error or execution.stderr)


def _with(what: str, message: str) -> str:
    message = _short(message)
    return f"{what}: {message}" if message else what


def _short(text: str) -> str:
    return around(" ".join(text.split()), 0, EXCERPT)


def python_script(code: str, arguments: Sequence[str]) -> Program:
    """Return a program that runs a script with arguments, and finds modules in its folder.

    Args:
        code: source of the script.
        arguments: its arguments, the first being its name.
    """
    start = _START.format(arguments=[*arguments], code=code, name=arguments[0])
    return Program(start)
