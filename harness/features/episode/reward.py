"""The reward of an episode: its parts, and the rules that combine them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Literal

from harness.agent.attempt import Attempt, ChosenBy
from harness.errors import UsageError
from harness.grading.verdict import UNKNOWN, Grade, Verdict
from harness.run.settings.reward_functions import check_reward_function, reward_value

OVERFIT_PENALTY = 0.2
FORMAT_PENALTY = 0.1
PARTLY = 0.5  # weight of the share of hidden tests in `shaped` if not all tests pass


@dataclass(frozen=True, slots=True)
class EpisodeReward:
    """A reward and its parts.

    Attributes:
        value: the reward; None if infrastructure failed, which is not the model's fault.
        verdict: verdict of the first failed test, or `accepted`.
        hidden_passed, hidden_total: numbers of hidden tests passed and of all hidden tests.
        public_passed, public_total: the same for the public tests, which the model may run.
        overfit: whether every public test passed but a hidden one failed.
        format: share of well-formed tool calls, 0 to 1; 0 if no solution was submitted through a
            tool.
        turns: number of the model's answers; each call of a tool method counts as one.
        tool_calls: number of tool calls.
        malformed: number of malformed tool calls among them.
        code: the judged solution; empty if there was none.
        stop_reason: why the episode ended, a value of `harness.agent.attempt.StopReason`.
        cause: the infrastructure failure; empty if there was none.
        grade: results of all tests that were run; None if nothing was judged.
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
        """Whether infrastructure failed or there are no tests, so no value exists."""
        return self.verdict in UNKNOWN

    @property
    def fraction(self) -> float:
        """Share of the points, 0 to 1; where there are none, of hidden tests passed.

        That of public tests where none is hidden.
        """
        if self.grade is not None and self.grade.score is not None:
            return self.grade.score.share
        passed, total = self.hidden_passed, self.hidden_total
        if not total:
            passed, total = self.public_passed, self.public_total
        return passed / total if total else 0.0


def _shaped(reward: EpisodeReward) -> float:
    """Return 1 if solved, else half the share of hidden tests, minus penalties.

    Overfitting and malformed tool calls are penalized. The rule is specific to this project. Its
    range is -0.3 to 1; a solution that passes every test gets at least 0.9, any other at most 0.5.
    """
    value = 1.0 if reward.solved else PARTLY * reward.fraction
    value -= OVERFIT_PENALTY * reward.overfit
    broken = reward.malformed / reward.tool_calls if reward.tool_calls else 0.0
    return value - FORMAT_PENALTY * broken


RewardFunction = Callable[[EpisodeReward], float]
RewardRule = Literal["solved", "fraction", "shaped"] | RewardFunction
"""Name of a rule, or a function of an `EpisodeReward` without `value`."""

RULES: Mapping[str, RewardFunction] = MappingProxyType(
    {
        "solved": lambda each: float(each.solved),
        "fraction": lambda each: each.fraction,
        "shaped": _shaped,
    }
)


def find_reward(rule: RewardRule, caller: str) -> RewardFunction:
    """Return the function of a rule. Raises UsageError if it is none."""
    if callable(rule):
        check_reward_function(rule, caller, "EpisodeReward")
        return rule
    if rule not in RULES:
        raise UsageError(f"{caller}: reward {rule!r}: give {', '.join(RULES)} or a function")
    return RULES[rule]


def lost(problem_id: str, attempt: Attempt | None, cause: str, stop_reason: str) -> EpisodeReward:
    """Return the reward, without value, of an episode that infrastructure ended."""
    empty = EpisodeReward(problem_id, cause=cause, stop_reason=stop_reason)
    return empty if attempt is None else _with_attempt(empty, attempt)


def reward_of(
    problem_id: str, attempt: Attempt, grade: Grade, rule: RewardFunction
) -> EpisodeReward:
    """Return the reward of a judged solution.

    Args:
        problem_id: id of the problem.
        attempt: the attempt that produced the solution.
        grade: grade of the solution on all tests.
        rule: computes the value from the parts; not called if infrastructure failed.
    """
    public = grade.public_passed, grade.public_total
    parts = EpisodeReward(
        problem_id,
        verdict=grade.verdict,
        hidden_passed=grade.hidden_passed,
        hidden_total=grade.hidden_total,
        public_passed=grade.public_passed,
        public_total=grade.public_total,
        overfit=public[0] == public[1] > 0 and grade.hidden_passed < grade.hidden_total,
        cause=grade.checker_error or ("" if grade.verdict is not Verdict.UNGRADED else "no tests"),
        grade=grade,
    )
    parts = _with_attempt(parts, attempt)
    return parts if parts.failed else replace(parts, value=reward_value(rule, parts, "Episode"))


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
