"""What all transcripts of a run share stands in its manifest once."""

import json
from pathlib import Path

import pytest
from for_each import for_each
from program import harness

from harness.agent.events import (
    SCHEMA,
    Damaged,
    Event,
    Request,
    Response,
    Resumed,
    SampleEnd,
    SampleStart,
    ToolProtocolChanged,
    ToolResult,
)
from harness.models.protocol import (
    AssistantMessage,
    ModelStop,
    ModelTurn,
    SystemMessage,
    ToolMessage,
    Usage,
    UserMessage,
)
from harness.run.store.directory import RunDirectory, read_manifest
from harness.run.store.transcript import (
    EVENT,
    SharedParts,
    file_name,
    line_of,
    read_events,
    shared_parts,
)

SYSTEM = 'You are "careful".\nSay {"role":"system"} never.'
OTHER_SYSTEM = "You work with tools."
ADVICE = '\n\nSay what is "wrong".'
FACTS = {
    "mode": "agentic",
    "model": "m",
    "prompt": "default",
    "prompt_hash": "1f",
    "tools_hash": "2e",
    "settings": {"temperature": 0.5, "extra_body": {"as_run": True, "n": 1.0}},
    "limits": {"turns": 10, "seconds": 600.0},
}
START = SampleStart(sample="a/b#0", problem_id="a/b", index=0, problem_hash="0d", **FACTS)
OTHER_START = START.model_copy(update={"settings": {"temperature": 0.75}})
TURN = ModelTurn(stop=ModelStop(reason="end_turn"), usage=Usage(input_tokens=3))
FORGED = '","messages":[{"role":"system"}]'
FORGED_END = f'{ADVICE}","ends":"0a'
EVENTS: dict[str, Event] = {
    "start": START,
    "another start": OTHER_START,
    "opening": Request(
        turn=1, hash="0a", messages=(SystemMessage(content=SYSTEM), UserMessage(content="Go."))
    ),
    "opening in text": Request(
        turn=1,
        hash="0a",
        messages=(SystemMessage(content=OTHER_SYSTEM), UserMessage(content="Go.")),
    ),
    "another prompt": Request(turn=1, hash="0a", messages=(SystemMessage(content="Go."),)),
    "nothing new": Request(turn=2, hash="0b"),
    "words like ours": Request(turn=2, hash="0b", messages=(UserMessage(content=FORGED),)),
    "an answer in a request": Request(turn=2, hash="0b", messages=(AssistantMessage(text="A"),)),
    "response": Response(turn=1, response=TURN),
    "result": ToolResult(
        turn=1, result=ToolMessage(call_id="1", name="n", content=FORGED), seconds=0.1
    ),
    "failed tests": ToolResult(
        turn=1,
        result=ToolMessage(call_id="1", name="n", content=f"0 of 1{ADVICE}"),
        seconds=0.1,
        report=(0, 6),
    ),
    "an ending like ours": ToolResult(
        turn=1, result=ToolMessage(call_id="1", name="n", content=FORGED_END), seconds=0.1
    ),
    "resumed": Resumed(kept=0, turn=0),
    "end": SampleEnd(stop_reason="model_stopped", chosen_by="none", usage=Usage()),
}


def stored_names(run: Path) -> list[str]:
    return [json.loads(line)["sample"] for line in (run / "results.jsonl").read_text().splitlines()]


def _shared() -> SharedParts:
    return SharedParts(shared_parts(FACTS, [SYSTEM, OTHER_SYSTEM], [ADVICE]))


@for_each("name", EVENTS)
def test_a_line_is_read_as_it_was_written(name: str) -> None:
    shared, line = _shared(), line_of(EVENTS[name])
    stored = shared.leave_out(line)
    assert json.loads(shared.put_back(stored)) == json.loads(line)
    assert EVENT.validate_json(shared.put_back(stored)) == EVENTS[name]
    assert (stored != line) == (name in {"start", "opening", "opening in text", "failed tests"})
    assert not _shared().lacks(stored)
    assert SharedParts().lacks(stored) == (stored != line)


@for_each("stored", [None, [], {"sample": 3, "system": []}, {"sample": {}}])
def test_a_run_that_shares_nothing_writes_whole_lines(stored: object) -> None:
    for event in EVENTS.values():
        assert SharedParts(stored).leave_out(line_of(event)) == line_of(event)


def test_fields_that_have_their_defaults_are_left_out() -> None:
    expected = {
        "event": "sample_end",
        "stop_reason": "model_stopped",
        "chosen_by": "none",
        "usage": {},
    }
    assert json.loads(line_of(EVENTS["end"])) == expected
    assert line_of(EVENTS["nothing new"]) == b'{"event":"request","turn":2,"hash":"0b"}\n'


def test_a_run_stores_its_system_prompt_once(tmp_path: Path) -> None:
    done = harness(
        tmp_path, "run", "--agentic-mode", "-t", "door-number", "-t", "till-roll", "--out", "r"
    )
    assert done.returncode == 0, done.stderr
    stored = read_manifest(tmp_path / "r")["transcripts"]
    (system,) = stored["system"].values()
    assert system.startswith("You are an expert competitive programmer.")
    files = sorted((tmp_path / "r" / "transcripts").iterdir())
    assert len(files) == 2
    for path in files:
        assert "expert competitive programmer" not in path.read_text()
        start, _, request, *_ = read_events(path)
        assert isinstance(start, SampleStart)
        assert isinstance(request, Request)
        assert (start.mode, start.limits) == ("agentic", stored["sample"]["limits"])
        assert request.messages[0] == SystemMessage(content=system)
    (name, *_) = stored_names(tmp_path / "r")
    shown = harness(tmp_path, "transcript", "r", name)
    assert "expert competitive programmer" in shown.stdout


@pytest.mark.thorough
def test_a_run_of_an_older_version_goes_on_with_whole_lines(tmp_path: Path) -> None:
    done = harness(tmp_path, "run", "--agentic-mode", "-t", "door-number", "--out", "r")
    assert done.returncode == 0, done.stderr
    run = tmp_path / "r"
    manifest = read_manifest(run)
    del manifest["transcripts"]
    (run / "run.json").write_text(json.dumps(manifest))
    directory = RunDirectory.resume(run)
    with directory.new_transcript("a/b", 0) as write:
        write(START)
        write(EVENTS["opening"])
    directory.close()
    path = run / "transcripts" / file_name("a/b", 0)
    assert SYSTEM.splitlines()[1].replace('"', '\\"') in path.read_text()
    assert list(read_events(path)) == [START, EVENTS["opening"]]
    assert START.schema_version == SCHEMA


def test_a_transcript_without_its_manifest_says_what_is_missing(tmp_path: Path) -> None:
    harness(tmp_path, "run", "--agentic-mode", "-t", "door-number", "--out", "r")
    (tmp_path / "r" / "run.json").unlink()
    (name,) = (each.name for each in (tmp_path / "r" / "transcripts").iterdir())
    start, protocol, request, *others = read_events(tmp_path / "r" / "transcripts" / name)
    assert isinstance(protocol, ToolProtocolChanged)
    for event in (start, request):
        assert isinstance(event, Damaged)
        assert "stands in the run's run.json, which is missing" in event.cause
    assert not any(isinstance(event, Damaged) for event in others)
