"""`Grader`: verdicts and rewards for batches of texts, with sandboxes kept warm.

Made for training loops. A text is what a model wrote; an extraction rule finds the code in it.
Infrastructure failures are kept apart from failures of the model: they are raised as an error or
given as None, never as a reward of 0.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple, Unpack

from harness.closing import Closing
from harness.errors import HarnessError, UsageError
from harness.languages import LanguageName

if TYPE_CHECKING:  # the judge is imported when a `Grader` is made: importing the name is quick
    from concurrent.futures import Future

    from harness.features.grade.solutions import MatchedSolution
    from harness.grading.jobs import Judged
    from harness.grading.verdict import Grade, Verdict
    from harness.problem import Problem
    from harness.run.plan.problem_loader import Benchmark
    from harness.run.settings.keys import JudgingKeys
    from harness.sandbox.executor import Executor

EXTRACT = "Grader(): extract"
TRIES = 2
"""Times a text is judged at most when its sandbox fails."""

OWN = ("problems", "reward", "failures", "extract", "language", "cpp_flags")


class Scored(NamedTuple):
    """Verdict on one text.

    Attributes:
        code, extraction: code found in the text, and the rule that found it; empty if none was.
        cause: cause of an infrastructure failure; empty if there was none.
        grade: the grade with every test that was run.
    """

    problem_id: str
    verdict: "Verdict"
    code: str
    extraction: str
    cause: str
    grade: "Grade"

    @property
    def passed(self) -> bool:
        """Whether every test passed."""
        return self.grade.solved

    @property
    def fraction(self) -> float:
        """Share of the points; where there are none, of all tests that passed.

        Tests that were not run count as failed.
        """
        return self.grade.fraction

    @property
    def failed(self) -> bool:
        """Whether nothing was judged: infrastructure failed, or the problem has no test."""
        from harness.grading.verdict import UNKNOWN

        return self.verdict in UNKNOWN


class GradingError(HarnessError):
    """Some texts of a batch could not be judged.

    Attributes:
        scored: results of the whole batch; `failed` is true of those that could not be judged.
    """

    def __init__(self, scored: Sequence[Scored]) -> None:
        self.scored = tuple(scored)
        lost = [each for each in scored if each.failed]
        first = lost[0]
        why = first.cause or "it has no test"
        super().__init__(
            f"{len(lost)} of {len(scored)} texts could not be judged; "
            f"{first.problem_id}: {first.verdict}: {why}"
        )


Reward = Literal["passed", "fraction"] | Callable[[Scored], float]
"""`passed`: 1 for all tests passed, else 0; `fraction`: share of tests passed, or of the points.

Or a function of the result.
"""


class Grader(Closing):
    """Reward function over problems.

    Call it with one problem and text, or `score` with lists. Sandboxes start when they are first
    needed
    and stay until `close`, or the end of the `with` block. It may be used from several threads at
    once;
    `ascore` is for use in an event loop.

    Args:
        problems: a benchmark whose problems may be named by native or full id; not needed if
            callers pass `Problem` objects.
        reward: rule that turns a verdict into a reward; or a function that takes a `Scored` and
            returns a number.
        failures: `raise` raises a `GradingError` for texts that could not be judged; `none` gives
            None as their reward.
        extract: rule that finds code in a text: `harness`, `lcb`, or `code` if the text is the
            code.
        language: language of the texts' programs: `python` or `cpp`.
        cpp_flags: flags of the C++ compiler.
        keys: settings of judging, such as `workers=8` or `test_timeout=2`.

    Raises:
        HarnessError: the problems cannot be loaded (see `load_problems`), or a key does not exist.
    """

    def __init__(
        self,
        problems: "Benchmark | None" = None,
        *,
        reward: Reward = "passed",
        failures: Literal["raise", "none"] = "raise",
        extract: str = "harness",
        language: LanguageName = "python",
        cpp_flags: str | None = None,
        **keys: "Unpack[JudgingKeys]",
    ) -> None:
        if not callable(reward) and reward not in REWARDS:
            raise UsageError(
                f"Grader(): reward {reward!r}: give {', '.join(REWARDS)} or a function"
            )
        if failures not in {"raise", "none"}:
            raise UsageError(f"Grader(): failures {failures!r}: give 'raise' or 'none'")
        from harness.features.grade.solutions import CODE, options_of
        from harness.grading.stop import Stop
        from harness.problem import Kind
        from harness.run.plan.languages import check_language_of
        from harness.run.plan.problem_kinds import rules_for, said_in
        from harness.run.plan.problem_loader import checked, read
        from harness.run.reporter import LOG
        from harness.run.session.isolation import isolate
        from harness.run.session.warm_pool import WarmPool
        from harness.run.settings.keys import JudgingKeys
        from harness.run.settings.python_arguments import spec_from
        from harness.run.settings.reward_functions import check_reward_function
        from harness.sources.problem_names import Names

        spec = spec_from("Grader()", keys, JudgingKeys, OWN)
        self._said = said_in(spec)
        self._reward = REWARDS[reward] if isinstance(reward, str) else reward
        check_reward_function(self._reward, "Grader()", "Scored")
        self._failures = failures
        self._extract = extract
        self._options = replace(
            options_of(spec, "Grader()"), language=language, flags=cpp_flags or ""
        )
        check_language_of("Grader()", language, cpp_flags)
        self._language = language
        if reward == "fraction" and spec.all_tests is None:
            self._options = replace(self._options, stop=Stop.LATE)
        problems_read = () if problems is None else read(checked(problems), spec).problems
        self._names = Names(problems_read, "Grader")
        kinds = {each.kind for each in problems_read} or Kind
        if not any(extract in (*rules_for(each).extractors, CODE) for each in kinds):
            rules_for(next(iter(kinds))).extractor(extract, EXTRACT, [CODE])
        choice = isolate(LOG, spec.require_isolation, unsafe=spec.unsafe_no_sandbox)
        self._pool = WarmPool(spec.where, choice.isolation)
        self._pool.end_with(self)

    def __call__(self, problem: "Problem | str", text: str) -> float | None:
        """Return the reward of one text. Raises GradingError."""
        return self.score([problem], [text])[0]

    def score(
        self, problems: "Sequence[Problem | str]", texts: Sequence[str]
    ) -> list[float | None]:
        """Return the reward of each text.

        Args:
            problems: one problem or id for each text.
            texts: the model's texts.

        Returns:
            The rewards; None for a text that was not judged, if `failures` is `none`.

        Raises:
            GradingError: some texts could not be judged, and `failures` is `raise`.
            UsageError: the lists differ in length, an id is unknown, the reward function returns no
                number, or the grader is closed, also meanwhile by another thread.
        """
        return self._rewards(self.grade(problems, texts))

    async def ascore(
        self, problems: "Sequence[Problem | str]", texts: Sequence[str]
    ) -> list[float | None]:
        """Async version of `score`."""
        return self._rewards(await self.agrade(problems, texts))

    def grade(self, problems: "Sequence[Problem | str]", texts: Sequence[str]) -> list[Scored]:
        """Return the verdict on each text; `failed` marks those that could not be judged."""
        future = self._begin(problems, texts)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def agrade(
        self, problems: "Sequence[Problem | str]", texts: Sequence[str]
    ) -> list[Scored]:
        """Async version of `grade`."""
        import asyncio

        return await asyncio.wrap_future(self._begin(problems, texts))

    def close(self) -> None:
        """Stop the sandboxes and cancel judging in progress."""
        self._pool.close()

    def _begin(
        self, problems: "Sequence[Problem | str]", texts: Sequence[str]
    ) -> "Future[list[Scored]]":
        pairs = self._pairs(problems, texts)
        return self._pool.begin(lambda pool: self._judged(pool, pairs))

    def _pairs(
        self, problems: "Sequence[Problem | str]", texts: Sequence[str]
    ) -> "list[tuple[Problem, str]]":
        from harness.problem import Problem
        from harness.run.plan.languages import check_language
        from harness.run.plan.problem_kinds import check_settings, rules_of

        lists = hasattr(problems, "__len__") and hasattr(texts, "__len__")
        if not lists or isinstance(problems, str | Problem) or isinstance(texts, str):
            raise UsageError("Grader: give a list of problems and a list of texts")
        if len(problems) != len(texts):
            raise UsageError(
                f"Grader: {len(texts)} texts for {len(problems)} problems; give one for each"
            )
        for number, problem in enumerate(problems):
            if not isinstance(problem, str | Problem):  # pyright: ignore[reportUnnecessaryIsInstance] - untyped
                what = f"is a {type(problem).__name__}: give an id or a Problem"
                raise UsageError(f"Grader: problems[{number}] {what}")
        for number, text in enumerate(texts):
            if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - untyped
                raise UsageError(f"Grader: texts[{number}] is a {type(text).__name__}, no text")
        named = (self._names.find(each) if isinstance(each, str) else each for each in problems)
        pairs = list(zip(named, texts, strict=True))
        check_settings(rules_of(problem for problem, _ in pairs), self._said, caller="Grader()")
        flags = self._options.flags
        check_language(self._language, (problem for problem, _ in pairs), flags=flags)
        return pairs

    async def _judged(
        self, pool: "Executor", pairs: "Sequence[tuple[Problem, str]]"
    ) -> list[Scored]:
        import asyncio

        from harness.features.grade.solutions import CODE, MatchedSolution
        from harness.grading.verdict import Verdict
        from harness.run.plan.problem_kinds import rules_of

        rules = rules_of((problem for problem, _ in pairs), self._language)
        name = "harness" if self._extract == CODE else self._extract
        search = rules.extractor(name, EXTRACT, [CODE])

        def matched() -> list[MatchedSolution]:
            matched: list[MatchedSolution] = []
            for number, (problem, text) in enumerate(pairs):
                code, rule = text, ""
                if self._extract != CODE:
                    extraction = search(text, problem.entry_point)
                    code, rule = extraction.code, extraction.rule
                each = MatchedSolution(problem, number, code, rule, None, self._language)
                matched.append(each)
            return matched

        todo = await asyncio.to_thread(matched)
        done: dict[int, Scored] = {}
        for _ in range(TRIES):
            left = [
                each
                for each in todo
                if each.index not in done or done[each.index].verdict is Verdict.SANDBOX_ERROR
            ]
            await self._judge(pool, left, done)
        return [done[each.index] for each in todo]

    async def _judge(
        self, pool: "Executor", matched: "Sequence[MatchedSolution]", done: dict[int, Scored]
    ) -> None:
        from harness.features.grade.solutions import judge_matched

        def keep(judged: "Judged") -> None:
            each = matched[judged.number]
            done[each.index] = Scored(
                each.problem.id,
                judged.grade.verdict,
                each.code,
                each.extraction,
                judged.cause,
                judged.grade,
            )

        if matched:
            await judge_matched(pool, matched, self._options, keep)

    def _rewards(self, scored: Sequence[Scored]) -> list[float | None]:
        if self._failures == "raise" and any(each.failed for each in scored):
            raise GradingError(scored)
        from harness.run.settings.reward_functions import reward_value

        return [
            None if each.failed else reward_value(self._reward, each, "Grader()") for each in scored
        ]


REWARDS: Mapping[str, Callable[[Scored], float]] = {
    "passed": lambda each: float(each.passed),
    "fraction": lambda each: each.fraction,
}
