import json
from pathlib import Path

import pytest
from for_each import for_each
from json_lines import json_lines
from written import WRITTEN

from harness.errors import RunDirectoryError, UsageError
from harness.models.protocol import RecordingEndedError
from harness.models.replay import ReplayModel
from harness.run.plan.plan import prepare
from harness.run.plan.recordings import Recordings, read_turns
from harness.run.settings.spec import read_spec
from harness.run.store.transcript import file_name, read_events

FIXTURES = Path(__file__).parents[3] / "fixtures"
RECORDINGS = FIXTURES / "recordings"
BUNDLED = {
    ("agentic", "default"): 1,
    ("agentic_grow", "default"): 1,
    ("self_repair", "default"): 1,
    ("single_shot", "default"): 6,
    ("single_shot", "terse"): 1,
}
"""Recorded samples of each problem, by mode and prompt set."""
LEAST = 24
"""Fewest problems that the demo should have."""


@for_each(("mode", "prompt"), BUNDLED)
def test_the_bundled_recordings_are_of_the_same_problems(mode: str, prompt: str) -> None:
    lines = (FIXTURES / "problems.jsonl").read_text().splitlines()
    bundled = {json.loads(line)["id"] for line in lines}
    recorded = {problem for problem, _ in read_turns(RECORDINGS / "agentic" / "default")}
    turns = read_turns(RECORDINGS / mode / prompt)
    assert len(recorded) >= LEAST
    assert recorded <= bundled
    assert turns.keys() == {
        (problem, index) for problem in recorded for index in range(BUNDLED[mode, prompt])
    }
    assert all(turns.values())


def test_the_demo_takes_the_problems_that_are_recorded() -> None:
    plan = prepare(read_spec(None, {"mode": "agentic"}), {})
    assert isinstance(plan.model, ReplayModel)
    assert {problem.id for problem in plan.problems} == plan.model.problems


def test_a_problem_without_recording_is_taken_where_it_is_named() -> None:
    (problem,) = prepare(read_spec(None, {"task": ["night-train-recoupling"]}), {}).problems
    assert problem.id == "fixture/night-train-recoupling"


def test_a_set_of_recordings_plays_the_run_of_the_mode_and_prompt() -> None:
    for mode, samples in (("agentic", 1), ("single_shot", 5)):
        model = Recordings(f"replay:{WRITTEN}", mode).open()
        assert model.most_samples(["fixture/dry-beds"]) == samples


@for_each(
    ("mode", "prompt", "message"),
    [
        ("self_repair", "default", "no recordings of self_repair; it has agentic, single_shot"),
        ("agentic", "terse", "no recordings of agentic with prompt terse; it has default"),
    ],
)
def test_what_a_set_of_recordings_lacks_is_said(mode: str, prompt: str, message: str) -> None:
    with pytest.raises(UsageError, match=f"{message}. Name a model with -m"):
        Recordings(f"replay:{WRITTEN}", mode, prompt).open()


def test_a_folder_without_transcripts_is_no_recording(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no transcripts"):
        Recordings(f"replay:{tmp_path}", "agentic").open()


def test_a_torn_last_event_is_none(tmp_path: Path) -> None:
    source = next((WRITTEN / "agentic" / "default" / "transcripts").glob("*.jsonl"))
    whole = source.read_bytes()
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(whole + b'{"event": "resp')
    assert list(read_events(torn)) == list(read_events(source))


def test_a_line_that_is_no_event_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"event": "nothing"}\n')
    with pytest.raises(RunDirectoryError, match=r"bad\.jsonl:1"):
        list(read_events(path))


@for_each("problem_id", ["a/../../etc/passwd", "a/b c", "a/é", "a/%2F", "a/-0"])
def test_an_id_never_leaves_the_folder_and_comes_back_whole(problem_id: str) -> None:
    from urllib.parse import unquote

    name = file_name(problem_id, 3)
    assert "/" not in name
    assert unquote(name.removesuffix(".jsonl")) == f"{problem_id}-3"


@for_each(("mode", "ends"), [("agentic", True), ("best_of_k_public", False)])
def test_a_loop_that_the_model_had_ended_ends_there_again(
    mode: str, ends: bool, tmp_path: Path
) -> None:
    """Older versions took the first message without a tool call for the end."""
    turn = {"text": "Done.", "stop": {"reason": "end_turn"}}
    events = [
        {"event": "sample_start", "sample": "a#0", "problem_id": "a", "index": 0, "mode": mode}
        | {"model": "m"},
        {"event": "response", "turn": 1, "response": turn},
        {"event": "sample_end", "stop_reason": "model_stopped", "chosen_by": "newest", "usage": {}},
    ]
    (tmp_path / "transcripts").mkdir()
    path = tmp_path / "transcripts" / file_name("a", 0)
    path.write_text(json_lines(events))
    *_, last = read_turns(tmp_path)["a", 0]
    assert isinstance(last, RecordingEndedError) is ends
