import json
from pathlib import Path

import pytest

from harness.errors import RunDirectoryError, UsageError
from harness.models.protocol import RecordingEndedError
from harness.run.plan.target import open_replay, read_turns
from harness.run.store.transcript import file_name, read_events

FIXTURES = Path(__file__).parents[3] / "fixtures"


def test_every_bundled_problem_has_a_recording_in_both_modes() -> None:
    lines = (FIXTURES / "problems.jsonl").read_text().splitlines()
    for mode, samples in (("agentic", 1), ("single_shot", 5)):
        turns = read_turns(FIXTURES / "recordings" / mode)
        assert turns.keys() == {
            (json.loads(line)["id"], index) for line in lines for index in range(samples)
        }
        assert all(turns.values())


def test_a_folder_without_transcripts_is_no_recording(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no transcripts"):
        open_replay(f"replay:{tmp_path}", "agentic")


def test_a_torn_last_event_is_none(tmp_path: Path) -> None:
    source = next((FIXTURES / "recordings" / "agentic" / "transcripts").glob("*.jsonl"))
    whole = source.read_bytes()
    torn = tmp_path / "torn.jsonl"
    torn.write_bytes(whole + b'{"event": "resp')
    assert list(read_events(torn)) == list(read_events(source))


def test_a_line_that_is_no_event_is_named(tmp_path: Path) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text('{"event": "nothing"}\n')
    with pytest.raises(RunDirectoryError, match=r"bad\.jsonl:1"):
        list(read_events(path))


@pytest.mark.parametrize("problem_id", ["a/../../etc/passwd", "a/b c", "a/é", "a/%2F", "a/-0"])
def test_an_id_never_leaves_the_folder_and_comes_back_whole(problem_id: str) -> None:
    from urllib.parse import unquote

    name = file_name(problem_id, 3)
    assert "/" not in name
    assert unquote(name.removesuffix(".jsonl")) == f"{problem_id}-3"


@pytest.mark.parametrize(("mode", "ends"), [("agentic", True), ("best_of_k_public", False)])
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
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    *_, last = read_turns(tmp_path)["a", 0]
    assert isinstance(last, RecordingEndedError) is ends
