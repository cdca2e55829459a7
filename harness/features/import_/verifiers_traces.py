"""Reader of traces of `verifiers` 0.4: `traces.jsonl`, one episode a line.

An episode holds the traces of its agents. Only traces of the first agent are read; each is a
sample. `nodes` are the messages in the order in which they were made; `sampled` marks the model's
answers. `calls` has tokens and times of each call, by the node that it made.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from harness.agent.attempt import StopReason
from harness.errors import DataError
from harness.features.grade.solutions import Published
from harness.features.import_ import fields
from harness.features.import_.chat_messages import answer_in, message_in, role_in
from harness.features.import_.trajectory import Conversation, Spending, Trajectory
from harness.models.protocol import Usage

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
    """Read a trace.

    Args:
        row: the JSON object.
        where: location of the object, for error messages.
        problem_field: path of the field that names the problem, if the user gave it.

    Raises:
        DataError: a field is malformed.
    """
    calls = fields.objects_in(row, "calls", where)
    by_node = {each["node"]: each for each in calls if isinstance(each.get("node"), int)}
    began = fields.amount(fields.object_in(row, "timing", where), "start", where)
    talk = Conversation(where)
    nodes = fields.objects_in(row, "nodes", where)
    for number, node in enumerate(nodes):
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
    """Return a call's tokens; the file's `prompt_tokens` do not include cached ones.

    Raises:
        DataError: a field is not a number of tokens.
    """
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
    config = fields.object_in(fields.object_in(row, "agent", where), "config", where)
    return asked or (
        fields.text(config, "model", where) if isinstance(config.get("model"), str) else ""
    )


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
