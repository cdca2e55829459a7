"""Conversations from a run's transcripts: OpenAI's chat messages, and ATIF.

ATIF 1.7 is Harbor's Agent Trajectory Interchange Format
(https://harborframework.com/docs/trajectory-format). Data without a field in it is stored in
`extra.harness`, so that `harness import` restores the same revisions: the problem and the sample's
index, the final solution, the rule that chose it, the stop reason, and the verdict.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

import harness
from harness.agent.events import (
    Event,
    NewConversation,
    Response,
    SampleStart,
    Tested,
    ToolProtocolChanged,
    ToolResult,
    standing,
)
from harness.errors import RunDirectoryError
from harness.models.prices.price import Price, cost
from harness.models.protocol import (
    AssistantMessage,
    Message,
    ModelTurn,
    SystemMessage,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from harness.models.reasoning_text import reasoning_text
from harness.run.store.results import SampleResult
from harness.run.store.transcript import file_name
from harness.run.store.transcript_contents import entries
from harness.run.store.transcripts import Transcripts
from harness.run.summary.loaded_run import Run, price_in

_UNSEEN = re.compile("[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""Characters that JSON allows unescaped but that control a terminal."""

SCHEMA_VERSION = "ATIF-v1.7"
KEPT = (
    *("problem_id", "index", "code", "chosen_by", "extraction", "stop_reason", "verdict"),
    *("public_passed", "public_total", "hidden_passed", "hidden_total", "seconds"),
)
"""Fields of a result that have no place of their own in the format."""


@dataclass(slots=True)
class SampleConversations:
    """The conversations of a sample.

    Attributes:
        conversations: independent conversations in order; the last one ended with the sample.
    """

    conversations: list[list[Message]] = field(default_factory=lambda: [[]])

    @property
    def last(self) -> list[Message]:
        """The last conversation."""
        return self.conversations[-1]

    @property
    def answered(self) -> list[Message]:
        """The last conversation that has an answer; a limit may end a sample before one."""
        return next(
            (
                conversation
                for conversation in reversed(self.conversations)
                if any(isinstance(message, AssistantMessage) for message in conversation)
            ),
            self.last,
        )

    def answers(self) -> Iterator[str]:
        """Yield the texts of the model's answers in all conversations, the newest first."""
        for conversation in reversed(self.conversations):
            for message in reversed(conversation):
                if isinstance(message, AssistantMessage):
                    yield message.text


def said_in(events: Iterable[Event]) -> SampleConversations:
    """Return a transcript's messages as sent last."""
    conversations = SampleConversations()
    for entry in entries(events):
        match entry.item:
            case Response() as answer:
                conversations.last.append(answer.response.message())
            case ToolResult() as result if result.is_sent_alone:
                conversations.last.append(result.result)
            case ToolResult():
                pass  # it stands in the user message that follows
            case NewConversation():
                conversations.conversations.append([])
            case Tested():
                pass
            case message:
                conversations.last.append(message)
    return conversations


def transcript_of(transcripts: Transcripts, problem_id: str, index: int) -> list[Event] | None:
    """Return a sample's events, or None. Raises RunDirectoryError."""
    name = file_name(problem_id, index)
    return list(transcripts.events(name)) if transcripts.exists(name) else None


def chat_text(run: Run) -> Iterator[str]:
    """Yield JSON lines: each sample's conversation as OpenAI chat messages.

    If a sample had several conversations, as with `best_of_k_public` or in fresh contexts, the line
    holds the last one, and `metadata.conversations` their number. Tools stand in `tools` as sent.

    Raises:
        RunDirectoryError: the run has no transcripts, or one cannot be read.
    """
    return _lines(run, _chat)


def _lines(
    run: Run, exported: Callable[[Run, SampleResult, list[Event]], dict[str, Any] | None]
) -> Iterator[str]:
    """Yield a JSON line for each sample of which something is told. Raises RunDirectoryError."""
    any_turn = False
    transcripts = Transcripts(run.path)
    for result in run.results:
        events = transcript_of(transcripts, result.problem_id, result.index)
        if events is not None and (line := exported(run, result, events)):
            any_turn = True
            yield json_line(line)
    if run.results and not any_turn:
        raise RunDirectoryError(f"{run.path} holds no transcripts: there is nothing to export")


def _chat(run: Run, result: SampleResult, events: list[Event]) -> dict[str, Any] | None:
    conversations = said_in(events)
    metadata = {
        "sample": result.sample,
        "model": str(run.spec["model"]),
        "verdict": str(result.verdict),
        "solved": result.solved,
        **({} if result.score is None else {"score": result.score.model_dump()}),
        "conversations": len(conversations.conversations),
    }
    messages = list(map(chat_message, conversations.answered))
    if not messages:
        return None
    native = sent_with_tools(events)[-1:] == [True]
    tools = [_tool(each) for each in run.tools_sent] if native else []
    return {"messages": messages, **({"tools": tools} if tools else {}), "metadata": metadata}


def sent_with_tools(events: Iterable[Event]) -> list[bool]:
    """Return whether each answered request named tools natively, if the run has any."""
    native, answered = True, list[bool]()
    for event in standing(events):
        if isinstance(event, ToolProtocolChanged):
            native = event.protocol == "native"
        elif isinstance(event, Response):
            answered.append(native)
    return answered


def _tool(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a tool in the format of OpenAI's chat completions."""
    return {"type": "function", "function": dict(spec)}


def json_line(value: Any) -> str:
    """Return a JSON line with terminal control characters escaped."""
    text = json.dumps(value, ensure_ascii=False)
    return _UNSEEN.sub(lambda match: f"\\u{ord(match[0]):04x}", text) + "\n"


def chat_message(message: Message) -> dict[str, Any]:
    """Convert a message to the format of OpenAI's chat completions.

    See https://platform.openai.com/docs/api-reference/chat. Reasoning is left out, because the
    format has no field for it.
    """
    match message:
        case SystemMessage() | UserMessage():
            return {"role": message.role, "content": message.content}
        case ToolMessage():
            return {"role": "tool", "tool_call_id": message.call_id, "content": message.content}
        case AssistantMessage():
            row: dict[str, Any] = {"role": "assistant", "content": message.text or None}
            if message.tool_calls:
                row["tool_calls"] = [
                    {
                        "id": call.id,
                        "type": "function",
                        "function": {"name": call.name, "arguments": call.arguments},
                    }
                    for call in message.tool_calls
                ]
            else:
                row["content"] = message.text
            return row


def arguments_of(text: str) -> tuple[dict[str, Any], str | None]:
    """Parse a call's arguments; return them and an error message or None."""
    with suppress(ValueError, RecursionError):
        values: Any = json.loads(text or "{}")
        if isinstance(values, dict):
            return values, None  # pyright: ignore[reportUnknownVariableType] - JSON
    return {}, f"not a JSON object: {text[:200]}"


def atif_text(run: Run) -> Iterator[str]:
    """Yield JSON lines: a trajectory per sample with a transcript.

    Raises:
        RunDirectoryError: the run has no transcripts, or one cannot be read.
    """
    return _lines(run, _trajectory)


def _trajectory(run: Run, result: SampleResult, events: list[Event]) -> dict[str, Any] | None:
    steps = _ExportedSteps(price_in(run.path, run.manifest)).read(events)
    if not steps:
        return None
    totals: dict[str, Any] = {"total_steps": len(steps)}
    tools = [_tool(each) for each in run.tools_sent]
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
            **({"tool_definitions": tools} if tools else {}),
            "extra": {"mode": run.spec["mode"], "prompt": run.prompt},
        },
        "steps": steps,
        "final_metrics": totals,
        "extra": {
            "harness": {
                "mode": run.spec["mode"],
                "revision_turns": [step.turn for step in result.steps],
                "revisions": [
                    {
                        "turn": step.turn,
                        "code_hash": step.code_hash,
                        "tested": step.public_passed is not None,
                    }
                    for step in result.steps
                ],
                **{name: getattr(result, name) for name in KEPT},
            }
        },
    }


class _ExportedSteps:
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
                    tests = {"tests": result.tests.model_dump(mode="json")} if result.tests else {}
                    self._result(result.result, tests)
                case Tested() as tested:
                    tests = {"tests": tested.tests.model_dump(mode="json")}
                    self._observe({"content": tested.report, "extra": tests})
                case NewConversation():
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
        fields: dict[str, Any] = {
            "prompt_tokens": usage.input_tokens,
            "completion_tokens": usage.output_tokens,
            "cached_tokens": usage.cached_input_tokens,
        }
        beside = {
            "reasoning_tokens": usage.reasoning_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        }
        if any(beside.values()):
            fields["extra"] = beside
        if (dollars := cost(usage, self._price)) is not None:
            fields["cost_usd"] = dollars
        return fields

    def _result(self, result: ToolMessage, tests: dict[str, Any]) -> None:
        extra = {**tests, **({"is_error": True} if result.is_error else {})}
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
    tools: list[dict[str, Any]] = []
    for call in calls:
        arguments, error = arguments_of(call.arguments)
        made = {"tool_call_id": call.id, "function_name": call.name, "arguments": arguments}
        tools.append({**made, "extra": {"arguments": call.arguments}} if error else made)
    return {"tool_calls": tools} if tools else {}
