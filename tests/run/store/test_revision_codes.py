"""The programs of a sample's revisions, found by their hashes in its transcript."""

import json

from harness.agent.events import Response
from harness.agent.extraction.code import extract
from harness.models.protocol import ModelStop, ModelTurn, ToolCall
from harness.run.store.revision_programs import programs_of, revision_in
from harness.tools.revision import Revision, Spent


def step(turn: int, code: str) -> Revision:
    return Revision.of(code, Spent(turn)).judged(None, None)


def wrote(turn: int, arguments: str, name: str = "write_solution") -> Response:
    call = ToolCall(id=f"{turn}", name=name, arguments=arguments)
    stop = ModelStop(reason="tool_use")
    return Response(turn=turn, response=ModelTurn(tool_calls=(call,), stop=stop, latency_s=0))


def said(turn: int, text: str) -> Response:
    return Response(
        turn=turn, response=ModelTurn(text=text, stop=ModelStop(reason="end_turn"), latency_s=0)
    )


def codes(steps: list[Revision], *events: Response) -> list[str | None]:
    programs = programs_of([event.response for event in events], steps, extract)
    return [programs.get(step.code_hash or "") for step in steps]


def test_each_revision_is_found_wherever_the_model_wrote_it() -> None:
    plain, fenced, broken = "print(1)\n", "print(2)\n", "print(3)"
    spoken = '<tool_call>{"name": "write_solution", "arguments": {"code": "print(5)"}}</tool_call>'
    events = [
        wrote(1, json.dumps({"code": plain})),
        wrote(1, json.dumps({"code": f"```python\n{fenced}```"})),
        wrote(2, '{"code": "print(3)"'),
        said(3, "Thus:\n```python\nprint(4)\n```"),
        said(4, spoken),
        wrote(5, '{"source": "print(6)"}', name="own_tool"),
    ]
    written = [plain, fenced, broken, "print(4)", "print(5)", "print(6)"]
    assert codes([step(turn, code) for turn, code in enumerate(written)], *events) == written


def test_a_program_that_was_no_revision_is_not_taken_for_one() -> None:
    events = [wrote(1, '{"code": "try"}', name="run_code"), wrote(1, '{"code": "a"}')]
    assert codes([step(1, "b"), step(1, "a")], *events) == [None, "a"]


def test_an_answer_holds_the_newest_revision_of_its_own_turn() -> None:
    both = json.dumps({"code": "a", "other": "b"})
    steps = [step(1, "a"), step(1, "b"), step(2, "c")]
    assert revision_in(wrote(1, both), steps, None) == "b"
    assert revision_in(wrote(2, '{"code": "a"}'), steps, None) == ""


def test_a_revision_of_an_older_run_has_no_hash_and_stays_unknown() -> None:
    older = step(1, "a").model_copy(update={"code_hash": None})
    assert codes([older], wrote(1, '{"code": "a"}')) == [None]
