"""`Episode`: what its methods do, and which mistakes are told in one line."""

import asyncio
import gc
import multiprocessing
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from for_each import for_each
from processes import children, wait_for_end

import harness
from harness import Episode, Episodes, UsageError

pytestmark = pytest.mark.usefixtures("kept_sandbox")

THRICE = "print(input() * 3)"
TOOLS = ("read_problem", "write_solution", "run_tests")
WRITE = {"name": "write_solution", "arguments": {"code": THRICE}}
RUN = {"id": "call_9", "type": "function", "function": {"name": "run_tests", "arguments": "{}"}}


class TestSteps:
    def test_an_episode_goes_from_the_opening_to_the_reward(self, episode: Episode) -> None:
        opening = episode.reset("own/three")
        assert [each["role"] for each in opening] == ["system", "user"]
        assert not episode.done
        step = episode.step([{"name": "read_problem"}])
        assert (step.done, step.stop_reason, step.restarted) == (False, None, False)
        (message,) = step.messages
        assert message["role"] == "tool"
        assert "Print the input, thrice." in message["content"]
        assert "222" not in message["content"], "a hidden test"
        step = episode.step([WRITE, RUN])
        assert (step.done, step.stop_reason) == (True, "public_tests_passed")
        assert step.messages == []
        assert episode.stop_reason == "public_tests_passed"
        reward = episode.reward()
        assert (reward.value, reward.solved, reward.hidden_total) == (1.0, True, 4)
        assert reward.code == THRICE
        assert episode.reward() is reward, "judged once"

    def test_an_answer_may_be_a_message(self, episode: Episode) -> None:
        episode.reset("own/three")
        step = episode.step({"role": "assistant", "content": "So:", "tool_calls": [RUN]})
        assert step.messages[0]["tool_call_id"] == "call_9"
        assert episode.messages[-2]["content"] == "So:"

    def test_words_bring_a_reminder_and_then_the_end(self, episode: Episode) -> None:
        episode.reset("own/three")
        (reminder,) = episode.step("I think.").messages
        assert reminder["role"] == "user"
        assert "3 turns left" in reminder["content"]
        step = episode.step("", cut_off=True)
        assert step.restarted, "it goes on in text, as a single shot begins"
        assert [each["role"] for each in step.messages] == ["system", "user"]
        assert (step.messages, episode.tools) == (episode.messages, [])
        assert not any(name in str(step.messages) for name in TOOLS)
        step = episode.step("I give up.")
        assert not step.restarted, "in text, the conversation grows"
        assert [each["role"] for each in step.messages] == ["user"]
        assert not any(name in str(step.messages) for name in TOOLS)
        assert episode.step("I give up.").stop_reason == "turn_limit"
        assert episode.reward().verdict == "no_solution"
        assert episode.reward().value == 0.0

    def test_code_in_words_is_judged_as_an_evaluation_judges_it(self, episode: Episode) -> None:
        episode.reset("own/three")
        for _ in range(3):
            step = episode.step(f"```\n{THRICE}\n```")
        assert step.done
        reward = episode.reward()
        assert (reward.code, reward.solved, reward.format) == (THRICE, True, 0.0)

    def test_the_turns_are_limited(self, episode: Episode) -> None:
        episode.reset("own/three")
        for _ in range(3):
            assert not episode.step([{"name": "read_problem"}]).done
        assert episode.step([{"name": "read_problem"}]).stop_reason == "turn_limit"
        with pytest.raises(UsageError, match=r"is over \(turn_limit\): call reset"):
            episode.step("More.")

    def test_a_reset_forgets(self, episode: Episode) -> None:
        first = episode.reset("own/three")
        episode.step([WRITE, RUN])
        assert episode.reset("own/three") == first
        assert episode.reward().verdict == "no_solution"

    def test_an_episode_of_rows_owns_its_sandboxes(self, rows: tuple[harness.Problem, ...]) -> None:
        with Episode(rows, reward="fraction", workers=1, max_turns=2) as own:
            own.reset("double")
            own.step([{"name": "write_solution", "arguments": {"code": "def double(n): return 2"}}])
            assert own.reward().value == 1.0
        with pytest.raises(UsageError, match="the set of episodes is closed"):
            own.reset("double")


class TestInText:
    @pytest.fixture
    def episode(self, rows: tuple[harness.Problem, ...]) -> Iterator[Episode]:
        with Episodes(rows, tool_protocol="text", workers=1, max_turns=4) as episodes:
            yield Episode(episodes)

    def test_an_episode_is_the_loop_in_text_in_one_conversation(self, episode: Episode) -> None:
        opening = episode.reset("own/three")
        assert [each["role"] for each in opening] == ["system", "user"]
        assert episode.tools == []
        step = episode.step("```python\nprint(1)\n```")
        assert (step.done, step.restarted) == (False, False)
        (report,) = step.messages
        assert report["role"] == "user"
        assert "0 of 1 public tests passed" in report["content"]
        assert "print(1)" not in report["content"], "it stands in the answer above"
        assert len(episode.messages) == len(opening) + 2
        assert not any(name in str(episode.messages) for name in TOOLS)
        step = episode.step(f"```python\n{THRICE}\n```")
        assert (step.done, step.stop_reason) == (True, "public_tests_passed")
        assert episode.reward().solved

    def test_a_repeat_begins_anew_with_the_opening(self, episode: Episode) -> None:
        opening = episode.reset("own/three")
        assert not episode.step("```python\nprint(1)\n```").restarted
        step = episode.step("```python\nprint(1)  # the same\n```")
        assert (step.restarted, step.messages) == (True, opening)

    def test_fresh_conversations_are_refused_in_one_line(
        self, rows: tuple[harness.Problem, ...]
    ) -> None:
        with pytest.raises(UsageError, match="context='fresh' goes with native tools") as caught:
            Episodes(rows, tool_protocol="text", context="fresh")
        assert "\n" not in str(caught.value)


class TestTools:
    def test_tools_can_be_called_as_methods(self, episode: Episode) -> None:
        episode.reset("own/three")
        assert "thrice" in episode.read_problem()
        assert (
            episode.run_tests()
            == "There is no solution yet. Hand one in with write_solution first."
        )
        assert episode.write_solution("print(input())").startswith("Saved revision 1")
        assert episode.run_tests().startswith("0 of 1 public tests passed")
        assert episode.write_solution(THRICE).startswith("Saved revision 2")
        assert episode.run_tests().startswith("All 1 public tests passed")
        assert episode.done
        assert episode.run_tests() == "The episode is over: the call was not carried out."
        reward = episode.reward()
        assert (reward.value, reward.tool_calls, reward.stop_reason) == (
            *(1.0, 6),
            "public_tests_passed",
        )

    def test_their_calls_are_not_turns_that_end_it(self, episode: Episode) -> None:
        episode.reset("own/three")
        for _ in range(6):
            episode.read_problem()
        assert not episode.done

    def test_a_call_that_makes_no_sense(self, episode: Episode) -> None:
        episode.reset("own/three")
        assert "There is no tool 'fly'" in episode.call("fly", {"high": 1})
        assert "not valid JSON" in episode.call("write_solution", "{")
        assert episode.reward().malformed == 2

    def test_however_many_calls_fail_each_has_its_own_answer_and_the_episode_goes_on(
        self, episode: Episode
    ) -> None:
        episode.reset("own/three")
        replies = [episode.call("write_solution", f"{{{number}") for number in range(5)]
        assert all("write_solution" in reply for reply in replies), replies
        assert not episode.done
        assert episode.write_solution(THRICE).startswith("Saved revision 1")
        assert episode.run_tests().startswith("All 1 public tests passed")
        assert (episode.reward().verdict, episode.reward().malformed) == ("accepted", 5)

    def test_schemas_before_a_reset(self, episodes: Episodes) -> None:
        fresh = Episode(episodes)
        schemas: list[Any] = [each["function"] for each in fresh.tools]
        assert [each["name"] for each in schemas] == ["read_problem", "write_solution", "run_tests"]
        assert schemas[1]["parameters"]["required"] == ["code"]

    def test_settings_add_run_code_and_submit(self, rows: tuple[harness.Problem, ...]) -> None:
        keys: Any = {"run_code_tool": True, "submit_tool": True, "stop_on_pass": False}
        with Episodes(rows, workers=1, **keys) as episodes:
            episode = Episode(episodes)
            episode.reset("own/three")
            reply = episode.call("run_code", {"code": "print(input() * 2)", "stdin": "7"})
            assert "77" in reply
            episode.write_solution(THRICE)
            episode.run_tests()
            assert not episode.done, "it goes on after a pass"
            episode.call("submit")
            assert episode.stop_reason == "submitted"


class TestManyAtOnce:
    @pytest.fixture
    def kept_sandbox(self) -> None:
        """They start their own."""

    async def test_an_episode_works_in_a_running_loop(self, episodes: Episodes) -> None:
        async def one(number: int) -> tuple[float | None, str]:
            episode = Episode(episodes)
            await episode.areset("own/three")
            code = THRICE if number % 2 else "print(1)"
            await episode.acall("write_solution", {"code": code})
            reply = await episode.acall("run_tests")
            return (await episode.areward()).value, reply

        outcomes = await asyncio.gather(*(one(number) for number in range(60)))
        assert [value for value, _ in outcomes] == [-0.0 if n % 2 == 0 else 1.0 for n in range(60)]
        assert len({report[:8] for _, report in outcomes}) == 2

    def test_episodes_run_in_threads_at_once(self, episodes: Episodes) -> None:
        barrier = threading.Barrier(4)

        def one(number: int) -> float | None:
            episode = Episode(episodes)
            barrier.wait()
            episode.reset("own/three")
            episode.write_solution(THRICE if number % 2 else "print(1)")
            return episode.reward().value

        with ThreadPoolExecutor(4) as pool:
            assert list(pool.map(one, range(4))) == [0.0, 1.0, 0.0, 1.0]

    def test_episodes_of_a_set_share_sandboxes_that_end_with_it(
        self, rows: tuple[harness.Problem, ...]
    ) -> None:
        before = {each.pid for each in multiprocessing.active_children()} | children()
        own = Episodes(rows, workers=1)
        for _ in range(5):
            episode = Episode(own)
            episode.reset("own/three")
            episode.write_solution(THRICE)
            episode.reward()
        assert len(children() - before) == 1
        del own, episode
        gc.collect()
        wait_for_end(before)


class TestMistakes:
    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (5, "a int is not an answer"),
            ([5], "a int is not a tool call"),
            ({"tool_calls": 5}, "a int is not an answer"),
        ],
    )
    def test_a_malformed_step_is_refused(self, episode: Episode, given: Any, message: str) -> None:
        episode.reset("own/three")
        with pytest.raises(UsageError, match=message):
            episode.step(given)

    def test_before_a_reset(self, episodes: Episodes) -> None:
        with pytest.raises(UsageError, match="has not begun: call reset"):
            Episode(episodes).step("Hello")

    @for_each(
        ("keys", "message"),
        [
            ({"reward": "huge"}, "reward 'huge': give solved, fraction, shaped or a function"),
            ({"part": "test"}, "part 'test': give 'train' or 'held_out'"),
            ({"part": "train", "held_out": 2}, "held_out 2: give a share"),
            ({"max_truns": 2}, "unknown key 'max_truns'; did you mean 'max_turns'"),
            ({"test_timeout": "reference*3"}, "give seconds"),
            ({"prompt": "none such"}, "no prompt set or folder 'none such'"),
            ({"extract": "none such"}, "^extract none such: known are"),
            ({"exclude": ["own/three", "echo", "own/echo", "double", "untested"]}, "is left"),
        ],
    )
    def test_a_wrong_setting_is_refused(
        self, rows: tuple[harness.Problem, ...], keys: Any, message: str
    ) -> None:
        with pytest.raises(harness.HarnessError, match=message.replace("*", r"\*")):
            Episodes(rows, **keys)

    def test_settings_of_one_of_many(self, episodes: Episodes) -> None:
        with pytest.raises(UsageError, match="settings belong to the Episodes"):
            Episode(episodes, max_turns=3)

    def test_an_unknown_problem(self, episode: Episode) -> None:
        with pytest.raises(UsageError, match="no problem is called 'own/thre'; did you mean"):
            episode.reset("own/thre")
