import json
from pathlib import Path

import pytest
from for_each import for_each

from harness.errors import RunDirectoryError
from harness.features.batch.batch_journal import BatchJournal
from harness.features.batch.spool import Spool
from harness.models.faults import MalformedAnswerError
from harness.models.protocol import ModelStop, ModelTurn
from harness.run.store.directory import BATCHES


def test_what_was_written_is_read_by_the_next_process(tmp_path: Path) -> None:
    with BatchJournal(tmp_path / BATCHES) as journal:
        run = journal.run
        first = journal.intend(["a", "b"])
        journal.submit(first, "batch_1")
        second = journal.intend(["b"])
        journal.submit(second, "batch_2")
        journal.drop(journal.intend(["c"]), "refused")
        orphan = journal.intend(["d"])
    with BatchJournal(tmp_path / BATCHES) as journal:
        assert journal.run == run
        assert [batch.batch_id for batch in journal.submitted] == ["batch_1", "batch_2"]
        assert [batch.token for batch in journal.open_intents] == [orphan.token]
        assert [journal.tries(name) for name in "abcd"] == [1, 2, 0, 0]


def test_what_was_given_up_is_in_no_batch_any_more(tmp_path: Path) -> None:
    with BatchJournal(tmp_path / BATCHES) as journal:
        journal.submit(journal.intend(["a", "b"]), "batch_1")
        journal.give_up(["a"])
        journal.give_up([])
    with BatchJournal(tmp_path / BATCHES) as journal:
        assert [journal.tries(name) for name in "ab"] == [0, 1]
        (batch,) = journal.submitted
        assert (batch.custom_ids, batch.size) == ({"b"}, 2)


def test_two_runs_have_two_names(tmp_path: Path) -> None:
    with BatchJournal(tmp_path / "a") as one, BatchJournal(tmp_path / "b") as other:
        assert one.run != other.run


def test_a_torn_last_line_is_cut_off(tmp_path: Path) -> None:
    path = tmp_path / BATCHES
    with BatchJournal(path) as journal:
        journal.intend(["a"])
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"event": "submit')
    with BatchJournal(path) as journal:
        journal.submit(journal.open_intents[0], "batch_1")
    assert path.read_bytes().startswith(whole)
    assert json.loads(path.read_bytes().splitlines()[-1])["batch_id"] == "batch_1"


@for_each("line", [b"{}\n", b"[]\n", b'{"event": "unheard of"}\n', b"\xff\n"])
def test_a_line_of_another_version_is_named(line: bytes, tmp_path: Path) -> None:
    path = tmp_path / BATCHES
    path.write_bytes(b'{"event":"begun","run":"r"}\n' + line)
    with pytest.raises(RunDirectoryError, match=r"batches\.jsonl:2: not a line of this version"):
        BatchJournal(path)


@for_each("event", ["submitted", "dropped"])
def test_a_line_on_a_batch_that_nobody_intended_is_named(event: str, tmp_path: Path) -> None:
    path = tmp_path / BATCHES
    rest = {"submitted": '"batch_id":"b"', "dropped": '"cause":"c"'}[event]
    path.write_text(f'{{"event":"begun","run":"r"}}\n{{"event":"{event}","token":"t",{rest}}}\n')
    with pytest.raises(RunDirectoryError, match=r"batches\.jsonl:2"):
        BatchJournal(path)


def test_a_journal_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / BATCHES).mkdir()
    with pytest.raises(RunDirectoryError, match=r"batches\.jsonl: Is a directory"):
        BatchJournal(tmp_path / BATCHES)


def test_answers_are_kept_outside_memory_and_leave_no_file(tmp_path: Path) -> None:
    turns = {
        name: ModelTurn(text=name * 1000, reasoning=({"a": [1, None]},), stop=_ENDED)
        for name in ("x", "∑", "z")
    }
    with Spool(tmp_path) as spool:
        for name, turn in turns.items():
            spool.put(name, turn)
        assert [spool.get(name) for name in ("z", "x", "∑")] == [
            turns[name] for name in ("z", "x", "∑")
        ]
        assert "x" in spool
        assert spool.get("y") is None
        assert not list(tmp_path.iterdir())


def test_an_answer_that_no_file_can_hold_is_malformed(tmp_path: Path) -> None:
    with Spool(tmp_path) as spool, pytest.raises(MalformedAnswerError):
        spool.put("x", ModelTurn(text="\ud800", stop=_ENDED))


_ENDED = ModelStop(reason="end_turn")
