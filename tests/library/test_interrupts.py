"""An interrupt, as a user's Ctrl-C: nothing goes on running, and what was graded is kept."""

import asyncio
import signal
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from processes import descendants, is_alive
from program import PATIENCE_S, finish, start_after

import harness

PROGRAM = """
import asyncio, os, sys, threading
import harness

def answer(problem):
    if "first" in problem["id"]:
        return "print(input())"
    return "while True: pass"

def told(event):
    print(event.event, getattr(event, "sample", ""), flush=True)

def main():
    harness.evaluate(answer, benchmark=sys.argv[2], out="r", concurrency=1, observer=told,
                     test_timeout=60, workers=2)

async def task():
    main()

try:
    match sys.argv[1]:
        case "plain":
            main()
        case "task":
            asyncio.run(task())
        case "notebook":  # whose loop leaves interrupts as they are
            asyncio.new_event_loop().run_until_complete(task())
except KeyboardInterrupt:
    print("interrupted", threading.active_count(), flush=True)
sys.exit()
"""
ROW = '{"id": "ID", "statement": "Echo.", "tests": [{"input": "1", "output": "1"}]}\n'


def have_ended(processes: Iterable[int]) -> bool:
    """Return whether all these processes end soon."""
    until = time.monotonic() + PATIENCE_S
    while any(map(is_alive, processes)) and time.monotonic() < until:
        time.sleep(0.02)
    return not any(map(is_alive, processes))


@pytest.mark.parametrize("how", ["plain", "task", "notebook"])
async def test_an_interrupt_leaves_no_process_and_keeps_what_was_graded(
    how: str, tmp_path: Path
) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(ROW.replace("ID", name) for name in ("first", "second")))
    cache = str(tmp_path / "cache")
    process = await start_after(PROGRAM, tmp_path, how, f"jsonl:{rows}", HF_HOME=cache)
    assert process.stdout is not None
    events: set[str] = set()
    async with asyncio.timeout(PATIENCE_S):
        while not {"sample_ended jsonl/first#0", "sample_started jsonl/second#0"} <= events:
            line = (await process.stdout.readline()).decode()
            assert line, await finish(process)
            events.add(line.strip())
    started = descendants(process.pid)
    process.send_signal(signal.SIGINT)
    code, out, err = await finish(process)
    assert code == 0, err
    assert "interrupted 1" in out, err
    assert have_ended(started)
    kept = harness.compare(tmp_path / "r", tmp_path / "r").runs[0].summary
    assert (kept.graded, sum(kept.pending.values())) == (1, 1)
    assert set(kept.pending) <= {"interrupted", "not_run"}
