"""Rewards of episodes: their parts, their rules, and that infrastructure is never worth 0."""

from typing import Any

import pytest
from for_each import for_each

import harness
from harness import Episode, EpisodeReward, Episodes, UsageError
from harness.features.episode.reward import RULES
from harness.grading.jobs import Judgement
from harness.grading.verdict import Grade, Verdict
from harness.sandbox.execution import SandboxError
from harness.sandbox.worker import Worker

pytestmark = pytest.mark.usefixtures("kept_sandbox")

Problems = tuple[harness.Problem, ...]
TWO_OF_FOUR = "n = int(input())\nprint(str(n) * 3 if n < 4 else 0)"  # and the public one


def reward_of(episode: Episode, code: str, problem: str = "own/three") -> EpisodeReward:
    episode.reset(problem)
    episode.write_solution(code)
    return episode.reward()


def test_a_reward_has_its_parts(episode: Episode) -> None:
    reward = reward_of(episode, TWO_OF_FOUR)
    assert (reward.verdict, reward.solved) == ("wrong_answer", False)
    assert (reward.public_passed, reward.public_total) == (1, 1)
    assert (reward.hidden_passed, reward.hidden_total) == (2, 4)
    assert (reward.fraction, reward.overfit, reward.format) == (0.5, True, 1.0)
    assert (reward.turns, reward.tool_calls, reward.stop_reason) == (1, 1, "model_stopped")
    assert reward.value == pytest.approx(0.5 * 0.5 - 0.2)
    assert reward.grade is not None
    assert len(reward.grade.tests) == 5, "all tests are run, whatever failed"


def test_failing_a_public_test_is_no_overfit(episode: Episode) -> None:
    reward = reward_of(episode, "print(222)")
    assert (reward.hidden_passed, reward.overfit) == (1, False)
    assert reward.value == 0.125


def test_broken_calls_cost_a_little(episode: Episode) -> None:
    episode.reset("own/three")
    episode.call("fly")
    episode.write_solution("print(input() * 3)")
    reward = episode.reward()
    assert (reward.format, reward.malformed) == (0.5, 1)
    assert reward.value == pytest.approx(0.95)


@for_each(
    ("rule", "value"), [("solved", 0.0), ("fraction", 0.5), (lambda each: each.turns * 10.0, 10.0)]
)
def test_each_reward_rule_gives_its_value(rows: Problems, rule: Any, value: float) -> None:
    with Episodes(rows, reward=rule, workers=1) as episodes:
        assert reward_of(Episode(episodes), TWO_OF_FOUR).value == value


@pytest.mark.thorough
def test_all_tests_are_run_for_a_share_alone(rows: Problems) -> None:
    """One that runs out of time ends the judging where only all or nothing counts."""
    spin = "n = int(input())\nwhile n == 2: pass\nprint(str(n) * 3)"
    passed: list[int] = []
    for rule in ("solved", "fraction"):
        with Episodes(rows, reward=rule, workers=1, test_timeout=0.3) as episodes:
            passed.append(reward_of(Episode(episodes), spin).hidden_passed)
    assert passed == [0, 3]


def test_shaped_has_its_bounds() -> None:
    worst = EpisodeReward(
        "x", verdict=Verdict.WRONG_ANSWER, overfit=True, tool_calls=1, malformed=1, hidden_total=9
    )
    best = EpisodeReward("x", verdict=Verdict.ACCEPTED, hidden_passed=9, hidden_total=9)
    assert RULES["shaped"](worst) == pytest.approx(-0.3)
    assert RULES["shaped"](best) == 1.0


def test_the_mistake_of_a_rule_is_raised(rows: Problems) -> None:
    def rule(reward: EpisodeReward) -> float:
        return 1 / reward.hidden_passed

    with Episodes(rows, reward=rule, workers=1) as episodes, pytest.raises(ZeroDivisionError):
        reward_of(Episode(episodes), "print(0)")


def test_a_function_that_gives_no_reward_is_refused(rows: Problems) -> None:
    async def in_time(reward: EpisodeReward) -> float:
        return reward.fraction

    with pytest.raises(UsageError, match=r"Episodes\(\): reward function .*in_time is async: give"):
        Episodes(rows, reward=in_time)  # pyright: ignore[reportArgumentType]
    with pytest.raises(UsageError, match="<lambda> must take one argument, the EpisodeReward"):
        Episodes(rows, reward=lambda: 1.0)  # pyright: ignore[reportArgumentType]


@for_each("value", ["hi", None])
def test_a_reward_that_is_no_number_names_its_function(value: object, rows: Problems) -> None:
    def mine(_reward: EpisodeReward) -> Any:
        return value

    message = rf"reward function .*mine returned {value!r}, a .*: it must return a number"
    with (
        Episodes(rows, reward=mine, workers=1) as episodes,
        pytest.raises(UsageError, match=message),
    ):
        reward_of(Episode(episodes), "print(0)")


class TestInfrastructure:
    @pytest.fixture
    def broken(self, monkeypatch: pytest.MonkeyPatch) -> list[int]:
        """The sandbox fails so many times."""
        left = [0]
        whole = Judgement.__call__

        def judge(self: Judgement, worker: Worker) -> Grade:
            if left[0]:
                left[0] -= 1
                raise SandboxError("the machine is on fire")
            return whole(self, worker)

        monkeypatch.setattr(Judgement, "__call__", judge)
        return left

    def test_while_the_tests_run(self, episode: Episode, broken: list[int]) -> None:
        episode.reset("own/three")
        broken[0] = 1
        step = episode.step([{"name": "write_solution", "arguments": {"code": "print(1)"}}])
        assert not step.done
        step = episode.step([{"name": "run_tests"}])
        assert (step.done, step.stop_reason) == (True, "sandbox_error")
        reward = episode.reward()
        assert (reward.value, reward.failed, reward.verdict) == (None, True, "sandbox_error")
        assert "on fire" in reward.cause

    def test_while_a_tool_method_runs(self, episode: Episode, broken: list[int]) -> None:
        episode.reset("own/three")
        episode.write_solution("print(1)")
        broken[0] = 1
        assert "not the solution's fault" in episode.run_tests()
        assert "not the solution's fault" in episode.read_problem()
        assert episode.reward().value is None

    @pytest.mark.parametrize(("times", "value"), [(1, 1.0), (2, None)])
    def test_while_it_is_judged(
        self, episode: Episode, broken: list[int], times: int, value: float | None
    ) -> None:
        """Once is tried again; twice is not a reward."""
        episode.reset("own/three")
        episode.step(
            [
                {"name": "write_solution", "arguments": {"code": "print(input() * 3)"}},
                {"name": "run_tests"},
            ]
        )
        broken[0] = times
        assert episode.reward().value == value

    def test_a_problem_without_tests_has_no_reward(self, episode: Episode) -> None:
        reward = reward_of(episode, "print()", "untested")
        assert (reward.value, reward.verdict, reward.cause) == (None, "ungraded", "no tests")
        episode.reset("untested")
        assert episode.reward().value is None, "nor has nothing at all"
