"""ATIF 1.7, Harbor's Agent Trajectory Interchange Format: JSON per sample.

See https://harborframework.com/docs/trajectory-format. Data without a field in the format is stored
in `extra.harness`, so that `harness import` restores the same revisions: the problem and the
sample's index, the final solution, the rule that chose it, the stop reason, and the verdict.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

import harness
from harness.agent.events import (
    Cleared,
    Event,
    NewConversation,
    Response,
    SampleStart,
    Tested,
    ToolResult,
)
from harness.errors import RunDirectoryError
from harness.features.export.messages import arguments_of, json_line, transcript_of
from harness.models.prices import ListedPrice, Price, cost
from harness.models.protocol import (
    AssistantMessage,
    Message,
    ModelTurn,
    ToolCall,
    ToolMessage,
    Usage,
)
from harness.run.store.results import SampleResult
from harness.run.store.transcript_contents import entries, reasoning_text
from harness.run.store.transcripts import Transcripts
from harness.run.summary.loaded_run import Run

SCHEMA_VERSION = "ATIF-v1.7"


def atif_text(run: Run) -> Iterator[str]:
    """Yield JSON lines: a trajectory per sample with a transcript.

    Raises:
        RunDirectoryError: the run has no transcripts, or one cannot be read.
    """
    stored = run.manifest.get("price")
    price = None if stored is None else ListedPrice.model_validate(stored)
    found = False
    with Transcripts(run.path) as transcripts:
        for result in run.results:
            events = transcript_of(transcripts, result.problem_id, result.index)
            steps = _Steps(price).read(events or ())
            if steps:
                found = True
                yield json_line(_trajectory(run, result, steps))
    if run.results and not found:
        raise RunDirectoryError(f"{run.path} holds no transcripts: there is nothing to export")


def _trajectory(run: Run, result: SampleResult, steps: list[dict[str, Any]]) -> dict[str, Any]:
    totals: dict[str, Any] = {"total_steps": len(steps)}
    if result.usage is not None:
        totals |= {
            "total_prompt_tokens": result.usage.input_tokens,
            "total_completion_tokens": result.usage.output_tokens,
            "total_cached_tokens": result.usage.cached_input_tokens,
        }
    if result.cost is not None:
        totals["total_cost_usd"] = result.cost
    return {
        "schema_version": SCHEMA_VERSION,
        "session_id": run.name,
        "trajectory_id": result.sample,
        "agent": {
            "name": "harness",
            "version": str(run.manifest.get("harness") or harness.__version__),
            "model_name": str(run.spec["model"]),
            "extra": {"mode": run.spec["mode"], "prompt": run.manifest["prompt"]},
        },
        "steps": steps,
        "final_metrics": totals,
        "extra": {
            "harness": {
                "problem_id": result.problem_id,
                "index": result.index,
                "mode": run.spec["mode"],
                "code": result.code,
                "chosen_by": result.chosen_by,
                "extraction": result.extraction,
                "revision_turns": [step.turn for step in result.steps],
                "stop_reason": result.stop_reason,
                "verdict": result.verdict,
                "public_passed": result.public_passed,
                "public_total": result.public_total,
                "hidden_passed": result.hidden_passed,
                "hidden_total": result.hidden_total,
                "seconds": result.seconds,
            }
        },
    }


class _Steps:
    """The steps of one sample.

    Args:
        price: price of the model; None if unknown.
    """

    def __init__(self, price: Price | None) -> None:
        self._price = price
        self._steps: list[dict[str, Any]] = []
        self._now: datetime | None = None

    def read(self, events: Sequence[Event]) -> list[dict[str, Any]]:
        """Convert the valid events of a transcript to steps."""
        began = _beginning(events)
        for entry in entries(events):
            self._now = began and began + timedelta(seconds=entry.ended)
            match entry.item:
                case Response() as answer:
                    self._answer(answer.response)
                case ToolResult() as result:
                    told = {"tests": result.tests.model_dump(mode="json")} if result.tests else {}
                    self._result(result.result, told)
                case Tested() as tested:
                    told = {"tests": tested.tests.model_dump(mode="json")}
                    self._observe({"content": tested.report, "extra": told})
                case Cleared() | NewConversation():
                    pass
                case message:
                    self._say(message)
        return self._steps

    def _add(self, step: dict[str, Any]) -> None:
        stamp = {"timestamp": self._now.isoformat()} if self._now else {}
        self._steps.append({"step_id": len(self._steps) + 1, **stamp, **step})

    def _say(self, message: Message) -> None:
        if isinstance(message, AssistantMessage):
            context = {"message": message.text, "is_copied_context": True}
            self._add({"source": "agent", **context, **_calls(message.tool_calls)})
        elif isinstance(message, ToolMessage):
            self._result(message, {})
        else:
            self._add({"source": message.role, "message": message.content})

    def _answer(self, turn: ModelTurn) -> None:
        step = {"source": "agent", "message": turn.text, "llm_call_count": 1}
        thought = reasoning_text(turn.reasoning)
        if thought:
            step["reasoning_content"] = thought
        metrics = {} if turn.usage is None else {"metrics": self._metrics(turn.usage)}
        self._add({**step, **_calls(turn.tool_calls), **metrics})

    def _metrics(self, usage: Usage) -> dict[str, Any]:
        found: dict[str, Any] = {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "cached_tokens": usage.cached_input_tokens,
        }
        beside = {
            "reasoning_tokens": usage.reasoning_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        }
        if any(beside.values()):
            found["extra"] = beside
        if (dollars := cost(usage, self._price)) is not None:
            found["cost_usd"] = dollars
        return found

    def _result(self, result: ToolMessage, told: dict[str, Any]) -> None:
        extra = {**told, **({"is_error": True} if result.is_error else {})}
        calls = self._steps[-1].get("tool_calls", ()) if self._steps else ()
        known = any(call["tool_call_id"] == result.call_id for call in calls)
        self._observe(
            {
                **({"source_call_id": result.call_id} if known else {}),
                "content": result.content,
                **({"extra": extra} if extra else {}),
            }
        )

    def _observe(self, result: dict[str, Any]) -> None:
        """Add a result to the newest step; drop it if there is no step yet."""
        if self._steps:
            self._steps[-1].setdefault("observation", {"results": []})["results"].append(result)


def _beginning(events: Iterable[Event]) -> datetime | None:
    """Return a sample's start time; None if its transcript has none."""
    times = (event.time for event in events if isinstance(event, SampleStart) and event.time)
    try:
        return datetime.fromisoformat(next(times, ""))
    except ValueError:
        return None


def _calls(calls: Iterable[ToolCall]) -> dict[str, Any]:
    """Return the tool calls of a step; invalid arguments are kept as text in `extra`."""
    found: list[dict[str, Any]] = []
    for call in calls:
        arguments, error = arguments_of(call.arguments)
        made = {"tool_call_id": call.id, "function_name": call.name, "arguments": arguments}
        found.append({**made, "extra": {"arguments": call.arguments}} if error else made)
    return {"tool_calls": found} if found else {}
