"""CodeT, Reflexion and MapCoder: requests, written tests, choice, limits and going on."""

import math
from collections.abc import Awaitable, Callable

import pytest
from for_each import for_each
from scripted import Played, Sent, turn

from harness.agent.attempt import ChosenBy, Limits, StopReason
from harness.agent.events import RanWrittenTests, Request
from harness.agent.strategies.options import StrategyOptions
from harness.features.published.codet import agreement
from harness.features.published.map_coder import confidence, examples, section
from harness.features.published.modes import MAP_CODER
from harness.features.show.transcript_command import transcript_text
from harness.models.protocol import ModelError, ModelTurn
from harness.problem import ProblemView, TestCase
from harness.run.store.transcript import EVENT

Play = Callable[..., Awaitable[Played]]

NO_CODE = "There was no code in the answer, so nothing could be run."
NO_NEW_CODE = "There was no code in the latest answer; this is the solution before it."
RIGHT = "a, b = map(int, input().split())\nprint(a + b)\n"
DIFFERENCE = "a, b = map(int, input().split())\nprint(a - b)\n"
PRODUCT = "a, b = map(int, input().split())\nprint(a * b)\n"
FIRST_PUBLIC = "input()\nprint(3)\n"


def said(code: str) -> ModelTurn:
    return turn(text=f"Like this:\n```python\n{code}```")


def own_tests(*pairs: tuple[str, str]) -> ModelTurn:
    text = "Here they are.\n"
    for given, wanted in pairs:
        text += f"\nInput:\n```\n{given}\n```\nOutput:\n```\n{wanted}\n```\n"
    return turn(text=text)


def shown(sent: Sent) -> str:
    return str(getattr(sent.messages[-1], "content", ""))


def ran(played: Played) -> list[RanWrittenTests]:
    return [event for event in played.events if isinstance(event, RanWrittenTests)]


class TestAgreement:
    def test_a_score_is_the_tests_times_the_root_of_the_group(self) -> None:
        rows = [[True, True, False], [True, True, False], [False, True, True], [False] * 3]
        assert agreement(rows) == [2 * math.sqrt(2), 2 * math.sqrt(2), 2.0, 0.0]

    def test_repeated_tests_count_each_time(self) -> None:
        assert agreement([[True, False], [False, True]], [1, 5]) == [1.0, 5.0]


class TestCodeT:
    SCRIPT = (
        own_tests(("2 2", "4"), ("5 1", "6"), ("1 0", "1")),
        said(PRODUCT),
        said(RIGHT),
        said(DIFFERENCE),
    )
    OPTIONS = StrategyOptions(best_of=3)

    async def test_the_solution_that_agrees_with_most_tests_is_taken(self, play: Play) -> None:
        played = await play(*self.SCRIPT, mode="codet", options=self.OPTIONS)
        attempt = played.attempt
        assert (attempt.code, attempt.chosen_by) == (RIGHT.strip(), ChosenBy.AGREEMENT)
        assert (attempt.model_calls, len(attempt.revisions)) == (4, 3)
        (event,) = ran(played)
        assert event.passed == ((True, False, False), (True, True, True), (False, False, True))
        assert [test.input for test in attempt.written_tests] == ["2 2\n", "5 1\n", "1 0\n"]

    async def test_many_solutions_that_agree_outweigh_a_few_more_tests(self, play: Play) -> None:
        script = (own_tests(("2 2", "4"), ("3 3", "9"), ("3 3", "6"), ("0 5", "5")),)
        script += said(RIGHT), said(PRODUCT), said(PRODUCT), said(PRODUCT), said(PRODUCT)
        played = await play(*script, mode="codet", options=StrategyOptions(best_of=5))
        assert played.attempt.code == PRODUCT.strip()  # 2 * sqrt(4) against 3 * sqrt(1)

    @pytest.mark.thorough
    async def test_tests_are_asked_for_without_the_order_to_solve(self, play: Play) -> None:
        played = await play(*self.SCRIPT, mode="codet", options=self.OPTIONS)
        assert [len(sent.messages) for sent in played.heard] == [1, 2, 2, 2]
        assert "Do not solve it" in shown(played.heard[0])

    async def test_answers_with_tests_are_as_many_as_asked_for(self, play: Play) -> None:
        options = StrategyOptions(best_of=1, test_answers=2)
        script = own_tests(("1 1", "2")), own_tests(("1 1", "2"), ("2 3", "5")), said(RIGHT)
        played = await play(*script, mode="codet", options=options)
        assert ran(played)[0].passed == ((True, True),)

    async def test_where_no_test_is_passed_public_tests_choose(self, play: Play) -> None:
        script = turn(text="No tests."), said(DIFFERENCE), said(FIRST_PUBLIC)
        played = await play(*script, mode="codet", options=StrategyOptions(best_of=2))
        attempt = played.attempt
        assert attempt.code == FIRST_PUBLIC.strip()
        assert (attempt.chosen_by, attempt.written_tests) == (ChosenBy.MOST_PUBLIC_TESTS, ())

    async def test_a_limit_chooses_among_what_there_is(self, play: Play) -> None:
        limits = Limits(turns=9, tokens=300)
        played = await play(*self.SCRIPT, mode="codet", options=self.OPTIONS, limits=limits)
        attempt = played.attempt
        assert attempt.stop_reason is StopReason.TOKEN_LIMIT
        assert (attempt.code, attempt.model_calls) == (RIGHT.strip(), 3)

    async def test_a_failing_provider_is_a_model_error(self, play: Play) -> None:
        played = await play(self.SCRIPT[0], said(RIGHT), ModelError("down"), mode="codet")
        assert played.attempt.stop_reason is StopReason.MODEL_ERROR
        assert not ran(played)

    async def test_recorded_answers_and_test_runs_are_not_repeated(self, play: Play) -> None:
        before = await play(*self.SCRIPT, mode="codet", options=self.OPTIONS)
        stored = [EVENT.validate_json(EVENT.dump_json(event)) for event in before.events]
        again = await play(mode="codet", options=self.OPTIONS, recorded=stored)
        kept = ("code", "chosen_by", "usage", "model_calls", "written_tests")
        assert all(getattr(again.attempt, each) == getattr(before.attempt, each) for each in kept)
        assert (again.heard, again.events) == ([], [])

    async def test_the_transcript_shows_the_tests(self, play: Play) -> None:
        played = await play(*self.SCRIPT, mode="codet", options=self.OPTIONS)
        text = transcript_text(played.events)
        assert "3 tests, 3 solutions" in text
        assert "passed by 2:\n2 2\n-> 4" in text.replace("    ", "").replace("  ", "")


class TestWrittenTestsOfFunctions:
    TEXT = """Mind the sign.
```python
assert double(2) == 4, 'two'
assert Solution().double(-1) == -2
assert double(0) is 0
assert helper(1) == 1
assert double(x) == 3
```"""

    @pytest.fixture
    def doubling(self, problem: ProblemView) -> ProblemView:
        public = (TestCase(input="1", output="2", public=True),)
        return problem.model_copy(update={"entry_point": "double", "public_tests": public})

    async def test_only_assertions_on_the_function_with_values_are_used(
        self, play: Play, doubling: ProblemView
    ) -> None:
        script = turn(text=self.TEXT), said("def double(x):\n    return 2 * x\n")
        options = StrategyOptions(best_of=1)
        played = await play(*script, mode="codet", options=options, view=doubling)
        assertions = [(test.input, test.output) for test in played.attempt.written_tests]
        assert assertions == [("double(2)", "4"), ("double(-1)", "-2"), ("double(0)", "0")]
        assert ran(played)[0].passed == ((True, True, True),)

    async def test_a_broken_block_is_read_line_by_line(
        self, play: Play, doubling: ProblemView
    ) -> None:
        text = "```python\nassert double(1) == 2\nassert double(2) ==\nassert double(3) == 6\n```"
        script = turn(text=text), said("def double(x):\n    return x\n")
        options = StrategyOptions(best_of=1)
        played = await play(*script, mode="codet", options=options, view=doubling)
        assert ran(played)[0].passed == ((False, False),)


class TestReflexion:
    async def test_reflexion_ends_when_public_and_own_tests_pass(self, play: Play) -> None:
        played = await play(own_tests(("2 2", "4")), said(RIGHT), mode="reflexion")
        attempt = played.attempt
        assert (attempt.code, attempt.model_calls) == (RIGHT.strip(), 2)
        assert attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED

    async def test_failures_are_reflected_on_and_heeded(self, play: Play) -> None:
        script = (
            own_tests(("2 2", "4")),
            said(DIFFERENCE),
            turn(text="The sign is wrong."),
            said(RIGHT),
        )
        played = await play(*script, mode="reflexion")
        assert played.attempt.code == RIGHT.strip()
        reflect, revise = map(shown, played.heard[2:])
        for prompt in (reflect, revise):
            assert "0 of 2 public tests passed" in prompt
            assert "0 of your own 1 tests passed" in prompt
            assert "a - b" in prompt
        assert "The sign is wrong." in revise

    async def test_a_failed_test_of_its_own_is_enough(self, play: Play) -> None:
        script = own_tests(("2 2", "5")), said(RIGHT), turn(text="2 + 2 is 4."), said(RIGHT)
        played = await play(*script, mode="reflexion", options=StrategyOptions(repair_rounds=1))
        attempt = played.attempt
        assert attempt.model_calls == 4
        assert (attempt.code, attempt.chosen_by) == (RIGHT.strip(), ChosenBy.PASSED_PUBLIC_TESTS)

    async def test_rounds_are_as_many_as_asked_for(self, play: Play) -> None:
        round_ = turn(text="Hm."), said(DIFFERENCE)
        script = own_tests(("2 2", "4")), said(DIFFERENCE), *round_, *round_
        options = StrategyOptions(repair_rounds=2)
        played = await play(*script, mode="reflexion", options=options)
        assert (played.attempt.model_calls, len(played.attempt.revisions)) == (6, 3)
        assert played.attempt.stop_reason is StopReason.MODEL_STOPPED
        assert "1. Hm." in shown(played.heard[-1])
        assert "2. Hm." in shown(played.heard[-1])

    async def test_an_answer_without_code_is_told(self, play: Play) -> None:
        script = own_tests(("2 2", "4")), turn(text="No."), turn(text="I gave none."), said(RIGHT)
        played = await play(*script, mode="reflexion")
        assert NO_CODE in shown(played.heard[2])
        assert played.attempt.code == RIGHT.strip()

    async def test_after_a_revision_without_code_the_failure_is_shown_again(
        self, play: Play
    ) -> None:
        script = (
            own_tests(("2 2", "4")),
            said(DIFFERENCE),
            turn(text="The sign."),
            turn(text="No code here."),
            turn(text="I gave none."),
            said(RIGHT),
        )
        played = await play(*script, mode="reflexion", options=StrategyOptions(repair_rounds=2))
        assert played.attempt.code == RIGHT.strip()
        for part in (NO_NEW_CODE, "0 of 2 public tests passed", "a - b"):
            assert part in shown(played.heard[4])
            assert part in shown(played.heard[5])

    async def test_recorded_answers_and_test_runs_are_not_repeated(self, play: Play) -> None:
        script = (
            own_tests(("2 2", "4")),
            said(DIFFERENCE),
            turn(text="The sign is wrong."),
            said(RIGHT),
        )
        before = await play(*script, mode="reflexion")
        last = max(n for n, event in enumerate(before.events) if isinstance(event, Request))
        again = await play(said(RIGHT), mode="reflexion", recorded=before.events[:last])
        assert again.attempt.code == before.attempt.code
        assert len(again.heard) == 1


RECALLED = turn(
    text="<problem>\n<description>Adding</description>\n<code>x</code>\n<planning>Add.</planning>\n"
    "</problem>\n<problem>\n<description>Counting</description>\n<planning>Count.</planning>\n"
    "</problem>\n<algorithm>Arithmetic</algorithm>"
)


def rated(number: int) -> ModelTurn:
    return turn(text=f"Sure.\n<confidence> {number} </confidence>")


class TestMapCoder:
    OPTIONS = StrategyOptions(plans=2, repair_rounds=1)
    PLANNED = (RECALLED, turn(text="Plan A"), rated(40), turn(text="Plan B"), rated(90))

    async def test_the_surest_plan_is_coded_first(self, play: Play) -> None:
        played = await play(*self.PLANNED, said(RIGHT), mode="map_coder", options=self.OPTIONS)
        attempt = played.attempt
        assert (attempt.code, attempt.model_calls) == (RIGHT.strip(), 6)
        assert attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED
        last = shown(played.heard[-1])
        assert "Plan B" in last
        assert "Plan A" not in last
        assert "Arithmetic" in last

    async def test_failing_code_is_debugged_then_the_next_plan_is_tried(self, play: Play) -> None:
        script = *self.PLANNED, said(DIFFERENCE), said(PRODUCT), said(RIGHT)
        played = await play(*script, mode="map_coder", options=self.OPTIONS)
        assert played.attempt.code == RIGHT.strip()
        debug, code = map(shown, played.heard[-2:])
        assert "a - b" in debug
        assert "0 of 2 public tests passed" in debug
        assert "Plan A" in code

    async def test_after_an_answer_without_code_the_failure_is_shown_again(
        self, play: Play
    ) -> None:
        script = *self.PLANNED, said(DIFFERENCE), turn(text="Hm."), said(RIGHT)
        options = StrategyOptions(plans=2, repair_rounds=2)
        played = await play(*script, mode="map_coder", options=options)
        assert played.attempt.code == RIGHT.strip()
        for part in (NO_NEW_CODE, "0 of 2 public tests passed", "a - b"):
            assert part in shown(played.heard[-1])

    async def test_one_example_goes_into_each_plan(self, play: Play) -> None:
        played = await play(*self.PLANNED, said(RIGHT), mode="map_coder", options=self.OPTIONS)
        first, second = shown(played.heard[1]), shown(played.heard[3])
        assert ("Adding" in first, "Counting" in first) == (True, False)
        assert ("Adding" in second, "Counting" in second) == (False, True)

    async def test_all_requests_of_the_worst_case_are_within_the_limit(self, play: Play) -> None:
        script = *self.PLANNED, *[said(DIFFERENCE)] * 4
        assert MAP_CODER.requests is not None
        most = MAP_CODER.requests(self.OPTIONS)
        assert most == (6, 9)
        limits = Limits(turns=most[1])
        played = await play(*script, mode="map_coder", options=self.OPTIONS, limits=limits)
        assert played.attempt.stop_reason is StopReason.MODEL_STOPPED
        assert played.attempt.model_calls == 9

    async def test_a_recall_without_tags_is_one_example(self, play: Play) -> None:
        script = turn(text="Think of sums."), turn(text="Plan"), turn(text="70"), said(RIGHT)
        played = await play(*script, mode="map_coder", options=self.OPTIONS)
        assert "Think of sums." in shown(played.heard[1])
        assert played.attempt.code == RIGHT.strip()

    async def test_a_token_limit_ends_it_between_requests(self, play: Play) -> None:
        limits = Limits(turns=20, tokens=200)
        played = await play(*self.PLANNED, mode="map_coder", options=self.OPTIONS, limits=limits)
        assert played.attempt.stop_reason is StopReason.TOKEN_LIMIT
        assert (played.attempt.model_calls, played.attempt.code) == (2, "")

    def test_tags_may_lack_their_end(self) -> None:
        assert examples("<problem>a<problem>b</problem>") == ["a", "b"]
        assert section("<algorithm>Greedy", "algorithm") == "Greedy"

    @for_each(
        ("text", "number"),
        [
            ("<confidence>85%</confidence>", 85),
            ("I am 7 of 10: 70", 70),
            ("", 0),
            ("999", 100),
            ("<confidence>9/10</confidence>", 90),
            ("I give it 9 out of 10.", 90),
            ("0.95", 95),
            ("<confidence>.5</confidence>", 50),
            ("95.5", 96),
            ("0.5%", 0),
            ("1", 1),
            ("<confidence>45/50</confidence>", 90),
            ("3/0", 3),
        ],
    )
    def test_a_confidence_is_a_number_to_100(self, text: str, number: int) -> None:
        assert confidence(text) == number
