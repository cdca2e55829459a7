"""What an episode is worth: its parts, and the rules that make one number of them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from harness.agent.attempt import Attempt, ChosenBy
from harness.errors import UsageError
from harness.grading.verdict import INFRASTRUCTURE, Grade, Verdict

OVERFIT_PENALTY = 0.2
FORMAT_PENALTY = 0.1
PARTLY = 0.5  # of what `shaped` gives for hidden tests where not all tests pass


@dataclass(frozen=True, slots=True)
class EpisodeReward:
    """A reward and its parts.

    Attributes:
        value: the number; None where infrastructure failed, which says nothing of the model.
        verdict: that of the first test that failed, else `accepted`.
        hidden_passed, hidden_total: hidden tests that passed, of how many.
        public_passed, public_total: the same for the public tests, which the model may run.
        overfit: every public test passed, and a hidden one failed.
        format: the share of tool calls that could be understood, 0 to 1; 0 where no solution was
            handed in through a tool.
        turns: answers of the model; calls of tool methods count as one each.
        tool_calls: how many tools were called; `malformed` of them could not be understood.
        code: the solution that was judged; empty where there was none.
        stop_reason: why the episode ended, a word of `harness.agent.attempt.StopReason`.
        cause: why infrastructure failed; empty where it did not.
        grade: every test that was run; None where nothing was judged.
    """

    problem_id: str
    value: float | None = None
    verdict: Verdict = Verdict.SANDBOX_ERROR
    hidden_passed: int = 0
    hidden_total: int = 0
    public_passed: int = 0
    public_total: int = 0
    overfit: bool = False
    format: float = 0.0
    turns: int = 0
    tool_calls: int = 0
    malformed: int = 0
    code: str = ""
    stop_reason: str = ""
    cause: str = ""
    grade: Grade | None = field(default=None, repr=False)

    @property
    def solved(self) -> bool:
        """Whether every test passed."""
        return self.verdict is Verdict.ACCEPTED

    @property
    def failed(self) -> bool:
        """Whether infrastructure failed or no test exists, so that there is no value."""
        return self.verdict in INFRASTRUCTURE | {Verdict.UNGRADED}

    @property
    def fraction(self) -> float:
        """Hidden tests passed, of all hidden ones, 0 to 1; of all tests where none is hidden."""
        passed, total = self.hidden_passed, self.hidden_total
        if not total:
            passed, total = self.public_passed, self.public_total
        return passed / total if total else 0.0


def _solved(reward: EpisodeReward) -> float:
    return float(reward.solved)


def _fraction(reward: EpisodeReward) -> float:
    return reward.fraction


def _shaped(reward: EpisodeReward) -> float:
    """1 when solved, else half the share of hidden tests; less for over-fit and broken calls.

    This rule is our own. It lies between -0.3 and 1, and a solution that passes every test is
    worth at least 0.9, any other at most 0.5.
    """
    value = 1.0 if reward.solved else PARTLY * reward.fraction
    value -= OVERFIT_PENALTY * reward.overfit
    broken = reward.malformed / reward.tool_calls if reward.tool_calls else 0.0
    return value - FORMAT_PENALTY * broken


RewardFunction = Callable[[EpisodeReward], float]
RewardRule = Literal["solved", "fraction", "shaped"] | RewardFunction
"""A rule by its name, or a function of an `EpisodeReward` whose `value` is still None."""

RULES: Mapping[str, RewardFunction] = MappingProxyType(
    {"solved": _solved, "fraction": _fraction, "shaped": _shaped}
)


def find_reward(rule: RewardRule, caller: str) -> RewardFunction:
    """Return the function of a rule. Raises UsageError where there is none of that name."""
    if callable(rule):
        return rule
    if rule not in RULES:
        raise UsageError(f"{caller}: reward {rule!r}: give {', '.join(RULES)} or a function")
    return RULES[rule]


def lost(problem_id: str, attempt: Attempt | None, cause: str, stop_reason: str) -> EpisodeReward:
    """Return the reward of an episode that infrastructure stopped: it has no value."""
    empty = EpisodeReward(problem_id, cause=cause, stop_reason=stop_reason)
    return empty if attempt is None else _with_attempt(empty, attempt)


def reward_of(
    problem_id: str, attempt: Attempt, grade: Grade, rule: RewardFunction
) -> EpisodeReward:
    """Return the reward of a solution that was judged.

    Args:
        problem_id: of the problem.
        attempt: the solution, and how it came about.
        grade: of it, on all tests.
        rule: makes one number of the parts; not asked where infrastructure failed.
    """
    public = grade.public_passed, grade.public_total
    parts = EpisodeReward(
        problem_id,
        verdict=grade.verdict,
        hidden_passed=grade.hidden_passed,
        hidden_total=grade.hidden_total,
        public_passed=grade.public_passed,
        public_total=grade.public_total,
        overfit=public[0] == public[1] > 0 and not grade.solved,
        cause=grade.checker_error or ("" if grade.verdict is not Verdict.UNGRADED else "no tests"),
        grade=grade,
    )
    parts = _with_attempt(parts, attempt)
    return parts if parts.failed else replace(parts, value=float(rule(parts)))


def _with_attempt(reward: EpisodeReward, attempt: Attempt) -> EpisodeReward:
    calls, malformed = attempt.tool_calls, attempt.malformed_tool_calls
    by_tool = attempt.chosen_by in {ChosenBy.PASSED_PUBLIC_TESTS, ChosenBy.NEWEST}
    return replace(
        reward,
        format=(calls - malformed) / calls if calls and by_tool else 0.0,
        turns=attempt.model_calls,
        tool_calls=calls,
        malformed=malformed,
        code=attempt.code,
        stop_reason=attempt.stop_reason.value,
    )
