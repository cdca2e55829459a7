"""A page keeps up with a run: only what is new is read, and nothing that has changed is missed."""

import json
import re
from pathlib import Path

import pytest
from for_each import for_each
from json_lines import json_lines
from runs_made import response, result, start, write_run, write_transcript
from visitor import Visitor

from harness.features.viewer.open_run import OpenRun, RunPlace
from harness.features.viewer.result_index import Lines, Rows
from harness.features.viewer.transcript_index import TranscriptIndex
from harness.run.store.directory import is_under_way
from harness.run.store.results import ResultsFile
from harness.run.summary.loaded_run import read_run


def texts(update: tuple[bool, list[tuple[tuple[int, int], bytes]]]) -> list[bytes]:
    return [line for _, line in update[1]]


class TestLines:
    def test_lines_are_given_once(self, tmp_path: Path) -> None:
        path = tmp_path / "f"
        path.write_bytes(b"a\nb\n")
        reader = Lines(path)
        assert texts(reader.new()) == [b"a\n", b"b\n"]
        assert texts(reader.new()) == []
        with path.open("ab") as file:
            file.write(b"c\n")
        again, new = reader.new()
        assert not again
        assert [(tuple(span), line) for span, line in new] == [((4, 2), b"c\n")]

    def test_one_that_is_being_written_waits(self, tmp_path: Path) -> None:
        path = tmp_path / "f"
        path.write_bytes(b"a\nhal")
        reader = Lines(path)
        assert texts(reader.new()) == [b"a\n"]
        with path.open("ab") as file:
            file.write(b"f\n")
        assert texts(reader.new()) == [b"half\n"]

    @for_each("now", [b"x\ny\nz\n", b"x\n", b"a\nc\n", b""])
    def test_lines_of_a_rewritten_file_are_read_again(self, tmp_path: Path, now: bytes) -> None:
        path = tmp_path / "f"
        path.write_bytes(b"a\nb\n")
        reader = Lines(path)
        reader.new()
        path.write_bytes(now)
        again, new = reader.new()
        assert again
        assert b"".join(line for _, line in new) == now

    def test_lines_of_a_file_in_its_place_are_read_again(self, tmp_path: Path) -> None:
        path, other = tmp_path / "f", tmp_path / "g"
        path.write_bytes(b"a\nb\n")
        reader = Lines(path)
        reader.new()
        other.write_bytes(b"a\nb\nc\n")
        other.replace(path)
        again, new = reader.new()
        assert again
        assert len(new) == 3

    def test_a_missing_file_has_no_lines(self, tmp_path: Path) -> None:
        path = tmp_path / "f"
        reader = Lines(path)
        assert reader.new() == (False, [])
        path.write_bytes(b"a\n")
        assert texts(reader.new()) == [b"a\n"]
        path.unlink()
        assert reader.new() == (True, [])

    def test_lines_that_are_too_long_are_passed_over(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("harness.features.viewer.result_index.LONGEST_LINE", 10)
        path = tmp_path / "f"
        path.write_bytes(b"a\n" + b"x" * 95 + b"\nb\n" + b"y" * 40)
        reader = Lines(path)
        assert texts(reader.new()) == [b"a\n", b"", b"b\n"]


def test_the_whole_result_is_read_from_its_place(tmp_path: Path) -> None:
    rows = [result(f"p/{n}", code=f"print({n})") for n in range(50)]
    run = write_run(tmp_path / "r", rows)
    read = Rows(run / "results.jsonl")
    read.refresh(None)
    assert list(read.of) == [row["sample"] for row in rows]
    for number in (0, 17, 49):
        assert read.whole(f"p/{number}#0").code == f"print({number})"


def test_the_last_line_of_a_sample_counts(tmp_path: Path) -> None:
    run = write_run(tmp_path / "r", [result("p/a"), result("p/a", code="print(2)")])
    read = Rows(run / "results.jsonl")
    read.refresh(None)
    assert len(read.of) == 1
    assert read.whole("p/a#0").code == "print(2)"


@for_each(("own", "done"), [({}, 1), ({"max_cost_per_sample": 1.0}, 2)], ids=["run", "sample"])
def test_a_sample_that_a_limit_of_the_run_had_ended_is_pending_as_everywhere(
    own: dict[str, float], done: int, tmp_path: Path
) -> None:
    """Older versions graded such a sample."""
    cut = result("p/a", stop_reason="cost_limit", verdict="wrong_answer")
    run = write_run(tmp_path / "r", [cut, result("p/b")], **own)
    opened = OpenRun(RunPlace("k", run, "r", "", experiment=False))
    opened.refresh()
    assert opened.done == len(read_run(run).results) == done
    assert opened.state.word == ("done" if done == 2 else "pending")


class TestATape:
    def test_reads_on_where_it_was(self, tmp_path: Path) -> None:
        run = write_run(tmp_path / "r", [], problems=["p/a"])
        path = write_transcript(run, "p/a", [start("p/a"), response(1, "one")])
        tape = TranscriptIndex(run, path.name)
        assert tape.refresh()
        before = tape.changes
        tape.refresh()
        assert tape.changes == before
        with path.open("a") as file:
            file.write(json_lines([response(2, "two")]))
        tape.refresh()
        assert [line.kind for line in tape.lines] == ["sample_start", "response", "response"]
        assert tape.changes != before

    def test_forgets_what_is_void(self, tmp_path: Path) -> None:
        run = write_run(tmp_path / "r", [], problems=["p/a"])
        resumed = {"event": "resumed", "kept": 1, "turn": 0}
        events = [start("p/a"), response(1), response(2), resumed, response(1), resumed]
        tape = TranscriptIndex(run, write_transcript(run, "p/a", events).name)
        tape.refresh()
        assert [line.number for line in tape.in_order()] == [1, 4, 6]
        assert tape.void == 3

    @for_each("kept", [-5, 10**30])
    def test_a_mark_that_lies_does_no_harm(self, tmp_path: Path, kept: int) -> None:
        run = write_run(tmp_path / "r", [], problems=["p/a"])
        events = [start("p/a"), response(1), {"event": "resumed", "kept": kept, "turn": 0}]
        tape = TranscriptIndex(run, write_transcript(run, "p/a", events).name)
        tape.refresh()
        assert len(tape.lines) == (0 if kept < 0 else 2)


class TestAPage:
    def test_a_page_is_not_sent_again_while_nothing_has_changed(
        self, visitor: Visitor, tmp_path: Path
    ) -> None:
        run = write_run(tmp_path / "r", [result("p/a")], problems=["p/a", "p/b"])
        path = write_transcript(run, "p/b", [start("p/b")])
        for where in ("/", visitor.address(), visitor.where("p/b")):
            tag = visitor.client.get(where).headers["etag"]
            answer = visitor.client.get(where, headers={"If-None-Match": tag})
            assert (answer.status_code, answer.content) == (304, b""), where
        where = visitor.where("p/b")
        tag = visitor.client.get(where).headers["etag"]
        with path.open("a") as file:
            file.write(json_lines([response(1, "news")]))
        answer = visitor.client.get(where, headers={"If-None-Match": tag})
        assert answer.status_code == 200
        assert "news" in answer.text
        with (run / "results.jsonl").open("a") as file:
            file.write(json_lines([result("p/b")]))
        tags = {"If-None-Match": tag}
        assert "2 of 2" in visitor.client.get(visitor.address(), headers=tags).text
        assert "Final solution" in visitor.client.get(where, headers=tags).text

    def test_shows_a_sample_once_it_has_grown_into_the_run(
        self, visitor: Visitor, tmp_path: Path
    ) -> None:
        run = write_run(tmp_path / "r", [result("p/a")])
        assert "1 sample" in visitor.run()
        manifest = json.loads((run / "run.json").read_text())
        manifest["problems"]["p/b"] = "0" * 64
        (run / "run.json").write_text(json.dumps(manifest))
        assert "2 samples" in visitor.run()

    def test_events_on_a_page_keep_their_names(self, visitor: Visitor, tmp_path: Path) -> None:
        run = write_run(tmp_path / "r", [result("p/a")])
        calls = [("c", "run_code", "{}")]
        path = write_transcript(run, "p/a", [start("p/a"), response(1, "x", calls)])

        def shown() -> dict[str, str]:
            return dict(re.findall(r'<article id="([^"]+)" data-v="([^"]+)"', visitor.sample("A")))

        before = shown()
        with path.open("a") as file:
            file.write(json_lines([response(2, "y")]))
        after = shown()
        assert {key: after[key] for key in before} == before
        assert len(after) == len(before) + 1


def test_a_run_is_under_way_while_its_results_are_locked(tmp_path: Path, visitor: Visitor) -> None:
    run = write_run(tmp_path / "r", [result("p/a")], problems=["p/a", "p/b"])
    assert not is_under_way(run)
    assert ">running<" not in visitor.page("/")
    holder = ResultsFile(run / "results.jsonl")
    try:
        assert is_under_way(run)
        assert ">running<" in visitor.page("/")
        assert 'data-running="1"' in visitor.run()
    finally:
        holder.close()
    assert not is_under_way(run)
    ResultsFile(run / "results.jsonl").close()  # to look has locked nothing
