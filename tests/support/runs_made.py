"""Runs written by hand, with contents that no model in a test produces."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from json_lines import json_lines

from harness.languages.program_key import code_hash
from harness.run.store.transcript import file_name

Json = dict[str, Any]


def manifest(problems: Iterable[str], *, samples: int = 1, **spec: Any) -> Json:
    """Return the parts of `run.json` that are read."""
    return {
        "schema": 1,
        "created": "2026-11-21T12:00:00+00:00",
        "spec": {
            "samples_per_problem": samples,
            "model": "made",
            "mode": "agentic",
            "prompt": "default",
            **spec,
        },
        "price": None,
        "prompt": {"name": "default", "hash": "0" * 64},
        "problems": dict.fromkeys(problems, "0" * 64),
    }


def result(problem: str, index: int = 0, **other: Any) -> Json:
    """Return a line of `results.jsonl`."""
    return {
        "sample": f"{problem}#{index}",
        "problem_id": problem,
        "index": index,
        "title": problem.rpartition("/")[2].replace("-", " ").title(),
        "problem_hash": "0" * 64,
        "platform": "codeforces",
        "difficulty": "easy",
        "tags": ["math"],
        "release_date": None,
        "known_issues": [],
        "verdict": "accepted",
        "public_passed": 1,
        "public_total": 1,
        "hidden_passed": 2,
        "hidden_total": 2,
        "tests": [],
        "code": "print(1)\n",
        "chosen_by": "newest",
        "extraction": "",
        "stop_reason": "public_tests_passed",
        "model_calls": 2,
        "tool_calls": 2,
        "malformed_tool_calls": 0,
        "nudges": 0,
        "written": 1,
        "usage": {"input_tokens": 100, "output_tokens": 20},
        "cost": None,
        "seconds": 1.5,
        **other,
    }


def response(
    turn: int, text: str = "", calls: Iterable[tuple[str, str, str]] = (), **other: Any
) -> Json:
    """Return a model's answer; a call is its id, name and arguments."""
    tool_calls = [{"id": i, "name": name, "arguments": arguments} for i, name, arguments in calls]
    turned = {"text": text, "tool_calls": tool_calls, "stop": {"reason": "end_turn"}, **other}
    return {"event": "response", "turn": turn, "response": turned}


def tool_result(turn: int, call: str, name: str, content: str, **other: Any) -> Json:
    """Return the result of a call."""
    message = {"role": "tool", "call_id": call, "name": name, "content": content}
    return {"event": "tool_result", "turn": turn, "result": message, "seconds": 0.1, **other}


def request(turn: int, *messages: tuple[str, str]) -> Json:
    """Return a request with messages, each a role and a text."""
    sent_messages = [{"role": role, "content": content} for role, content in messages]
    return {"event": "request", "turn": turn, "hash": "0", "messages": sent_messages}


def start(problem: str, index: int = 0) -> Json:
    """Return the start of a transcript."""
    return {
        "event": "sample_start",
        "schema": 1,
        "sample": f"{problem}#{index}",
        "problem_id": problem,
        "index": index,
        "mode": "agentic",
        "model": "made",
    }


def write_run(path: Path, results: Iterable[Json], **head: Any) -> Path:
    """Write a run with these results."""
    rows = list(results)
    path.mkdir(parents=True)
    (path / "transcripts").mkdir()
    problems = head.pop("problems", [row["problem_id"] for row in rows])
    (path / "run.json").write_text(json.dumps(manifest(problems, **head)))
    (path / "results.jsonl").write_text(json_lines(rows))
    return path


def write_steps(run: Path, problem: str, *programs: str) -> None:
    """Give a problem's result the revisions of its answers, one an answer from the first."""
    unknown = dict.fromkeys(("tokens", "cost", "seconds", "public_passed", "solved"))
    numbered = enumerate(map(code_hash, programs), 1)
    steps = [{**unknown, "turn": turn, "code_hash": each} for turn, each in numbered]
    path = run / "results.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    path.write_text(
        json_lines(row | ({"steps": steps} if row["problem_id"] == problem else {}) for row in rows)
    )


def write_experiment(path: Path) -> Path:
    """A folder that holds the runs of an experiment, none of them begun."""
    path.mkdir(exist_ok=True)
    (path / "experiment.json").write_text("{}")
    return path


def write_transcript(run: Path, problem: str, events: Iterable[Json], index: int = 0) -> Path:
    """Write the transcript of a sample."""
    path = run / "transcripts" / file_name(problem, index)
    path.write_text(json_lines(events))
    return path
