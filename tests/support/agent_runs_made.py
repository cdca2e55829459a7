"""Agent runs on `own/echo` in the formats of other programs."""

import io
import json
import zipfile
from typing import Any

import pyarrow as pa

WRONG, RIGHT = "print(1)", "print(input())"


def call(name: str, arguments: dict[str, Any], key: str) -> dict[str, Any]:
    """Return a tool call in the format of chat completions."""
    return {
        "id": key,
        "type": "function",
        "function": {"name": name, "arguments": json.dumps(arguments)},
    }


def messages(*codes: str, tests: bool = True) -> list[dict[str, Any]]:
    """Return a conversation that writes each program with a tool and runs the tests."""
    conversation: list[dict[str, Any]] = [{"role": "user", "content": "Print the input."}]
    for number, code in enumerate(codes):
        calls = [call("write_solution", {"code": code}, f"w{number}")]
        calls += [call("run_tests", {}, f"t{number}")] * tests
        usage = {"prompt_tokens": 100, "completion_tokens": 20}
        conversation.append(
            {"role": "assistant", "content": None, "tool_calls": calls, "usage": usage}
        )
        conversation += [
            {"role": "tool", "tool_call_id": each["id"], "content": "done"} for each in calls
        ]
    return conversation


def atif(*codes: str, **more: Any) -> dict[str, Any]:
    """Return a trajectory in Harbor's format, of an agent that calls `submit`."""
    steps: list[dict[str, Any]] = [{"step_id": 1, "source": "user", "message": "Print the input."}]
    for number, code in enumerate(codes):
        made = {"tool_call_id": "c", "function_name": "submit", "arguments": {"text": code}}
        steps.append(
            {
                "step_id": number + 2,
                "timestamp": f"2026-01-01T00:00:{10 * number:02}Z",
                "source": "agent",
                "message": "",
                "tool_calls": [made],
                "observation": {"results": [{"source_call_id": "c", "content": "ok"}]},
                "metrics": {"prompt_tokens": 10, "completion_tokens": 2, "cost_usd": 0.25},
            }
        )
    agent = {"name": "their-agent", "version": "1", "model_name": "their-model"}
    return {"schema_version": "ATIF-v1.6", "agent": agent, "steps": steps, **more}


def trace(*codes: str, **more: Any) -> dict[str, Any]:
    """Return a trace in the format of `verifiers` 0.4."""
    nodes: list[dict[str, Any]] = [{"message": {"role": "user", "content": "?"}, "sampled": False}]
    calls: list[dict[str, Any]] = []
    for code in codes:
        answer = {"role": "assistant", "content": f"```python\n{code}\n```"}
        usage = {"prompt_tokens": 90, "cached_input_tokens": 10, "completion_tokens": 20}
        calls.append({"node": len(nodes), "model": "their-model", "usage": usage})
        nodes.append({"message": answer, "sampled": True, "parent": len(nodes) - 1})
        nodes.append({"message": {"role": "user", "content": "wrong"}, "sampled": False})
    data = {"idx": 0, "id": "own/echo", "prompt": "?"}
    return {
        "version": 1,
        "task": {"type": "T", "data": data},
        "agent": {"name": "agent", "config": {}},
        "nodes": nodes,
        "calls": calls,
        "rewards": {"solved": {"score": 1.0, "weight": 1.0}},
        "ok": True,
        "errors": [],
        **more,
    }


def inspect_sample(*codes: str, **more: Any) -> dict[str, Any]:
    """Return a sample of an Inspect log; programs are attachments, like long texts."""
    conversation: list[dict[str, Any]] = [{"role": "user", "content": "?", "id": "m"}]
    events: list[dict[str, Any]] = []
    attachments: dict[str, str] = {}
    for number, code in enumerate(codes):
        key = f"{number:032x}"
        attachments[key] = code
        made = {
            "id": f"c{number}",
            "function": "write_solution",
            "arguments": {"code": f"attachment://{key}"},
        }
        answer = {"role": "assistant", "content": "", "id": f"a{number}", "tool_calls": [made]}
        result = {"role": "tool", "tool_call_id": f"c{number}", "content": "saved"}
        conversation += [answer, {**result, "function": "write_solution"}]
        usage = {"input_tokens": 90, "input_tokens_cache_read": 10, "output_tokens": 20}
        output = {"choices": [{"message": answer}], "usage": usage}
        completed = f"2026-01-01T00:00:{number + 1:02}+00:00"
        events.append({"event": "model", "output": output, "completed": completed})
    return {
        "id": "own/echo",
        "epoch": 1,
        "messages": conversation,
        "events": events,
        "attachments": attachments,
        "started_at": "2026-01-01T00:00:00+00:00",
        "scores": {"s": {"value": "C", "answer": "anything"}},
        **more,
    }


def eval_log(*samples: dict[str, Any], zstandard: bool = False) -> bytes:
    """Return an `.eval` archive of the samples."""
    out = io.BytesIO()
    header = {"version": 2, "status": "success", "eval": {"model": "their-model"}}
    members = {"header.json": header} | {
        f"samples/{number}_epoch_1.json": sample for number, sample in enumerate(samples)
    }
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED if zstandard else zipfile.ZIP_DEFLATED) as z:
        for name, value in members.items():
            data = json.dumps(value).encode()
            z.writestr(name, _zstd(data) if zstandard else data)
    return _marked(out.getvalue()) if zstandard else out.getvalue()


def _zstd(data: bytes) -> bytes:
    buffer = pa.BufferOutputStream()
    with pa.CompressedOutputStream(buffer, "zstd") as stream:
        stream.write(data)
    return buffer.getvalue().to_pybytes()


def _marked(archive: bytes) -> bytes:
    """Replace the method stored (0) by Zstandard (93), which `zipfile` cannot write."""
    data = bytearray(archive)
    for start, at in ((b"PK\x03\x04", 8), (b"PK\x01\x02", 10)):
        place = data.find(start)
        while place >= 0:
            data[place + at : place + at + 2] = (93).to_bytes(2, "little")
            place = data.find(start, place + 4)
    return bytes(data)
