"""Judging for `POST /grade`, with the same judge as `harness grade`."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from typing import Any, NamedTuple

from harness.errors import HarnessError
from harness.features.serve.grade_request import CODE, SolutionItem, given_problem, options_for
from harness.features.serve.problem_cache import ProblemCache, Ready
from harness.features.serve.requests import Refusal
from harness.features.serve.work import Workers
from harness.grading.jobs import Judgement, Options
from harness.grading.verdict import UNKNOWN, Grade, TestResult, Verdict
from harness.kinds.questions.judge import judge_answer
from harness.languages import PYTHON
from harness.problem import Problem
from harness.run.plan.languages import check_language, compiler_words
from harness.run.plan.problem_kinds import in_language, rules_for
from harness.sandbox.execution import SandboxError
from harness.text import printable_line

log = logging.getLogger("harness")

HIDDEN_FIELDS = frozenset({"index", "public", "verdict", "cpu_s", "wall_s"})
"""Fields shown of hidden tests; output and errors may contain a test's input."""
HIDDEN_CAUSE = "the problem's row, or its checker, is faulty; the server's log says how"
TRIES = 2
"""Times a solution is judged at most when its sandbox fails."""

SOLUTION_S = 1_800.0
"""Wall seconds on a worker after which a solution is given up; it gets no reward."""


def reward_of(item: SolutionItem, grade: Grade) -> float | None:
    """Return the reward; None if the verdict says nothing about the solution."""
    if grade.verdict in UNKNOWN:
        return None
    return grade.fraction if item.reward == "fraction" else float(grade.solved)


def shown_test(test: TestResult) -> dict[str, Any]:
    """Return the part of a test's result that clients may see."""
    values = test.model_dump(mode="json")
    if test.public:
        return values
    return {name: value for name, value in values.items() if name in HIDDEN_FIELDS}


class GradeItem(NamedTuple):
    """A checked item, ready to be judged.

    Attributes:
        number: index of the item in the request.
        item: the item, without its tests.
        problem: the server's problem, or one made of the item's tests.
        options: options of judging.
    """

    number: int
    item: SolutionItem
    problem: Problem
    options: Options


class Graders(NamedTuple):
    """Judge of items.

    Attributes:
        workers: workers that run the tests.
        problems: problems that items may name.
        usual: options for settings that items leave out.
        most_memory: most bytes that a test may use.
    """

    workers: Workers
    problems: ProblemCache
    usual: Options
    most_memory: int

    def check(self, items: Sequence[SolutionItem], where: str = "items.{}: ") -> list[GradeItem]:
        """Check all items before any is judged, and return them ready to be judged.

        Raises:
            Refusal: 422, with the first wrong item and the reason.
        """
        checked: list[GradeItem] = []
        for number, item in enumerate(items):
            try:
                checked.append(self._asked(number, item))
            except Refusal as refusal:
                raise Refusal(refusal.status, where.format(number) + refusal.what) from None
        return checked

    def _asked(self, number: int, item: SolutionItem) -> GradeItem:
        problem = given_problem(item) if item.problem is None else self.problems.find(item.problem)
        language = item.language or PYTHON
        try:
            check_language(language, [problem], flags=self.usual.flags)
            if item.text is not None and item.extract != CODE:
                rules = in_language(rules_for(problem.kind), language)
                rules.extractor(item.extract or "harness", "extract", [CODE])
        except HarnessError as error:
            raise Refusal(422, str(error)) from None
        options = options_for(item, self.usual, self.most_memory)
        rest = item.model_copy(update={"tests": None, "input_output": None})  # `problem` has them
        return GradeItem(number, rest, problem, options)

    async def stream(
        self, asked: Sequence[GradeItem], wait_s: float
    ) -> AsyncIterator[dict[str, Any]]:
        """Yield answers as items are judged, one more at a time than there are workers.

        Args:
            asked: checked items.
            wait_s: seconds to wait for a free worker for an item.
        """
        waiting = iter(asked)
        under_way: set[asyncio.Task[dict[str, Any]]] = set()

        def begin() -> None:
            for each in waiting:
                under_way.add(asyncio.create_task(self._line(each, wait_s)))
                if len(under_way) > self.workers.pool.size:
                    return

        try:
            begin()
            while under_way:
                done, _ = await asyncio.wait(under_way, return_when=asyncio.FIRST_COMPLETED)
                under_way -= done
                begin()
                for task in done:
                    yield task.result()
        finally:
            for task in under_way:
                task.cancel()
            await asyncio.gather(*under_way, return_exceptions=True)

    async def _line(self, asked: GradeItem, wait_s: float) -> dict[str, Any]:
        """Return an item's answer, even on failure: the status is already sent."""
        try:
            return await self.answer(asked, wait_s)
        except Refusal as refusal:
            lost = Grade(verdict=Verdict.SANDBOX_ERROR)
            self.workers.metrics.judged("/grade", lost.verdict, 0.0)
            return _answer(asked, lost, "", refusal.what)

    async def answer(self, asked: GradeItem, wait_s: float) -> dict[str, Any]:
        """Judge one item and return its answer.

        Raises:
            Refusal: 503 or 504, no worker is available.
        """
        code, extraction = await self._code(asked)
        try:
            grade, cause = await self._grade(asked, code, wait_s)
        except SandboxError as error:
            grade, cause = Grade(verdict=Verdict.SANDBOX_ERROR), str(error)
        except HarnessError as error:  # an unreadable row, or examples that fail their check
            grade, cause = Grade(verdict=Verdict.CHECKER_ERROR), str(error)
        cpu_s = sum(test.cpu_s for test in grade.tests)
        self.workers.metrics.judged("/grade", grade.verdict, cpu_s)
        return _answer(asked, grade, extraction, cause)

    async def _code(self, asked: GradeItem) -> tuple[str, str]:
        """Return the solution and the name of the rule that found it."""
        item = asked.item
        if item.text is None or item.extract == CODE:
            return item.code if item.text is None else item.text, ""  # pyright: ignore[reportReturnType]
        rules = in_language(rules_for(asked.problem.kind), item.language or PYTHON)
        search = rules.extractor(item.extract or "harness")
        extraction = await asyncio.to_thread(search, item.text, asked.problem.entry_point)
        return extraction.code, extraction.rule

    async def _grade(self, asked: GradeItem, code: str, wait_s: float) -> tuple[Grade, str]:
        if not rules_for(asked.problem.kind).runs_code:
            grade = await asyncio.to_thread(judge_answer, asked.problem, code)
            return grade, grade.checker_error
        if asked.item.problem is None:
            ready = Ready.of(asked.problem)
        else:
            ready = await self.problems.ready(asked.problem)
        task = asked.options.task(ready.problem, code, (), asked.item.language)
        for last in (*(False,) * (TRIES - 1), True):
            try:
                async with asyncio.timeout(SOLUTION_S + wait_s):
                    grade = await self.workers.do(Judgement(task, ready.tests), wait_s)
            except SandboxError:
                if last:
                    raise
            except TimeoutError:
                raise SandboxError(f"not judged within {SOLUTION_S:g} s") from None
            else:
                return grade, grade.checker_error
        raise AssertionError


def _compiled(asked: GradeItem) -> dict[str, str]:
    """Return language and compiler of a solution that was compiled; empty for others."""
    language = asked.item.language or PYTHON
    description = compiler_words(language, asked.options.flags)
    return {"language": language, "compiler": description} if description else {}


def _answer(asked: GradeItem, grade: Grade, extraction: str, cause: str) -> dict[str, Any]:
    """Return the answer for one item.

    Args:
        asked: the requested item, and its problem.
        grade: the judge's grade.
        extraction: name of the rule that found the code; empty if code was given.
        cause: cause of an infrastructure failure; empty if there was none.
    """
    item, problem_id = asked.item, asked.problem.id
    passed = grade.public_passed + grade.hidden_passed
    total = grade.public_total + grade.hidden_total
    hidden = grade.verdict is Verdict.CHECKER_ERROR and item.problem is not None
    if hidden:
        log.warning("%s: %s", problem_id, printable_line(cause))
    return {
        "index": asked.number,
        "id": item.id,
        "problem": problem_id,
        "verdict": grade.verdict,
        "passed": grade.solved,
        "reward": reward_of(item, grade),
        "tests_passed": passed,
        "tests_run": len(grade.tests),
        "tests_total": total,
        "hidden_total": grade.hidden_total,
        "extraction": extraction,
        "cause": HIDDEN_CAUSE if hidden else cause,
        "isolation": grade.isolation,
        **({} if grade.score is None else {"score": grade.score.model_dump()}),
        **_compiled(asked),
        "tests": [shown_test(test) for test in grade.tests],
    }
