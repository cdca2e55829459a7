"""An interrupt, as a user's Ctrl-C: nothing goes on running, and what was graded is kept."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from processes import descendants, is_alive

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
"""
ROW = '{"id": "ID", "statement": "Echo.", "tests": [{"input": "1", "output": "1"}]}\n'


@pytest.mark.parametrize("how", ["plain", "task", "notebook"])
def test_an_interrupt_leaves_no_process_and_keeps_what_was_graded(how: str, tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    rows.write_text("".join(ROW.replace("ID", name) for name in ("first", "second")))
    command = [sys.executable, "-c", PROGRAM, how, f"jsonl:{rows}"]
    env = {**os.environ, "HF_HOME": str(tmp_path / "cache")}
    with subprocess.Popen(
        command,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=env,
    ) as process:
        assert process.stdout is not None
        events: set[str] = set()
        while not {"sample_ended jsonl/first#0", "sample_started jsonl/second#0"} <= events:
            line = process.stdout.readline()
            assert line, process.stderr and process.stderr.read()
            events.add(line.strip())
        started = descendants(process.pid)
        process.send_signal(signal.SIGINT)
        try:
            out, err = process.communicate(timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0, err
    assert "interrupted 1" in out, err
    until = time.monotonic() + 60
    while any(map(is_alive, started)) and time.monotonic() < until:
        time.sleep(0.02)
    assert not [pid for pid in started if is_alive(pid)]
    kept = harness.compare(tmp_path / "r", tmp_path / "r").runs[0].summary
    assert (kept.graded, sum(kept.pending.values())) == (1, 1)
    assert set(kept.pending) <= {"interrupted", "not_run"}
