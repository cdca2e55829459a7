"""Reader of ATIF, Harbor's Agent Trajectory Interchange Format, 1.0 to 1.8.

There is one JSON object per sample, with `steps` of a system, a user or an agent. See
https://harborframework.com/docs/trajectory-format. Fields that this program adds when it exports a
sample are in `extra.harness` (`harness.features.export.atif`).

Trajectories of subagents are not read. Steps that were copied from an earlier trajectory are
context, not calls.
"""

import re
from datetime import datetime
from typing import Any, TypeVar

from harness.agent.attempt import ChosenBy, StopReason
from harness.errors import DataError
from harness.features.grade.solutions import Published
from harness.features.import_ import fields
from harness.features.import_.chat_messages import arguments_text, content_text
from harness.features.import_.trajectory import Conversation, Spending, Trajectory
from harness.models.protocol import (
    ModelStop,
    ModelTurn,
    SystemMessage,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)

VERSION = re.compile(r"ATIF-v1\.[0-8]")
_Word = TypeVar("_Word", ChosenBy, StopReason)


def read_atif(row: fields.Object, where: str, problem_field: str | None) -> Trajectory:
    """Read a trajectory.

    Args:
        row: the JSON object.
        where: location of the object, for error messages.
        problem_field: path of the field that names the problem, if the user gave it.

    Raises:
        DataError: the version is unknown, the trajectory continues in another file, or a field is
            malformed.
    """
    version = fields.text(row, "schema_version", where)
    if not VERSION.fullmatch(version):
        what = f"{version!r:.40} is not known; known are ATIF-v1.0 to ATIF-v1.8"
        raise DataError(where, "schema_version", what)
    if row.get("continued_trajectory_ref") is not None:
        what = "the trajectory goes on in another file; put its steps into one"
        raise DataError(where, "continued_trajectory_ref", what)
    agent, extra = fields.object_in(row, "agent", where), fields.object_in(row, "extra", where)
    ours = fields.object_in(extra, "harness", where)
    talk = _Steps(where)
    for number, step in enumerate(fields.objects_in(row, "steps", where), 1):
        talk.add(step, f"{where}: step {number}")
    named = (row, extra) if problem_field is not None else (ours, extra, row)
    return Trajectory(
        where=where,
        problem=fields.problem_in(named, where, problem_field),
        index=fields.whole(ours, "index", where),
        turns=talk.conversation.turns(),
        model=fields.text(agent, "model_name", where),
        mode=fields.text(ours, "mode", where),
        final=fields.text(ours, "code", where) if "code" in ours else None,
        chosen_by=_word(ChosenBy, ours, "chosen_by", where),
        extraction=fields.text(ours, "extraction", where) if "extraction" in ours else None,
        revision_turns=_revision_turns(ours, where),
        stop_reason=_word(StopReason, ours, "stop_reason", where) or StopReason.MODEL_STOPPED,
        published=Published.in_row(ours, where) or Published.in_row(extra, where),
        spent=_totals(
            fields.object_in(row, "final_metrics", where),
            where,
            fields.amount(ours, "seconds", where),
        ),
        error=fields.text(extra, "error", where),
    )


class _Steps:
    """The steps of a trajectory as a conversation."""

    def __init__(self, where: str) -> None:
        self.conversation = Conversation(where)
        self._began: datetime | None = None

    def add(self, step: fields.Object, where: str) -> None:
        """Add a step. Raises DataError."""
        source = step.get("source")
        at = self._at(step, where)
        said = content_text(step, "message", where)
        if source == "system":
            self.conversation.say(SystemMessage(content=said))
        elif source == "user":
            self.conversation.say(UserMessage(content=said))
        elif source == "agent":
            self._answer(step, where, said, at)
        else:
            what = f"{source!r:.40} is not one of system, user, agent"
            raise DataError(where, "source", what)
        self._observe(step, where)

    def _answer(self, step: fields.Object, where: str, said: str, at: float | None) -> None:
        calls = tuple(
            ToolCall(
                id=fields.text(call, "tool_call_id", where) or f"call-{number}",
                name=fields.text(call, "function_name", where),
                arguments=_arguments(call, where),
            )
            for number, call in enumerate(fields.objects_in(step, "tool_calls", where), 1)
        )
        thought = fields.text(step, "reasoning_content", where)
        metrics = fields.object_in(step, "metrics", where)
        answer = ModelTurn(
            text=said,
            tool_calls=calls,
            reasoning=({"type": "thinking", "thinking": thought},) if thought else (),
            usage=_usage(metrics, where),
            stop=ModelStop(reason="tool_use" if calls else "end_turn"),
        )
        if step.get("is_copied_context") is True:
            self.conversation.say(answer.message())
            return
        asked = fields.whole(step, "llm_call_count", where)
        self.conversation.answer(
            answer,
            cost=fields.amount(metrics, "cost_usd", where),
            until=at,
            calls=1 if asked is None else asked,
            tested=_tested(step, where),
        )

    def _observe(self, step: fields.Object, where: str) -> None:
        """Add the results of a step: of its tool calls, or messages without a call."""
        for result in fields.objects_in(
            fields.object_in(step, "observation", where), "results", where
        ):
            said = content_text(result, "content", where)
            call_id = fields.text(result, "source_call_id", where)
            if not call_id:
                self.conversation.say(UserMessage(content=said))
                continue
            failed = fields.object_in(result, "extra", where).get("is_error") is True
            name = self.conversation.name_of(call_id)
            self.conversation.say(
                ToolMessage(call_id=call_id, name=name, content=said, is_error=failed)
            )

    def _at(self, step: fields.Object, where: str) -> float | None:
        """Seconds since the first step that has a time."""
        stamp = fields.text(step, "timestamp", where)
        if not stamp:
            return None
        try:
            now = datetime.fromisoformat(stamp)
            self._began = self._began or now
            return max(0.0, (now - self._began).total_seconds())
        except (ValueError, TypeError) as error:  # times with and without a zone
            raise DataError(where, "timestamp", f"not an ISO 8601 time: {error}") from None


def _revision_turns(ours: fields.Object, where: str) -> tuple[int, ...] | None:
    """Return the turns with revisions; None if this program did not write the file."""
    found: list[Any] = fields.list_in(ours, "revision_turns", where)
    return tuple(each for each in found if isinstance(each, int)) or None


def _arguments(call: fields.Object, where: str) -> str:
    """Return a call's arguments; this program exports malformed ones in `extra`."""
    broken = fields.text(fields.object_in(call, "extra", where), "arguments", where)
    return broken or arguments_text(call.get("arguments"))


def _tested(step: fields.Object, where: str) -> frozenset[str]:
    """Return ids of calls that ran the public tests; only this program exports them."""
    results = fields.objects_in(fields.object_in(step, "observation", where), "results", where)
    return frozenset(
        fields.text(result, "source_call_id", where)
        for result in results
        if fields.object_in(result, "extra", where).get("tests") is not None
    )


def _usage(metrics: fields.Object, where: str) -> Usage | None:
    read, written = (
        fields.whole(metrics, f"{name}_tokens", where) for name in ("prompt", "completion")
    )
    if read is None and written is None:
        return None
    beside = fields.object_in(metrics, "extra", where)
    return Usage(
        input_tokens=read or 0,
        cached_input_tokens=fields.whole(metrics, "cached_tokens", where) or 0,
        cache_write_tokens=fields.whole(beside, "cache_write_tokens", where) or 0,
        output_tokens=written or 0,
        reasoning_tokens=fields.whole(beside, "reasoning_tokens", where) or 0,
    )


def _totals(metrics: fields.Object, where: str, seconds: float | None) -> Spending:
    names = ("prompt", "completion", "cached")
    told: dict[str, Any] = {f"{name}_tokens": metrics.get(f"total_{name}_tokens") for name in names}
    return Spending(_usage(told, where), fields.amount(metrics, "total_cost_usd", where), seconds)


def _word(kind: type[_Word], row: fields.Object, key: str, where: str) -> _Word | None:
    """Return a field as a member of `kind`; None if it is empty. Raises DataError."""
    word = fields.text(row, key, where)
    if not word:
        return None
    try:
        return kind(word)
    except ValueError:
        raise DataError(where, key, f"{word!r:.40} is not one of {', '.join(kind)}") from None
