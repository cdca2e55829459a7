"""Conversations as chat messages."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from program import harness

from harness.agent.events import (
    Cleared,
    Event,
    NewConversation,
    Request,
    Response,
    Resumed,
    ToolResult,
)
from harness.errors import RunDirectoryError
from harness.features.export.conversations import arguments_of, chat_text, said_in
from harness.models.protocol import (
    ModelStop,
    ModelTurn,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run, read_run

STOP = ModelStop(reason="tool_use")


def _request(turn: int, *texts: str) -> Request:
    return Request(turn=turn, hash="h", messages=tuple(UserMessage(content=t) for t in texts))


def _answer(turn: int, text: str, call: str = "") -> Response:
    calls = (ToolCall(id=call, name="run_tests", arguments="{}"),) if call else ()
    return Response(turn=turn, response=ModelTurn(text=text, tool_calls=calls, stop=STOP))


def _result(turn: int, call: str, content: str) -> ToolResult:
    message = ToolMessage(call_id=call, name="run_tests", content=content)
    return ToolResult(turn=turn, result=message, seconds=0.1)


def _texts(events: list[Event]) -> list[str]:
    return [str(getattr(m, "content", getattr(m, "text", ""))) for m in said_in(events).last]


def test_a_conversation_is_put_together_in_its_order() -> None:
    events: list[Event] = [_request(1, "go"), _answer(1, "a", "c1"), _result(1, "c1", "ok")]
    events += [_request(2), _answer(2, "b")]
    assert _texts(events) == ["go", "a", "ok", "b"]


def test_what_was_void_or_left_out_is_not_in_it() -> None:
    events: list[Event] = [_request(1, "go"), _answer(1, "a", "c1"), _result(1, "c1", "long")]
    events += [_request(2, "lost"), Resumed(kept=3, turn=1), _request(2)]
    events += [Cleared(turn=2, call_ids=("c1",), text="(left out)", cause="too long")]
    events += [_answer(2, "b")]
    assert _texts(events) == ["go", "a", "(left out)", "b"]


def test_a_new_conversation_begins_with_nothing() -> None:
    events: list[Event] = [_request(1, "go"), _answer(1, "a"), NewConversation(turn=1)]
    events += [_request(2, "again"), _answer(2, "b")]
    assert _texts(events) == ["again", "b"]
    assert list(said_in(events).answers()) == ["b", "a"]


def test_a_line_a_sample_in_the_form_of_chat_completions(agentic: Run) -> None:
    lines = [json.loads(line) for line in chat_text(agentic)]
    assert [line["metadata"]["sample"] for line in lines] == [r.sample for r in agentic.results]
    for line, result in zip(lines, agentic.results, strict=True):
        assert line["metadata"]["solved"] is result.solved
        messages = line["messages"]
        assert [message["role"] for message in messages[:3]] == ["system", "user", "assistant"]
        answers = [message for message in messages if message["role"] == "assistant"]
        assert len(answers) == result.model_calls
        asked = [c["id"] for m in answers for c in m.get("tool_calls", ())]
        told = [m["tool_call_id"] for m in messages if m["role"] == "tool"]
        assert asked == told
        for answer in answers:
            assert set(answer) <= {"role", "content", "tool_calls"}
            for call in answer.get("tool_calls", ()):
                assert call["type"] == "function"
                assert set(call["function"]) == {"name", "arguments"}


def test_a_packed_run_says_the_same(agentic: Run, tmp_path: Path) -> None:
    before = list(chat_text(agentic))
    shutil.copytree(agentic.path, tmp_path / "packed")
    assert harness(tmp_path, "pack", "packed").returncode == 0
    assert list(chat_text(read_run(tmp_path / "packed"))) == before


def test_without_transcripts_there_is_nothing_to_tell(
    make_run: Callable[..., Run], make_result: Callable[..., SampleResult]
) -> None:
    with pytest.raises(RunDirectoryError, match="holds no transcripts"):
        list(chat_text(make_run([make_result("made/a")])))


@pytest.mark.parametrize(
    ("text", "values", "wrong"),
    [('{"a": 1}', {"a": 1}, False), ("", {}, False), ("[1]", {}, True), ("{", {}, True)],
)
def test_arguments_that_are_no_object_are_told(
    text: str, values: dict[str, int], wrong: bool
) -> None:
    found, error = arguments_of(text)
    assert (found, error is not None) == (values, wrong)
