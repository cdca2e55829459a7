"""`Grader`: verdicts and rewards for texts, batch after batch, with the sandboxes kept warm.

Made for training loops: a text is what a model wrote, the code in it is found by a rule, and what
infrastructure did is told apart from what the model did. A failure of the former is raised, or
given as None; it is never a reward of 0.
"""

import asyncio
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Literal, Unpack

from harness.closing import Closing
from harness.errors import HarnessError, UsageError
from harness.features.grade.grade_run import CODE, judge_matched, options_of
from harness.features.grade.solution_match import MatchedSolution
from harness.grading.jobs import Judged
from harness.grading.verdict import INFRASTRUCTURE, Grade, Verdict
from harness.problem import Problem
from harness.run.plan.problem_kinds import check_settings, rules_of, said_in
from harness.run.plan.problem_loader import Benchmark, checked, read
from harness.run.reporter import LOG
from harness.run.session.judging_session import isolate, vetted_in
from harness.run.session.warm_pool import WarmPool
from harness.run.spec.keys import JudgingKeys, spec_from
from harness.sandbox.executor import Executor
from harness.sources.problem_names import Names


@dataclass(frozen=True, slots=True)
class Scored:
    """What came of one text.

    Attributes:
        code: what was found in it, and `extraction` by which rule; empty where nothing was.
        cause: why infrastructure failed, where it did.
        grade: with every test that was run.
    """

    problem_id: str
    verdict: Verdict
    code: str
    extraction: str
    cause: str
    grade: Grade

    @property
    def passed(self) -> bool:
        """Whether every test passed."""
        return self.grade.solved

    @property
    def fraction(self) -> float:
        """Tests passed, of all the problem has; those that were not run count as failed."""
        total = self.grade.public_total + self.grade.hidden_total
        return (self.grade.public_passed + self.grade.hidden_passed) / total if total else 0.0

    @property
    def failed(self) -> bool:
        """Whether the verdict says nothing of the text: infrastructure failed, or no test is."""
        return self.verdict in INFRASTRUCTURE | {Verdict.UNGRADED}


class GradingError(HarnessError):
    """Some texts could not be judged, which says nothing of them.

    Attributes:
        scored: all of the batch, those that were judged among them; `failed` says which were not.
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


TRIES = 2
"""How often a text is judged whose sandbox failed."""


Reward = Literal["passed", "fraction"] | Callable[[Scored], float]
"""1 for what passes every test, else 0; the share of tests passed; or a function of one's own."""


class Grader(Closing):
    """A reward function over problems: `score(problems, texts)`, or call it with one of each.

    Sandboxes start when they are first needed and stay until `close`, or the end of the `with`
    block. It may be used from several threads at once, and in a running loop by `ascore`.

    Args:
        problems: that may be named by their ids, natively or in full; none need be given where
            `Problem`s are handed over.
        reward: what a verdict is worth.
        failures: what becomes of texts that could not be judged: `raise` a `GradingError`, or give
            `none`, None in their place.
        extract: how code is found in a text: `harness`, `lcb`, or `code` where it is the code.
        keys: of a spec, on judging: `workers=8`, `test_timeout=2`.

    Raises:
        HarnessError: as `load_problems` has it, for the problems; a key that is not there.
    """

    def __init__(
        self,
        problems: Benchmark | None = None,
        *,
        reward: Reward = "passed",
        failures: Literal["raise", "none"] = "raise",
        extract: str = "harness",
        **keys: Unpack[JudgingKeys],
    ) -> None:
        if not callable(reward) and reward not in REWARDS:
            raise UsageError(
                f"Grader(): reward {reward!r}: give {', '.join(REWARDS)} or a function"
            )
        if failures not in {"raise", "none"}:
            raise UsageError(f"Grader(): failures {failures!r}: give 'raise' or 'none'")
        self._said = said_in(spec_from("Grader()", keys, JudgingKeys, OWN))
        if reward == "fraction":  # which would else hang on where judging was left off
            keys.setdefault("all_tests", True)
        spec = spec_from("Grader()", keys, JudgingKeys, OWN)
        self._reward = REWARDS[reward] if isinstance(reward, str) else reward
        self._failures = failures
        self._extract = extract
        self._options = options_of(spec, "Grader()")
        self._names = Names(() if problems is None else read(checked(problems), spec).problems)
        self._vetted: dict[tuple[str, str], Problem] = {}
        choice = isolate(LOG, spec.require_isolation, unsafe=spec.unsafe_no_sandbox)
        self._pool = WarmPool(spec, choice.isolation)
        self._finish = weakref.finalize(self, self._pool.close)

    def __call__(self, problem: Problem | str, text: str) -> float | None:
        """The reward of one text. Raises GradingError."""
        return self.score([problem], [text])[0]

    def score(self, problems: Sequence[Problem | str], texts: Sequence[str]) -> list[float | None]:
        """The reward of each text; None, where failures are not raised, of what was not judged.

        Args:
            problems: one for each text.
            texts: what the model wrote.

        Raises:
            GradingError: some could not be judged, and failures are raised.
            UsageError: there are more of one than of the other, or an id is none.
        """
        return self._rewards(self.grade(problems, texts))

    async def ascore(
        self, problems: Sequence[Problem | str], texts: Sequence[str]
    ) -> list[float | None]:
        """The same in the running loop."""
        return self._rewards(await self.agrade(problems, texts))

    def grade(self, problems: Sequence[Problem | str], texts: Sequence[str]) -> list[Scored]:
        """The verdict on each text. What could not be judged is among them, as `failed`."""
        future = self._begin(problems, texts)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    async def agrade(self, problems: Sequence[Problem | str], texts: Sequence[str]) -> list[Scored]:
        """The same in the running loop."""
        return await asyncio.wrap_future(self._begin(problems, texts))

    def close(self) -> None:
        """End the sandboxes, and whatever is being judged."""
        self._finish()

    def _begin(
        self, problems: Sequence[Problem | str], texts: Sequence[str]
    ) -> Future[list[Scored]]:
        pairs = self._pairs(problems, texts)
        return self._pool.begin(lambda pool: self._judged(pool, pairs))

    def _pairs(
        self, problems: Sequence[Problem | str], texts: Sequence[str]
    ) -> list[tuple[Problem, str]]:
        if isinstance(problems, str | Problem) or isinstance(texts, str):
            raise UsageError("Grader: give a list of problems and a list of texts")
        if len(problems) != len(texts):
            raise UsageError(
                f"Grader: {len(texts)} texts for {len(problems)} problems; give one for each"
            )
        for number, text in enumerate(texts):
            if not isinstance(text, str):  # pyright: ignore[reportUnnecessaryIsInstance] - theirs
                raise UsageError(f"Grader: texts[{number}] is a {type(text).__name__}, no text")
        named = (self._names.find(each) if isinstance(each, str) else each for each in problems)
        pairs = list(zip(named, texts, strict=True))
        check_settings(rules_of(problem for problem, _ in pairs), self._said, caller="Grader()")
        return pairs

    async def _judged(self, pool: Executor, pairs: Sequence[tuple[Problem, str]]) -> list[Scored]:
        rules = rules_of(problem for problem, _ in pairs)
        search = rules.extractor("harness" if self._extract == CODE else self._extract)
        sound = await self._checked(pool, [problem for problem, _ in pairs])

        def matched(number: int, problem: Problem, text: str) -> MatchedSolution:
            if self._extract == CODE:
                return MatchedSolution(problem, number, text, "", None)
            found = search(text, problem.entry_point)
            return MatchedSolution(problem, number, found.code, found.rule, None)

        def all_matched() -> list[MatchedSolution]:
            return [
                matched(number, problem, text)
                for number, (problem, (_, text)) in enumerate(zip(sound, pairs, strict=True))
            ]

        todo = await asyncio.to_thread(all_matched)
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
        self, pool: Executor, matched: Sequence[MatchedSolution], done: dict[int, Scored]
    ) -> None:
        def keep(judged: Judged) -> None:
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

    async def _checked(self, pool: Executor, problems: Sequence[Problem]) -> list[Problem]:
        """The same with examples checked that nobody checked before, each problem once."""
        unseen = {
            (each.id, each.content_hash): each
            for each in problems
            if each.unchecked and (each.id, each.content_hash) not in self._vetted
        }
        for key, each in zip(unseen, await vetted_in(pool, [*unseen.values()], LOG), strict=True):
            self._vetted[key] = each
        return [self._vetted.get((each.id, each.content_hash), each) for each in problems]

    def _rewards(self, scored: Sequence[Scored]) -> list[float | None]:
        if self._failures == "raise" and any(each.failed for each in scored):
            raise GradingError(scored)
        return [None if each.failed else self._reward(each) for each in scored]


OWN = ("problems", "reward", "failures", "extract")
REWARDS: Mapping[str, Callable[[Scored], float]] = {
    "passed": lambda each: float(each.passed),
    "fraction": lambda each: each.fraction,
}
