"""Transcripts in one file: small, read as before, and never lost, whenever packing is killed."""

import gzip
import json
import os
import subprocess
import sys
import tracemalloc
import zlib
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from results_made import made_result
from written import WRITTEN

from harness.agent.events import Damaged, Event, SampleStart
from harness.errors import RunDirectoryError
from harness.features.storage import pack as packing
from harness.features.storage.pack import Packed, pack, unpack
from harness.run.plan.target import read_turns
from harness.run.store.directory import RunDirectory
from harness.run.store.results import ResultsFile, SampleResult
from harness.run.store.transcript import file_name
from harness.run.store.transcripts import (
    LARGEST_TRANSCRIPT,
    MAGIC,
    TAIL,
    Pack,
    TranscriptPlace,
    Transcripts,
)

RECORDED = WRITTEN / "agentic" / "default"
NAMES = sorted(path.name for path in (RECORDED / "transcripts").iterdir())
MANIFEST = {"prompt": {"hash": "h"}, "spec": {"samples_per_problem": 1}, "problems": {}}


def _result(problem: str, index: int) -> SampleResult:
    return made_result(problem, index=index, solved=True)


def commit(run: Path, *names: str) -> None:
    """Write down a result for each of these transcripts."""
    with closing(ResultsFile(run / "results.jsonl")) as results, Transcripts(run) as transcripts:
        for name in names:
            start = next(transcripts.events(name))
            assert isinstance(start, SampleStart)
            results.append(_result(start.problem_id, start.index))


def place(run: Path, *names: str) -> None:
    """Put some of the hand-written recordings into a run."""
    (run / "transcripts").mkdir(exist_ok=True)
    for name in names:
        content = (RECORDED / "transcripts" / name).read_bytes()
        (run / "transcripts" / name).write_bytes(content)


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[[int], Path]:
    """A finished run with so many of the hand-written recordings."""

    def make(samples: int) -> Path:
        directory = RunDirectory.create(tmp_path / "run", MANIFEST)
        directory.close()
        place(directory.path, *NAMES[:samples])
        commit(directory.path, *NAMES[:samples])
        return directory.path

    return make


def told(run: Path) -> dict[str, list[Event]]:
    """All that can be read of a run's transcripts."""
    with Transcripts(run) as transcripts:
        assert all(transcripts.exists(name) for name in transcripts.names())
        return {name: list(transcripts.events(name)) for name in transcripts.names()}


def files(run: Path) -> dict[str, bytes]:
    """Every file of a run."""
    paths = (path for path in run.rglob("*") if path.is_file())
    return {str(path.relative_to(run)): path.read_bytes() for path in paths}


class TestPacking:
    def test_every_transcript_is_read_from_one_file_as_before(
        self, make_run: Callable[[int], Path]
    ) -> None:
        run = make_run(20)
        before, turns = told(run), read_turns(run)
        done = pack(run)
        assert (done.added, done.held, done.left) == (20, 20, 0)
        assert sorted(files(run)) == ["results.jsonl", "run.json", "transcripts.pack"]
        assert not (run / "transcripts").exists()
        assert told(run) == before
        assert read_turns(run) == turns

    def test_a_pack_is_much_smaller_than_its_transcripts_each_compressed(
        self, make_run: Callable[[int], Path]
    ) -> None:
        run = make_run(20)
        loose = [(run / "transcripts" / name).read_bytes() for name in NAMES]
        done = pack(run)
        assert done.size == sum(map(len, loose))
        assert done.packed == (run / "transcripts.pack").stat().st_size
        assert done.packed < 0.7 * sum(len(gzip.compress(content, 9)) for content in loose)

    def test_undone_every_file_is_what_it_was(self, make_run: Callable[[int], Path]) -> None:
        run = make_run(20)
        before = files(run)
        pack(run)
        assert unpack(run) == 20
        assert files(run) == before

    def test_a_sample_without_a_result_stays_as_it_is(
        self, make_run: Callable[[int], Path]
    ) -> None:
        run = make_run(3)
        place(run, NAMES[3])
        before = told(run)
        assert pack(run).left == 1
        assert [path.name for path in (run / "transcripts").iterdir()] == [NAMES[3]]
        assert told(run) == before

    def test_what_comes_later_is_added(self, make_run: Callable[[int], Path]) -> None:
        run = make_run(3)
        pack(run)
        place(run, *NAMES[3:5])
        commit(run, *NAMES[3:5])
        before = told(run)
        done = pack(run)
        assert (done.added, done.held) == (2, 5)
        assert told(run) == before
        assert list(before) == NAMES[:5]

    def test_what_lies_loose_wins_and_is_packed_in_its_place(
        self, make_run: Callable[[int], Path]
    ) -> None:
        run = make_run(2)
        pack(run)
        first, other = (told(run)[name] for name in NAMES[:2])
        (run / "transcripts").mkdir()
        loose = run / "transcripts" / NAMES[0]
        loose.write_bytes((RECORDED / "transcripts" / NAMES[1]).read_bytes())
        assert told(run)[NAMES[0]] == other != first
        assert pack(run).held == 2
        assert not loose.exists()
        assert told(run)[NAMES[0]] == other

    def test_a_pack_is_left_alone_where_nothing_is_new(
        self, make_run: Callable[[int], Path]
    ) -> None:
        run = make_run(2)
        pack(run)
        before = (run / "transcripts.pack").stat()
        assert pack(run).added == 0
        after = (run / "transcripts.pack").stat()
        assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)

    def test_a_run_without_a_result_has_nothing_to_pack(
        self, make_run: Callable[[int], Path]
    ) -> None:
        run = make_run(0)
        place(run, *NAMES[:2])
        assert pack(run) == Packed(added=0, held=0, size=0, packed=0, left=2)
        assert list(told(run)) == NAMES[:2]

    def test_a_very_large_transcript_stays_as_it_is(self, make_run: Callable[[int], Path]) -> None:
        run = make_run(2)
        os.truncate(run / "transcripts" / NAMES[0], LARGEST_TRANSCRIPT + 1)
        assert (pack(run).held, pack(run).left) == (1, 1)
        assert (run / "transcripts" / NAMES[0]).stat().st_size == LARGEST_TRANSCRIPT + 1

    def test_too_many_transcripts_for_a_pack_are_refused_and_stay(
        self, make_run: Callable[[int], Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = make_run(2)
        before = files(run)
        monkeypatch.setattr(packing, "LARGEST_INDEX", 50)
        with pytest.raises(RunDirectoryError, match="too many"):
            pack(run)
        assert files(run) == before

    def test_nothing_is_removed_that_cannot_be_read_back(
        self, make_run: Callable[[int], Path], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        run = make_run(2)
        before = files(run)

        def fsync(handle: int) -> None:  # a disk that spoils what it was given
            os.pwrite(handle, b"\xff" * 8, os.fstat(handle).st_size // 2)

        monkeypatch.setattr(packing.os, "fsync", fsync)
        with pytest.raises(RunDirectoryError, match="damaged"):
            pack(run)
        assert files(run) == before


class TestRefusals:
    @pytest.mark.parametrize("work", [pack, unpack])
    def test_a_run_that_is_being_written(
        self, work: Callable[[Path], object], make_run: Callable[[int], Path]
    ) -> None:
        run = make_run(1)
        before = files(run)
        with (
            closing(ResultsFile(run / "results.jsonl")),
            pytest.raises(RunDirectoryError, match="another process"),
        ):
            work(run)
        assert files(run) == before

    @pytest.mark.parametrize("work", [pack, unpack])
    def test_a_folder_that_is_no_run(self, work: Callable[[Path], object], tmp_path: Path) -> None:
        with pytest.raises(RunDirectoryError, match=r"no run\.json"):
            work(tmp_path)
        assert not any(tmp_path.iterdir())

    def test_unpacking_a_run_without_a_pack_is_refused(
        self, make_run: Callable[[int], Path]
    ) -> None:
        with pytest.raises(RunDirectoryError, match="not packed"):
            unpack(make_run(1))


class TestReading:
    def test_one_who_reads_is_not_disturbed_by_packing_and_unpacking(
        self, make_run: Callable[[int], Path]
    ) -> None:
        run = make_run(3)
        expected = told(run)
        with Transcripts(run) as transcripts:
            for work in (pack, unpack, pack):
                names = transcripts.names()
                work(run)
                assert {name: list(transcripts.events(name)) for name in names} == expected

    def test_a_pack_put_in_the_place_of_another_is_seen(
        self, make_run: Callable[[int], Path]
    ) -> None:
        run = make_run(2)
        pack(run)
        with Transcripts(run) as transcripts:
            assert not transcripts.exists(NAMES[2])
            place(run, NAMES[2])
            commit(run, NAMES[2])
            pack(run)
            assert transcripts.exists(NAMES[2])
            assert transcripts.names() == NAMES[:3]

    def test_what_comes_out_of_the_pack_between_two_looks_is_found(
        self, make_run: Callable[[int], Path]
    ) -> None:
        run = make_run(2)
        expected = told(run)

        class Unlucky(Transcripts):
            def _packed(self) -> dict[str, TranscriptPlace]:
                with suppress(RunDirectoryError):
                    unpack(run)
                return super()._packed()

        pack(run)
        with Unlucky(run) as transcripts:
            assert transcripts.names() == NAMES[:2]
        pack(run)
        with Unlucky(run) as transcripts:
            assert transcripts.exists(NAMES[0])
        pack(run)
        with Unlucky(run) as transcripts:
            assert list(transcripts.events(NAMES[0])) == expected[NAMES[0]]

    def test_a_transcript_that_is_not_there_is_named(self, make_run: Callable[[int], Path]) -> None:
        with Transcripts(make_run(1)) as transcripts:
            assert not transcripts.exists("none-0.jsonl")
            with pytest.raises(RunDirectoryError, match=r"none-0\.jsonl: there is no such"):
                next(transcripts.events("none-0.jsonl"))

    def test_a_torn_last_event_is_none_and_a_bad_line_keeps_its_place(
        self, make_run: Callable[[int], Path]
    ) -> None:
        run = make_run(2)
        torn, bad = (run / "transcripts" / name for name in NAMES[:2])
        expected = told(run)[NAMES[0]]
        torn.write_bytes(torn.read_bytes() + b'{"event": "resp')
        bad.write_bytes(bad.read_bytes() + b'{"event": "nothing"}\n')
        lines = len(bad.read_bytes().splitlines())
        for work in (pack, unpack):
            work(run)
            with Transcripts(run) as transcripts:
                assert list(transcripts.events(NAMES[0])) == expected
                *_, last = transcripts.events(NAMES[1])
                assert isinstance(last, Damaged)
                assert last.line == lines


# Kills a process before every single thing that it does to a file, each time in a copy of the run.
KILLED_AT_EVERY_STEP = """
import os, shutil, signal, sys
from pathlib import Path
from harness.features.storage import pack as packing

work, source, folder = getattr(packing, sys.argv[1]), sys.argv[2], Path(sys.argv[3])
STEPS = {"open", "write", "flush", "fsync", "replace", "rename", "unlink", "mkdir", "rmdir"}
left = 0

def watch(frame, event, called):
    global left
    if event == "c_call" and called.__name__ in STEPS:
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1

for step in range(1_000):
    run = folder / f"{step}"
    shutil.copytree(source, run)
    child = os.fork()
    if not child:
        left = step
        sys.setprofile(watch)
        work(run)
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if not status:
        break
    assert os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL, status
"""


@pytest.mark.thorough
@pytest.mark.parametrize(("work", "steps"), [("pack", 30), ("unpack", 20)])
def test_kill_9_at_any_step_loses_nothing(
    work: str, steps: int, make_run: Callable[[int], Path], tmp_path: Path
) -> None:
    run = make_run(2)
    pack(run)
    place(run, *NAMES[2:5])  # some are in a pack already, some lie loose, ...
    commit(run, *NAMES[2:4])  # ... and one has no result
    expected = told(run)
    assert list(expected) == NAMES[:5]
    (tmp_path / "killed").mkdir()
    subprocess.run(
        [sys.executable, "-c", KILLED_AT_EVERY_STEP, work, run, tmp_path / "killed"],
        check=True,
        timeout=120,
    )
    copies = list((tmp_path / "killed").iterdir())
    assert len(copies) >= steps
    for copy in copies:
        assert told(copy) == expected, copy.name
        done = pack(copy)
        assert (done.held, done.left) == (4, 1), copy.name
        assert told(copy) == expected, copy.name
        unpack(copy)
        after = files(copy)
        assert after.keys() == {
            "results.jsonl",
            "run.json",
            *(f"transcripts/{name}" for name in NAMES[:5]),
        }, copy.name
        for name in NAMES[:5]:
            recorded = (RECORDED / "transcripts" / name).read_bytes()
            assert after[f"transcripts/{name}"] == recorded, (copy.name, name)


@pytest.mark.parametrize("work", [pack, unpack])
def test_what_a_killed_process_had_half_written_is_cleared_away(
    work: Callable[[Path], object], make_run: Callable[[int], Path]
) -> None:
    run = make_run(2)
    pack(run)
    (run / "transcripts").mkdir()
    drafts = (run / packing.DRAFT, run / "transcripts" / packing.LOOSE_DRAFT)
    for draft in drafts:
        draft.write_bytes(b"half")
    work(run)
    assert not any(draft.exists() for draft in drafts)


def write_pack(
    path: Path,
    index: object,
    members: tuple[bytes, ...],
    dictionary: bytes = b"",
    lengths: tuple[int, int] = (0, 0),
) -> None:
    """A pack as somebody else may have written it; `lengths` are added to those in its tail."""
    head, tail = zlib.compress(dictionary), zlib.compress(json.dumps(index).encode())
    ends = TAIL.pack(len(head) + lengths[0], len(tail) + lengths[1])
    path.write_bytes(MAGIC + head + b"".join(members) + tail + ends)


BOMB_BYTES = 256 << 20
A, B = zlib.compress(b"one\n"), zlib.compress(b"two\n")


def _places(*entries: tuple[str, int, int]) -> dict[str, Any]:
    return {"index": entries}


class TestHostile:
    @pytest.mark.parametrize(
        ("content", "why"),
        [
            (_places(("a.jsonl", len(A), 4), ("b.jsonl", 0, 4)), "do not fit together"),
            (_places(("a.jsonl", len(A), 4), ("b.jsonl", len(A) + len(B), 4)), "not fit together"),
            (_places(("a.jsonl", len(A), 4), ("a.jsonl", len(B), 4)), "no place for 'a.jsonl'"),
            (_places(("../a.jsonl", len(A), 4), ("b.jsonl", len(B), 4)), "no place for"),
            (_places(("a.json", len(A), 4), ("b.jsonl", len(B), 4)), "no place for"),
            (_places(("a\n.jsonl", len(A), 4), ("b.jsonl", len(B), 4)), "no place for"),
            (_places(("a" * 999 + ".jsonl", len(A), 4), ("b.jsonl", len(B), 4)), "no place for"),
            (_places(("a.jsonl", len(A), 10**10), ("b.jsonl", len(B), 4)), "no place for"),
            (_places(("a.jsonl", -1, 4), ("b.jsonl", 1, 4)), "greater than or equal to 0"),
            ({"index": {"a.jsonl": 4}}, "valid array"),
            ({"index": [["a.jsonl", "4", 4]]}, "valid integer"),
            ({"index": [], "lengths": (10**15, 0)}, "lengths do not fit"),
            ({"index": [], "lengths": (0, 1)}, "the index: "),
            ({"index": [], "lengths": (0, 10**19)}, "lengths do not fit"),
            ({"index": [], "dictionary": bytes(40_000)}, "the dictionary is not as long"),
        ],
    )
    def test_a_pack_whose_parts_do_not_fit_is_refused_in_a_line(
        self, content: dict[str, Any], why: str, tmp_path: Path
    ) -> None:
        path = tmp_path / "transcripts.pack"
        write_pack(path, members=(A, B), **content)
        with pytest.raises(RunDirectoryError, match="is damaged") as caught, Pack(path):
            pass
        text = str(caught.value)
        assert why in text
        assert "\n" not in text
        assert len(text) < 500 + len(str(path))

    def test_a_sound_pack_made_the_same_way_is_read(self, tmp_path: Path) -> None:
        path = tmp_path / "transcripts.pack"
        write_pack(path, [("a.jsonl", len(A), 4), ("b.jsonl", len(B), 4)], (A, B))
        with Pack(path) as pack_file:
            assert [pack_file.read(name) for name in pack_file.places] == [b"one\n", b"two\n"]

    @pytest.mark.parametrize("size", [0, 3, 5, 1_000])
    def test_a_transcript_of_another_length_than_said_is_refused(
        self, size: int, tmp_path: Path
    ) -> None:
        path = tmp_path / "transcripts.pack"
        write_pack(path, [("a.jsonl", len(A), size)], (A,))
        with (
            Pack(path) as pack_file,
            pytest.raises(RunDirectoryError, match="not as long as was said"),
        ):
            pack_file.read("a.jsonl")

    @pytest.mark.thorough
    @pytest.mark.parametrize("where", ["transcript", "index", "dictionary"])
    def test_what_inflates_without_end_takes_no_memory(self, where: str, tmp_path: Path) -> None:
        path = tmp_path / "transcripts.pack"
        squeezer = zlib.compressobj(1)
        parts = [squeezer.compress(bytes(1 << 20)) for _ in range(BOMB_BYTES >> 20)]
        bomb = b"".join([*parts, squeezer.flush()])
        if where == "transcript":
            size = len(bomb)
            write_pack(path, [("a.jsonl", len(bomb), size)], (bomb,))
        elif where == "index":
            path.write_bytes(MAGIC + A + bomb + TAIL.pack(len(A), len(bomb)))
        else:
            path.write_bytes(MAGIC + bomb + A + TAIL.pack(len(bomb), len(A)))
        tracemalloc.start()
        try:
            with pytest.raises(RunDirectoryError, match="is damaged"), Pack(path) as pack_file:
                pack_file.read("a.jsonl")
            assert tracemalloc.get_traced_memory()[1] < BOMB_BYTES / 4
        finally:
            tracemalloc.stop()

    def test_a_hole_in_the_file_is_not_read(self, tmp_path: Path) -> None:
        path = tmp_path / "transcripts.pack"
        index = zlib.compress(json.dumps([["a.jsonl", 1 << 33, 4]]).encode())
        with path.open("wb") as file:
            file.write(MAGIC + A)
            file.seek(1 << 33, os.SEEK_CUR)
            file.write(index + TAIL.pack(len(A), len(index)))
        with (
            Pack(path) as pack_file,
            pytest.raises(RunDirectoryError, match="takes more than it can"),
        ):
            pack_file.read("a.jsonl")

    def test_a_bit_that_flipped_anywhere_is_noticed(self, make_run: Callable[[int], Path]) -> None:
        run = make_run(2)
        sound = told(run)
        pack(run)
        path = run / "transcripts.pack"
        whole = path.read_bytes()
        for where in range(0, len(whole), 97):
            spoilt = bytearray(whole)
            spoilt[where] ^= 1 << where % 8
            path.write_bytes(spoilt)
            with suppress(RunDirectoryError):
                assert told(run) == sound  # some bits mean nothing

    @pytest.mark.parametrize("length", [0, 5, 40, -1, -20])
    def test_a_pack_that_was_cut_off_is_refused(
        self, length: int, make_run: Callable[[int], Path]
    ) -> None:
        run = make_run(2)
        pack(run)
        path = run / "transcripts.pack"
        path.write_bytes(path.read_bytes()[:length])
        with Transcripts(run) as transcripts, pytest.raises(RunDirectoryError, match="is damaged"):
            transcripts.names()
        cut = path.read_bytes()
        place(run, NAMES[2])
        commit(run, NAMES[2])
        for work in (pack, unpack):  # and nothing is made worse
            with pytest.raises(RunDirectoryError, match="is damaged"):
                work(run)
        assert path.read_bytes() == cut
        assert (run / "transcripts" / NAMES[2]).exists()

    def test_a_pack_that_is_no_file_is_not_waited_for(
        self, make_run: Callable[[int], Path]
    ) -> None:
        run = make_run(1)
        os.mkfifo(run / "transcripts.pack")
        with (
            Transcripts(run) as transcripts,
            pytest.raises(RunDirectoryError, match="not a regular file"),
        ):
            transcripts.names()

    def test_unpacking_a_damaged_one_saves_what_can_be_read_and_keeps_it(
        self, make_run: Callable[[int], Path]
    ) -> None:
        run = make_run(0)
        name = file_name("made/a", 0)
        index = [(name, len(A), 4), ("b.jsonl", len(B), 5)]
        write_pack(run / "transcripts.pack", index, (A, B))
        with pytest.raises(RunDirectoryError, match=r"b\.jsonl is not as long"):
            unpack(run)
        assert (run / "transcripts" / name).read_bytes() == b"one\n"
        assert sorted(files(run)) == [
            "results.jsonl",
            "run.json",
            "transcripts.pack",
            f"transcripts/{name}",
        ]
