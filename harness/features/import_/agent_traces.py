"""Readers of agent runs of Harbor (ATIF) and `verifiers`.

ATIF is Harbor's Agent Trajectory Interchange Format, 1.0 to 1.8: one JSON object per sample, with
`steps` of a system, a user or an agent. See https://harborframework.com/docs/trajectory-format.
Fields that this program adds when it exports a sample are in `extra.harness`
(`harness.features.export.conversations`). Trajectories of subagents are not read. Steps that were
copied from an earlier trajectory are context, not calls.

`traces.jsonl` of `verifiers` 0.4 has one episode a line, with the traces of its agents. Only traces
of the first agent are read; each is a sample. `nodes` are the messages in the order in which they
were made; `sampled` marks the model's answers. `calls` has tokens and times of each call, by the
node that it made.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, TypeVar

from harness.agent.attempt import ChosenBy, StopReason
from harness.errors import DataError
from harness.features.grade.solutions import Published
from harness.features.import_ import fields
from harness.features.import_.chat_messages import (
    Conversation,
    answer_in,
    arguments_text,
    content_text,
    message_in,
    role_in,
)
from harness.features.import_.trajectory import Spending, Trajectory
from harness.models.protocol import (
    ModelStop,
    ModelTurn,
    SystemMessage,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from harness.text import writable

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


STOPS = {"max_turns": StopReason.TURN_LIMIT, "timeout": StopReason.TIME_LIMIT}


def read_episode(row: fields.Object, where: str, problem_field: str | None) -> Iterator[Trajectory]:
    """Read the traces of an episode, or a single trace; see `read_trace`."""
    if "nodes" in row:
        yield read_trace(row, where, problem_field)
        return
    first: str | None = None
    for number, trace in enumerate(fields.objects_in(row, "traces", where), 1):
        place = f"{where}: trace {number}"
        name = fields.text(fields.object_in(trace, "agent", place), "name", place)
        first = name if first is None else first
        if name == first:
            yield read_trace(trace, place, problem_field)


def read_trace(row: fields.Object, where: str, problem_field: str | None) -> Trajectory:
    """Read a trace; the arguments are those of `read_atif`. Raises DataError."""
    calls = fields.objects_in(row, "calls", where)
    by_node = {each["node"]: each for each in calls if isinstance(each.get("node"), int)}
    began = fields.amount(fields.object_in(row, "timing", where), "start", where)
    talk = Conversation(where)
    for number, node in enumerate(fields.objects_in(row, "nodes", where)):
        place = f"{where}: node {number}"
        message = fields.object_in(node, "message", place)
        if role_in(message, place) != "assistant":
            talk.say(message_in(message, place, talk))
        elif node.get("sampled") is not True:
            talk.say(answer_in(message, place).message())
        else:
            call = by_node.get(number, {})
            usage = usage_of(fields.object_in(call, "usage", place), place)
            cost = fields.amount(fields.object_in(call, "usage", place), "cost", place)
            time = fields.object_in(call, "time", place)
            start, end = fields.amount(time, "start", place), fields.amount(time, "end", place)
            took = None if start is None or end is None else max(0.0, end - start)
            until = None if began is None or not end else max(0.0, end - began)
            talk.answer(
                answer_in(message, place, usage=usage, seconds=took), cost=cost, until=until
            )
    return Trajectory(
        where=where,
        problem=_problem(row, where, problem_field),
        turns=talk.turns(),
        model=_model(row, calls, where),
        stop_reason=_stop(row, where),
        published=_published(row, where),
        spent=_spending(calls, where),
        error=_error(row, where),
    )


def usage_of(row: fields.Object, where: str) -> Usage | None:
    """Return a call's tokens; `prompt_tokens` do not include cached ones. Raises DataError."""
    if not row:
        return None
    cached = fields.whole(row, "cached_input_tokens", where) or 0
    return Usage(
        input_tokens=(fields.whole(row, "prompt_tokens", where) or 0) + cached,
        cached_input_tokens=cached,
        output_tokens=fields.whole(row, "completion_tokens", where) or 0,
        reasoning_tokens=fields.whole(row, "reasoning_tokens", where) or 0,
    )


def _spending(calls: Iterable[fields.Object], where: str) -> Spending:
    """Return the tokens of all calls, failed ones too; unknown if a call has none."""
    total: Usage | None = Usage()
    found = False
    for call in calls:
        used = usage_of(fields.object_in(call, "usage", where), where)
        if used is None and call.get("error") is not None:
            continue
        found = True
        total = None if total is None or used is None else total + used
    return Spending(total if found else None)


def _problem(row: fields.Object, where: str, path: str | None) -> str:
    if path is not None:
        return fields.at_path(row, path, where)
    data = fields.object_in(fields.object_in(row, "task", where), "data", where)
    for rows in (data, fields.object_in(row, "info", where)):
        for key in (*fields.PROBLEM_FIELDS, "id", "name"):
            if rows.get(key) is not None:
                return fields.name_of(rows[key], where, f"task.data.{key}")
    what = "missing; name the problem there, or give --problem-field"
    raise DataError(where, "task.data.id", what)


def _model(row: fields.Object, calls: list[dict[str, Any]], where: str) -> str:
    asked = next((fields.text(call, "model", where) for call in calls if call.get("model")), "")
    told = fields.object_in(fields.object_in(row, "agent", where), "config", where).get("model")
    return asked or (writable(told) if isinstance(told, str) else "")


def _stop(row: fields.Object, where: str) -> StopReason:
    if row.get("is_timeout") is True:
        return StopReason.TIME_LIMIT
    return STOPS.get(fields.text(row, "stop_condition", where), StopReason.MODEL_STOPPED)


def _published(row: fields.Object, where: str) -> Published | None:
    """Return the verdict if there is one reward and it is 0 or 1."""
    rewards = fields.object_in(row, "rewards", where)
    scores = [fields.object_in(rewards, name, where).get("score") for name in rewards]
    if len(scores) == 1 and scores[0] in (0, 1):
        return Published(passed=scores[0] == 1)
    return None


def _error(row: fields.Object, where: str) -> str:
    """Return the error that ended a trace early; its own time limit is not an error."""
    errors = fields.objects_in(row, "errors", where)
    if not errors or row.get("ok") is True or row.get("is_timeout") is True:
        return ""
    last = errors[-1]
    return f"{fields.text(last, 'type', where)}: {fields.text(last, 'message', where)}"
