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
from collections.abc import Iterator
from datetime import datetime
from typing import Any, TypeVar

from harness.agent.attempt import ChosenBy, StopReason
from harness.errors import DataError
from harness.features.grade.solutions import Published
from harness.features.import_.chat_messages import (
    Conversation,
    answer_in,
    arguments_text,
    content_text,
    turn_in,
)
from harness.features.import_.fields import PROBLEM_FIELDS, Fields, named
from harness.features.import_.trajectory import Spending, Trajectory
from harness.models.protocol import SystemMessage, ToolCall, Usage, UserMessage
from harness.text import writable

VERSION = re.compile(r"ATIF-v1\.[0-8]")
_Word = TypeVar("_Word", ChosenBy, StopReason)
STOPS = {"max_turns": StopReason.TURN_LIMIT, "timeout": StopReason.TIME_LIMIT}


def read_atif(row: Fields, problem_field: str | None) -> Trajectory:
    """Read a trajectory.

    Args:
        row: the JSON object.
        problem_field: path of the field that names the problem, if the user gave it.

    Raises:
        DataError: the version is unknown, the trajectory continues in another file, or a field is
            malformed.
    """
    version = row.text("schema_version")
    if not VERSION.fullmatch(version):
        what = f"{version!r:.40} is not known; known are ATIF-v1.0 to ATIF-v1.8"
        raise DataError(row.where, "schema_version", what)
    if row.get("continued_trajectory_ref") is not None:
        what = "the trajectory goes on in another file; put its steps into one"
        raise DataError(row.where, "continued_trajectory_ref", what)
    extra = row.inner("extra")
    ours, metrics = extra.inner("harness"), row.inner("final_metrics")
    totals = {
        f"{name}_tokens": metrics.get(f"total_{name}_tokens")
        for name in ("prompt", "completion", "cached")
    }
    talk = _Steps(row.where)
    for step in row.each("steps", "step"):
        talk.add(step)
    named_by = (row, extra) if problem_field is not None else (ours, extra, row)
    revision_turns = tuple(each for each in ours.items("revision_turns") if isinstance(each, int))
    return Trajectory(
        where=row.where,
        problem=named_by[0].problem(problem_field, *named_by[1:]),
        index=ours.whole("index"),
        turns=talk.turns(),
        model=row.inner("agent").text("model_name"),
        mode=ours.text("mode"),
        final=ours.text("code") if "code" in ours else None,
        chosen_by=_word(ChosenBy, ours, "chosen_by"),
        extraction=ours.text("extraction") if "extraction" in ours else None,
        revision_turns=revision_turns or None,
        stop_reason=_word(StopReason, ours, "stop_reason") or StopReason.MODEL_STOPPED,
        published=Published.in_row(ours.values, row.where)
        or Published.in_row(extra.values, row.where),
        spent=Spending(
            _usage(Fields(totals, row.where)),
            metrics.amount("total_cost_usd"),
            ours.amount("seconds"),
        ),
        error=extra.text("error"),
    )


class _Steps(Conversation):
    """The steps of a trajectory as a conversation."""

    _began: datetime | None = None

    def add(self, step: Fields) -> None:
        """Add a step. Raises DataError."""
        source = step.get("source")
        at = self._at(step)
        said = content_text(step, "message")
        results = step.inner("observation").each("results")
        if source == "system":
            self.say(SystemMessage(content=said))
        elif source == "user":
            self.say(UserMessage(content=said))
        elif source == "agent":
            self._answer(step, said, at, results)
        else:
            what = f"{source!r:.40} is not one of system, user, agent"
            raise DataError(step.where, "source", what)
        for result in results:  # of tool calls, or messages without a call
            said, call_id = content_text(result, "content"), result.text("source_call_id")
            if call_id:
                failed = result.inner("extra").get("is_error") is True
                self.result(call_id, said, failed=failed)
            else:
                self.say(UserMessage(content=said))

    def _answer(self, step: Fields, said: str, at: float | None, results: list[Fields]) -> None:
        calls = [
            ToolCall(
                id=call.text("tool_call_id") or f"call-{number}",
                name=call.text("function_name"),
                # this program exports malformed arguments in `extra`
                arguments=call.inner("extra").text("arguments")
                or arguments_text(call.get("arguments")),
            )
            for number, call in enumerate(step.each("tool_calls"), 1)
        ]
        metrics = step.inner("metrics")
        answer = turn_in(step, said, calls, _usage(metrics))
        if step.get("is_copied_context") is True:
            self.say(answer.message())
            return
        asked = step.whole("llm_call_count")
        tested = frozenset(  # only this program exports which calls ran the public tests
            result.text("source_call_id")
            for result in results
            if result.inner("extra").get("tests") is not None
        )
        self.answer(
            answer,
            cost=metrics.amount("cost_usd"),
            until=at,
            calls=1 if asked is None else asked,
            tested=tested,
        )

    def _at(self, step: Fields) -> float | None:
        """Seconds since the first step that has a time."""
        stamp = step.text("timestamp")
        if not stamp:
            return None
        try:
            now = datetime.fromisoformat(stamp)
            self._began = self._began or now
            return max(0.0, (now - self._began).total_seconds())
        except (ValueError, TypeError) as error:  # times with and without a zone
            what = f"not an ISO 8601 time: {error}"
            raise DataError(step.where, "timestamp", what) from None


def _usage(metrics: Fields) -> Usage | None:
    read, written = (metrics.whole(f"{name}_tokens") for name in ("prompt", "completion"))
    if read is None and written is None:
        return None
    beside = metrics.inner("extra")
    return Usage(
        input_tokens=read or 0,
        cached_input_tokens=metrics.tokens("cached_tokens"),
        cache_write_tokens=beside.tokens("cache_write_tokens"),
        output_tokens=written or 0,
        reasoning_tokens=beside.tokens("reasoning_tokens"),
    )


def _word(kind: type[_Word], row: Fields, key: str) -> _Word | None:
    """Return a field as a member of `kind`; None if it is empty. Raises DataError."""
    word = row.text(key)
    try:
        return kind(word) if word else None
    except ValueError:
        raise DataError(row.where, key, f"{word!r:.40} is not one of {', '.join(kind)}") from None


def read_episode(row: Fields, problem_field: str | None) -> Iterator[Trajectory]:
    """Read the traces of an episode, or a single trace; see `read_trace`."""
    if "nodes" in row:
        yield read_trace(row, problem_field)
        return
    first: str | None = None
    for trace in row.each("traces", "trace"):
        name = trace.inner("agent").text("name")
        first = name if first is None else first
        if name == first:
            yield read_trace(trace, problem_field)


def read_trace(row: Fields, problem_field: str | None) -> Trajectory:
    """Read a trace; the arguments are those of `read_atif`. Raises DataError."""
    calls = row.each("calls")
    by_node = {each.get("node"): each for each in calls if isinstance(each.get("node"), int)}
    began = row.inner("timing").amount("start")
    talk = Conversation(row.where)
    for number, node in enumerate(row.each("nodes", "node", first=0)):
        message = node.inner("message")
        if talk.heard(message):
            continue
        if node.get("sampled") is not True:
            talk.say(answer_in(message).message())
            continue
        call = by_node.get(number, Fields({}, node.where))
        time, used = call.inner("time"), call.inner("usage")
        start, end = time.amount("start"), time.amount("end")
        took = None if start is None or end is None else max(0.0, end - start)
        until = None if began is None or not end else max(0.0, end - began)
        answer = answer_in(message, usage=usage_of(used), seconds=took)
        talk.answer(answer, cost=used.amount("cost"), until=until)
    return Trajectory(
        where=row.where,
        problem=row.at(problem_field) if problem_field is not None else _problem(row),
        turns=talk.turns(),
        model=_model(row, calls),
        stop_reason=_stop(row),
        published=_published(row.inner("rewards")),
        spent=_spending(calls),
        error=_error(row),
    )


def usage_of(row: Fields) -> Usage | None:
    """Return a call's tokens; `prompt_tokens` do not include cached ones. Raises DataError."""
    if not row.values:
        return None
    cached = row.tokens("cached_input_tokens")
    return Usage(
        input_tokens=row.tokens("prompt_tokens") + cached,
        cached_input_tokens=cached,
        output_tokens=row.tokens("completion_tokens"),
        reasoning_tokens=row.tokens("reasoning_tokens"),
    )


def _spending(calls: list[Fields]) -> Spending:
    """Return the tokens of all calls, failed ones too; unknown if a call has none."""
    used = [(usage_of(call.inner("usage")), call.get("error")) for call in calls]
    known = [usage for usage, error in used if usage is not None or error is None]
    told = [usage for usage in known if usage is not None]
    return Spending(sum(told, Usage()) if told and len(told) == len(known) else None)


def _problem(row: Fields) -> str:
    data = row.inner("task").inner("data")
    found = named((data, row.inner("info")), (*PROBLEM_FIELDS, "id", "name"))
    if found is None:
        what = "missing; name the problem there, or give --problem-field"
        raise DataError(row.where, "task.data.id", what)
    return found


def _model(row: Fields, calls: list[Fields]) -> str:
    asked = next((call.text("model") for call in calls if call.get("model")), "")
    told: Any = row.inner("agent").inner("config").get("model")
    return asked or (writable(told) if isinstance(told, str) else "")


def _stop(row: Fields) -> StopReason:
    if row.get("is_timeout") is True:
        return StopReason.TIME_LIMIT
    return STOPS.get(row.text("stop_condition"), StopReason.MODEL_STOPPED)


def _published(rewards: Fields) -> Published | None:
    """Return the verdict if there is one reward and it is 0 or 1."""
    scores = [rewards.inner(name).get("score") for name in rewards.values]
    if len(scores) == 1 and scores[0] in (0, 1):
        return Published(passed=scores[0] == 1)
    return None


def _error(row: Fields) -> str:
    """Return the error that ended a trace early; its own time limit is not an error."""
    errors = row.each("errors")
    if not errors or row.get("ok") is True or row.get("is_timeout") is True:
        return ""
    return f"{errors[-1].text('type')}: {errors[-1].text('message')}"
