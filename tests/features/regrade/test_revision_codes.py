"""The programs of a sample's revisions, as its transcript has them."""

from typing import Any

from for_each import for_each
from results_made import made_result

from harness.agent.attempt import ChosenBy
from harness.agent.events import Event, Response, ToolResult
from harness.agent.extraction.code import extract
from harness.features.regrade.stored_solutions import revision_codes
from harness.models.protocol import ModelStop, ModelTurn, ToolCall, ToolMessage
from harness.run.store.results import Step
from harness.tools.write_solution import WriteSolution


def step(turn: int, public_passed: int | None = None) -> Step:
    return Step(
        turn=turn, tokens=None, cost=None, seconds=None, public_passed=public_passed, solved=False
    )


def wrote(turn: int, *codes: str, name: str = WriteSolution.name) -> Response:
    calls = tuple(
        ToolCall(id=f"{turn}-{place}", name=name, arguments=f'{{"code": "{code}"}}')
        for place, code in enumerate(codes)
    )
    stop = ModelStop(reason="tool_use")
    return Response(turn=turn, response=ModelTurn(tool_calls=calls, stop=stop, latency_s=0))


def said(turn: int, text: str) -> Response:
    return Response(
        turn=turn, response=ModelTurn(text=text, stop=ModelStop(reason="end_turn"), latency_s=0)
    )


def refused(turn: int, place: int) -> ToolResult:
    message = ToolMessage(call_id=f"{turn}-{place}", name="w", content="no", is_error=True)
    return ToolResult(turn=turn, result=message)


def codes(
    steps: list[Step],
    *events: Event,
    final: str = "",
    chosen_by: ChosenBy = ChosenBy.NEWEST,
    **changes: Any,
) -> tuple[str | None, ...]:
    result = made_result("p", steps=tuple(steps), code=final, chosen_by=chosen_by, **changes)
    return revision_codes(result, events, extract, None)


def test_each_step_has_the_program_of_its_turn() -> None:
    events = [wrote(1, "a"), wrote(3, "b", "c"), said(4, "thus"), said(5, "```python\nd\n```")]
    programs = codes([step(1), step(3), step(3), step(5)], *events, final="d")
    assert programs == ("a", "b", "c", "d")


def test_a_call_that_wrote_nothing_is_no_revision() -> None:
    events = [wrote(1, "a", "b"), refused(1, 0), wrote(2, "try", name="run_code"), wrote(3, "c")]
    assert codes([step(1), step(3)], *events, final="c") == ("b", "c")
    assert codes([step(2)], *events, final="z") == ("z",)


def test_a_turn_with_another_number_of_programs_says_nothing() -> None:
    events = [wrote(1, "a"), wrote(2, "b", "c")]
    assert codes([step(1), step(2)], *events, final="a") == ("a", None)


@for_each(
    ("chosen_by", "place"),
    [
        (ChosenBy.NEWEST, 2),
        (ChosenBy.PASSED_PUBLIC_TESTS, 1),
        (ChosenBy.MOST_PUBLIC_TESTS, 1),
        (ChosenBy.PROSE, 2),
    ],
)
def test_the_final_revision_is_found_without_a_transcript(chosen_by: ChosenBy, place: int) -> None:
    programs = codes([step(1, 0), step(2, 1), step(3, 0)], final="z", chosen_by=chosen_by)
    assert programs == tuple("z" if number == place else None for number in range(3))


def test_a_transcript_without_the_final_solution_is_not_believed() -> None:
    events = [wrote(1, "a"), wrote(2, "b")]
    assert codes([step(1), step(2)], *events, final="z") == (None, "z")


def test_the_only_unknown_revision_is_the_final_solution() -> None:
    assert codes([step(1), step(2)], wrote(2, "b"), final="z") == ("z", "b")
