"""Traces of `verifiers` 0.4: `traces.jsonl`, an episode a line, with the traces of its agents.

Of an episode with several agents the traces of the first one are read: each is a sample.
`nodes` are the messages in the order in which they were made; `sampled` marks the model's answers.
`calls` has the tokens and times of each, by the node that it made.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from harness.agent.attempt import StopReason
from harness.errors import DataError
from harness.features.grade.solution import Published
from harness.features.import_.chat_messages import answer_in, message_in, role_in
from harness.features.import_.fields import (
    PROBLEM_FIELDS,
    Object,
    amount,
    at_path,
    name_of,
    object_in,
    objects_in,
    text,
    whole,
)
from harness.features.import_.trajectory import Conversation, Spending, Trajectory
from harness.models.protocol import Usage

STOPS = {"max_turns": StopReason.TURN_LIMIT, "timeout": StopReason.TIME_LIMIT}


def read_episode(row: Object, where: str, problem_field: str | None) -> Iterator[Trajectory]:
    """Read the traces of an episode, or a trace that stands by itself; see `read_trace`."""
    if "nodes" in row:
        yield read_trace(row, where, problem_field)
        return
    first: str | None = None
    for number, trace in enumerate(objects_in(row, "traces", where), 1):
        place = f"{where}: trace {number}"
        name = text(object_in(trace, "agent", place), "name", place)
        first = name if first is None else first
        if name == first:
            yield read_trace(trace, place, problem_field)


def read_trace(row: Object, where: str, problem_field: str | None) -> Trajectory:
    """Read a trace.

    Args:
        row: the object.
        where: it stands, as errors name it.
        problem_field: the path of the field that names the problem, where the user gave it.

    Raises:
        DataError: a field is not as it should be.
    """
    calls = objects_in(row, "calls", where)
    by_node = {each["node"]: each for each in calls if isinstance(each.get("node"), int)}
    began = amount(object_in(row, "timing", where), "start", where)
    talk = Conversation(where)
    nodes = objects_in(row, "nodes", where)
    for number, node in enumerate(nodes):
        place = f"{where}: node {number}"
        message = object_in(node, "message", place)
        if role_in(message, place) != "assistant":
            talk.say(message_in(message, place, talk))
        elif node.get("sampled") is not True:
            talk.say(answer_in(message, place).message())
        else:
            call = by_node.get(number, {})
            usage = usage_of(object_in(call, "usage", place), place)
            cost = amount(object_in(call, "usage", place), "cost", place)
            time = object_in(call, "time", place)
            start, end = amount(time, "start", place), amount(time, "end", place)
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


def usage_of(row: Object, where: str) -> Usage | None:
    """Return the tokens of a call. Of theirs, `prompt_tokens` are without those from the cache.

    Raises:
        DataError: a number is none.
    """
    if not row:
        return None
    cached = whole(row, "cached_input_tokens", where) or 0
    return Usage(
        input_tokens=(whole(row, "prompt_tokens", where) or 0) + cached,
        cached_input_tokens=cached,
        output_tokens=whole(row, "completion_tokens", where) or 0,
        reasoning_tokens=whole(row, "reasoning_tokens", where) or 0,
    )


def _spending(calls: Iterable[Object], where: str) -> Spending:
    """The tokens of all calls, those that failed included; unknown where one does not tell."""
    total: Usage | None = Usage()
    found = False
    for call in calls:
        used = usage_of(object_in(call, "usage", where), where)
        if used is None and call.get("error") is not None:
            continue
        found = True
        total = None if total is None or used is None else total + used
    return Spending(total if found else None)


def _problem(row: Object, where: str, path: str | None) -> str:
    if path is not None:
        return at_path(row, path, where)
    data = object_in(object_in(row, "task", where), "data", where)
    for rows in (data, object_in(row, "info", where)):
        for key in (*PROBLEM_FIELDS, "id", "name"):
            if rows.get(key) is not None:
                return name_of(rows[key], where, f"task.data.{key}")
    what = "missing; name the problem there, or give --problem-field"
    raise DataError(where, "task.data.id", what)


def _model(row: Object, calls: list[dict[str, Any]], where: str) -> str:
    asked = next((text(call, "model", where) for call in calls if call.get("model")), "")
    config = object_in(object_in(row, "agent", where), "config", where)
    return asked or (text(config, "model", where) if isinstance(config.get("model"), str) else "")


def _stop(row: Object, where: str) -> StopReason:
    if row.get("is_timeout") is True:
        return StopReason.TIME_LIMIT
    return STOPS.get(text(row, "stop_condition", where), StopReason.MODEL_STOPPED)


def _published(row: Object, where: str) -> Published | None:
    """The verdict, where the one reward is 0 or 1."""
    rewards = object_in(row, "rewards", where)
    scores = [object_in(rewards, name, where).get("score") for name in rewards]
    if len(scores) == 1 and scores[0] in (0, 1):
        return Published(passed=scores[0] == 1)
    return None


def _error(row: Object, where: str) -> str:
    """Why a trace did not come to its end; a time limit of its own is no error."""
    errors = objects_in(row, "errors", where)
    if not errors or row.get("ok") is True or row.get("is_timeout") is True:
        return ""
    last = errors[-1]
    return f"{text(last, 'type', where)}: {text(last, 'message', where)}"
