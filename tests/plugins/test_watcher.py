"""An observer can break nothing: it may raise, be slow, never return, print, or end the thread."""

import json
import threading
import time
from pathlib import Path

import pytest
from program import harness, start
from results_made import made_result

from harness.features.observers.attach import Watcher
from harness.features.observers.observer_events import (
    Observed,
    RunFailed,
    RunStarted,
    SampleEnded,
    SampleStarted,
    Watching,
)
from harness.grading.verdict import Verdict
from harness.run.observer import Failure
from harness.terminal.consoles import console
from harness.terminal.run_progress import RunProgress

SOON = 30.0  # seconds; never waited for in full


def _sample(number: int) -> Observed:
    return SampleStarted(run="r", sample=f"p#{number}")


def _end() -> Observed:
    return RunFailed(run="r", cause="no room")


def _names(events: list[Observed]) -> list[str]:
    return [getattr(event, "sample", event.event) for event in events]


def test_events_are_told_in_order_and_then_it_is_closed() -> None:
    events: list[Observed] = []
    closed = threading.Event()

    class Kept:
        def __call__(self, event: Observed) -> None:
            events.append(event)

        def close(self) -> None:
            closed.set()

    watcher = Watcher("kept", Kept)
    for number in range(100):
        watcher.tell(_sample(number))
    assert watcher.close(time.monotonic() + SOON) is None
    assert _names(events) == [f"p#{number}" for number in range(100)]
    assert closed.is_set()


def test_an_observer_that_raises_is_told_the_rest_and_blamed_once() -> None:
    events: list[Observed] = []

    def watch(event: Observed) -> None:
        events.append(event)
        if len(events) > 1:
            raise SystemExit("two\nlines")

    watcher = Watcher("bad", lambda: watch)
    for number in range(5):
        watcher.tell(_sample(number))
    report = watcher.close(time.monotonic() + SOON)
    assert report == "bad: it failed at 4 of 5 events, at first by SystemExit: two lines"
    assert len(events) == 5


def test_an_observer_whose_error_has_no_message_is_named_by_its_type() -> None:
    class SpeechlessError(Exception):
        def __str__(self) -> str:
            raise ValueError

    class Bad:
        def __call__(self, _: Observed) -> None:
            raise SpeechlessError

        def close(self) -> None:
            raise SpeechlessError

    watcher = Watcher("bad", Bad)
    watcher.tell(_end())
    report = watcher.close(time.monotonic() + SOON)
    assert report == "bad: it failed at 1 of 1 event, at first by SpeechlessError"


def test_an_observer_that_cannot_be_made_is_tried_once() -> None:
    tries: list[int] = []

    def make() -> None:
        tries.append(1)
        raise KeyError("token")

    watcher = Watcher("unmade", make)  # pyright: ignore[reportArgumentType] - that is the point
    for number in range(3):
        watcher.tell(_sample(number))
    report = watcher.close(time.monotonic() + SOON)
    assert report == "unmade: it failed at 3 of 3 events, at first by KeyError: 'token'"
    assert tries == [1]


def test_an_observer_that_blocks_loses_events_but_not_the_end_of_the_run() -> None:
    free, begun = threading.Event(), threading.Event()
    events: list[Observed] = []

    def watch(event: Observed) -> None:
        begun.set()
        free.wait(SOON)
        events.append(event)

    watcher = Watcher("slow", lambda: watch, room=10)
    watcher.tell(_sample(0))
    assert begun.wait(SOON)
    for number in range(1, 100):
        watcher.tell(_sample(number))  # ten of them wait; it is not waited for any
    watcher.tell(_end())
    assert (
        watcher.close(time.monotonic()) == "slow: 101 of 101 events were lost, as it was too slow"
    )
    free.set()
    assert watcher._thread is not None
    watcher._thread.join(SOON)
    assert _names(events) == [*(f"p#{number}" for number in range(11)), "run_failed"]


def test_an_observer_that_is_closing_is_not_waited_for() -> None:
    free, closing = threading.Event(), threading.Event()

    class Lingers:
        def __call__(self, _: Observed) -> None:
            """Is quick."""

        def close(self) -> None:
            closing.set()
            free.wait(SOON)

    watcher = Watcher("lingers", Lingers)
    watcher.tell(_end())
    watcher.close(time.monotonic())
    assert closing.wait(SOON)
    assert watcher.close(time.monotonic()) == (
        "lingers: it has not finished the last event and is no longer waited for"
    )
    free.set()


def test_an_observer_without_events_has_no_thread() -> None:
    watcher = Watcher("idle", lambda: print, wants=(RunStarted,))
    watcher.tell(_sample(1))
    assert watcher._thread is None
    assert watcher.close(time.monotonic()) is None


def test_an_observer_for_which_no_thread_starts_is_reported(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def start(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    watcher = Watcher("starved", lambda: print)
    watcher.tell(_sample(1))
    report = watcher.close(time.monotonic())
    assert report == "starved: no thread could be started for it"


def test_an_observer_is_told_texts_of_any_bytes() -> None:
    events: list[Observed] = []
    watcher = Watcher("kept", lambda: events.append)
    watching = Watching(RunProgress(console(error=True), 1, ()), [watcher], Path("r\udcff"))
    watching.started("a/b#0")
    watching.failed(Failure("a/b#0", Verdict.MODEL_ERROR, "bad \udc80"))
    watching.broken(OSError("\udc81"))
    assert watcher.close(time.monotonic() + SOON) is None
    told_json = [json.loads(event.model_dump_json()) for event in events]
    assert [each["run"] for each in told_json] == ["r\\udcff"] * 3
    assert told_json[1]["cause"] == "bad \\udc80"


def test_output_of_an_observer_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    watcher = Watcher("loud", lambda: lambda event: print("told", event.event))
    watcher.tell(_end())
    assert watcher.close(time.monotonic() + SOON) is None
    print("the result")
    out, err = capsys.readouterr()
    assert (out, err) == ("the result\n", "told run_failed\n")


def test_an_event_is_json_and_holds_the_result() -> None:
    event = SampleEnded(run="r", sample="a/b#0", result=made_result("a/b", solved=True))
    data = json.loads(event.model_dump_json())
    assert (data["schema_version"], data["event"]) == (1, "sample_ended")
    assert data["result"]["verdict"] == "accepted"
    with pytest.raises(ValueError, match="frozen"):
        event.run = "other"  # pyright: ignore[reportAttributeAccessIssue]


OWN = """
import json, sys, time
def log(event):
    with open("log", "a") as file: file.write(event.model_dump_json() + "\\n")
    print("noise")
    if event.event == "run_ended": event.summary.verdicts.clear()
def bad(event): raise RuntimeError("broken")
class Unmade:
    def __init__(self): sys.exit(9)
"""


def test_a_run_is_the_same_whatever_its_observers_do(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    watchers = [
        word for name in ("log", "bad", "Unmade") for word in ("--observer", f"mine:{name}")
    ]
    done = harness(tmp_path, "run", "-n", "2", "--json", "--out", "r", *watchers)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert sum(summary["verdicts"].values()) == summary["graded"] == 2
    events = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
    kinds = [each["event"] for each in events]
    assert (kinds[0], kinds[-1]) == ("run_started", "run_ended")
    assert sorted(kinds[1:-1]) == ["sample_ended"] * 2 + ["sample_started"] * 2
    assert events[0]["left"] == 2
    assert (events[-1]["outcome"], events[-1]["summary"]["graded"]) == ("done", 2)
    assert {each["run"] for each in events} == {"r"}
    lines = done.stderr.splitlines()
    assert sum(line == "noise" for line in lines) == 6
    assert (
        "observer mine:bad: it failed at 6 of 6 events, at first by RuntimeError: broken" in lines
    )
    assert "observer mine:Unmade: it failed at 6 of 6 events, at first by SystemExit: 9" in lines


@pytest.mark.thorough
async def test_a_run_that_is_interrupted_or_has_samples_pending_says_so(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        f"{OWN}\nimport os, signal\n"
        "def solve(problem):\n"
        "    if problem['id'] > 'fixture/o': raise RuntimeError('down')\n"
        "    return 'print(1)'\n"
        "def stop(problem):\n    os.kill(os.getpid(), signal.SIGINT)\n    return 'print(1)'\n"
    )
    flags = ["run", "-b", "fixture", "-n", "3", "--observer", "mine:log"]
    outcomes: dict[str, str] = {}
    for model in ("solve", "stop"):
        process = await start(tmp_path, *flags, "-m", f"python:mine:{model}", "--concurrency", "1")
        await process.communicate()
        events = [json.loads(line) for line in (tmp_path / "log").read_text().splitlines()]
        outcomes[model] = events[-1]["outcome"]
        kinds = {each["event"] for each in events}
        assert ("sample_failed" in kinds) == (model == "solve")
        (tmp_path / "log").unlink()
    assert outcomes == {"solve": "incomplete", "stop": "interrupted"}


def test_an_unknown_observer_is_told_before_anything_is_done(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("number = 3")
    done = harness(tmp_path, "run", "--observer", "nobody")
    assert (done.returncode, done.stdout) == (2, "")
    assert "observer 'nobody' is unknown; those of plug-ins: none is installed" in done.stderr
    done = harness(tmp_path, "run", "--observer", "mine:number")
    assert "observer mine:number is a int; an observer is a function of an event" in done.stderr
    assert not (tmp_path / "runs").exists()


def test_nobody_is_told_of_a_dry_run(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(OWN)
    assert harness(tmp_path, "run", "--dry-run", "--observer", "mine:log").returncode == 0
    assert not (tmp_path / "log").exists()


@pytest.mark.thorough
def test_an_interrupt_ends_the_waiting_for_one_that_never_returns(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "import os, signal, time\n"
        "def watch(event):\n"
        "    if event.event != 'run_ended': return\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "    time.sleep(60)\n"
    )
    begun = time.monotonic()
    done = harness(tmp_path, "run", "-n", "1", "--json", "--observer", "mine:watch")
    assert time.monotonic() - begun < SOON
    assert (done.returncode, json.loads(done.stdout)["graded"]) == (0, 1)
    lost = "observer mine:watch: 1 of 4 events were lost, as it was too slow"
    assert lost in done.stderr.splitlines()
