"""Conversations as chat messages and as ATIF, whose import gives the same run."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each
from own_models import answering
from own_problems import ECHO
from program import harness, results

from harness.agent.events import (
    Event,
    NewConversation,
    Request,
    Response,
    Resumed,
    ToolProtocolChanged,
    ToolResult,
)
from harness.errors import RunDirectoryError
from harness.features.export.conversations import (
    arguments_of,
    atif_text,
    chat_text,
    said_in,
    sent_with_tools,
)
from harness.models.protocol import (
    ModelStop,
    ModelTurn,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run

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


def test_what_was_void_is_not_in_it() -> None:
    events: list[Event] = [_request(1, "go"), _answer(1, "a", "c1"), _result(1, "c1", "long")]
    events += [_request(2, "lost"), Resumed(kept=3, turn=1), _request(2)]
    events += [_answer(2, "b")]
    assert _texts(events) == ["go", "a", "long", "b"]


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
        alone = line["metadata"]["conversations"] == 1
        assert len(answers) == result.model_calls if alone else len(answers) > 0
        names = [tool["function"]["name"] for tool in line.get("tools", ())]
        native = result.tool_protocol == "native"
        assert names == (["read_problem", "write_solution", "run_tests"] if native else [])
        asked = [c["id"] for m in answers for c in m.get("tool_calls", ())]
        result_ids = [m["tool_call_id"] for m in messages if m["role"] == "tool"]
        assert asked == result_ids
        for answer in answers:
            assert set(answer) <= {"role", "content", "tool_calls"}
            for call in answer.get("tool_calls", ()):
                assert call["type"] == "function"
                assert set(call["function"]) == {"name", "arguments"}


def test_a_conversation_that_no_answer_came_to_is_not_the_one_exported() -> None:
    events: list[Event] = [_request(1, "go"), _answer(1, "a"), NewConversation(turn=1)]
    events += [_request(2, "again")]
    said = said_in(events)
    assert [getattr(m, "content", getattr(m, "text", "")) for m in said.answered] == ["go", "a"]
    assert len(said.conversations) == 2


def test_tools_are_said_of_the_requests_that_named_them() -> None:
    text = ToolProtocolChanged(turn=1, protocol="text")
    events: list[Event] = [_request(1, "go"), _answer(1, "a"), text, NewConversation(turn=1)]
    assert sent_with_tools([*events, _request(2, "again"), _answer(2, "b")]) == [True, False]
    assert sent_with_tools([text, _request(1, "go"), _answer(1, "a")]) == [False]
    void = [*events, _request(2, "again"), _answer(2, "b"), Resumed(kept=2, turn=1)]
    assert sent_with_tools([*void, _request(2, "so"), _answer(2, "c")]) == [True, True]


def test_a_trajectory_names_the_tools_and_the_set_but_not_its_templates(agentic: Run) -> None:
    agent = json.loads(next(atif_text(agentic)))["agent"]
    assert set(agent["extra"]["prompt"]) == {"name", "hash"}
    names = [each["function"]["name"] for each in agent.get("tool_definitions", ())]
    assert names == [tool["name"] for tool in agentic.tools_sent]


def test_without_transcripts_there_is_nothing_to_tell(
    make_run: Callable[..., Run], make_result: Callable[..., SampleResult]
) -> None:
    with pytest.raises(RunDirectoryError, match="holds no transcripts"):
        list(chat_text(make_run([make_result("made/a")])))


@for_each(
    ("text", "values", "wrong"),
    [('{"a": 1}', {"a": 1}, False), ("", {}, False), ("[1]", {}, True), ("{", {}, True)],
)
def test_arguments_that_are_no_object_are_told(
    text: str, values: dict[str, int], wrong: bool
) -> None:
    arguments, error = arguments_of(text)
    assert (arguments, error is not None) == (values, wrong)


SAME = (
    *("verdict", "code", "chosen_by", "extraction", "stop_reason", "model_calls", "tool_calls"),
    *("usage", "cost", "public_passed", "hidden_passed", "public_total", "hidden_total"),
)
"""What a result of the import has in common with the run's own."""

FIXING = answering(
    answer=[
        f"Try this:\n```python\nimport sys\nprint({each})\n```" for each in ("1", "'x'", "input()")
    ]
)


def exported(folder: Path, run: str) -> list[dict[str, Any]]:
    done = harness(folder, "export", run, "--to", "atif", "-o", f"{run}.jsonl")
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in (folder / f"{run}.jsonl").read_text().splitlines()]


def told(run: Path) -> dict[str, Any]:
    """Of each sample what an import must bring back; who judged the first revision is not."""
    return {
        r["sample"]: (
            {key: r[key] for key in SAME},
            [(s["turn"], s["tokens"], s["cost"], s["public_passed"]) for s in r["steps"]],
        )
        for r in results(run)
    }


def check_round_trip(folder: Path, run: str, problems: str, *, every: int = 1) -> None:
    """Import some of a run's samples again."""
    exported(folder, run)
    lines = (folder / f"{run}.jsonl").read_text().splitlines(keepends=True)[::every]
    (folder / f"{run}.jsonl").write_text("".join(lines))
    back = f"{run}-back"
    done = harness(folder, "import", f"{run}.jsonl", "--problems", problems, "--out", back)
    assert done.returncode == 0, done.stderr
    number = len(lines)
    assert f"{number} of {number} published verdicts agree" in done.stderr
    imported = told(folder / back)
    assert len(imported) == number
    assert {name: told(folder / run)[name] for name in imported} == imported
    own, again = ({r["sample"]: r for r in results(folder / name)} for name in (run, back))
    for before, after in ((own[name], again[name]) for name in again):
        for then, now in zip(before["steps"], after["steps"], strict=True):
            assert then["solved"] in (None, now["solved"])  # each one is judged by now
            assert now["solved"] is not None
    specs = [json.loads((folder / name / "run.json").read_text())["spec"] for name in (run, back)]
    assert specs[0]["mode"] == specs[1]["mode"]
    assert exported(folder, back)[0]["steps"][0]["message"]


def test_a_run_of_the_agent_loop_comes_back(recorded_run: Path) -> None:
    check_round_trip(recorded_run, "agentic", "fixture", every=3)


@pytest.mark.thorough
@pytest.mark.parametrize("mode", ["self_repair", "best_of_k_public"])
def test_a_run_of_another_strategy_comes_back(tmp_path: Path, mode: str) -> None:
    (tmp_path / "own.jsonl").write_text(json.dumps(ECHO) + "\n")
    (tmp_path / "fixing.py").write_text(FIXING)
    given = ("-b", "jsonl:own.jsonl", "-m", "python:fixing:answer", "--mode", mode, "--out", "r")
    more = ("--samples-per-problem", "2", "--concurrency", "1")
    done = harness(tmp_path, "run", *given, *more)
    assert done.returncode == 0, done.stderr
    assert any(len(r["steps"]) > 1 for r in results(tmp_path / "r"))
    check_round_trip(tmp_path, "r", "jsonl:own.jsonl")


def test_the_steps_of_a_sample(recorded_run: Path, agentic: Run) -> None:
    trajectories = {each["trajectory_id"]: each for each in exported(recorded_run, "agentic")}
    assert list(trajectories) == [result.sample for result in agentic.results]
    for result in agentic.results:
        one = trajectories[result.sample]
        assert [step["step_id"] for step in one["steps"]] == [*range(1, len(one["steps"]) + 1)]
        asked = [step for step in one["steps"] if step["source"] == "agent"]
        assert sum(step["llm_call_count"] for step in asked) == result.model_calls
        assert result.usage is not None
        tokens = [step["metrics"]["completion_tokens"] for step in asked]
        assert sum(tokens) == one["final_metrics"]["total_completion_tokens"]
        for step in one["steps"]:
            calls = {call["tool_call_id"] for call in step.get("tool_calls", ())}
            for answer in step.get("observation", {"results": ()})["results"]:
                assert answer.get("source_call_id") in {None, *calls}
        tested = [
            answer["extra"]["tests"]["passed"]
            for step in asked
            for answer in step.get("observation", {"results": ()})["results"]
            if "tests" in answer.get("extra", {})
        ]
        assert tested == [s.public_passed for s in result.steps if s.public_passed is not None]


def test_harbor_takes_it(recorded_run: Path) -> None:
    """Skipped where Harbor is not installed, which needs Python 3.12."""
    reason = "harbor is not installed: pip install harbor"
    models = pytest.importorskip("harbor.models.trajectories.trajectory", reason=reason)
    for row in exported(recorded_run, "agentic"):
        assert models.Trajectory.model_validate(row).agent.name == "harness"


def test_a_run_without_transcripts_is_refused(tmp_path: Path, recorded_run: Path) -> None:
    for name in ("run.json", "results.jsonl"):
        (tmp_path / name).write_bytes((recorded_run / "agentic" / name).read_bytes())
    done = harness(tmp_path, "export", ".", "--to", "atif")
    assert done.returncode == 2
    assert "holds no transcripts" in done.stderr
