"""Reader of agent runs of `verifiers`.

`traces.jsonl` of `verifiers` 0.4 has one episode a line, with the traces of its agents. Only traces
of the first agent are read; each is a sample. `nodes` are the messages in the order in which they
were made; `sampled` marks the model's answers. `calls` has tokens and times of each call, by the
node that it made.
"""

from collections.abc import Iterator
from typing import Any

from harness.agent.attempt import StopReason
from harness.errors import DataError
from harness.features.grade.solutions import Published
from harness.features.import_.chat_messages import TurnBuilder, answer_in
from harness.features.import_.fields import PROBLEM_FIELDS, Fields, named
from harness.features.import_.trajectory import UNANSWERED, Spending, Trajectory
from harness.models.protocol import Usage
from harness.text import writable

STOPS = {"max_turns": StopReason.TURN_LIMIT, "timeout": StopReason.TIME_LIMIT}


def read_verifiers(row: Fields, problem_field: str | None) -> Iterator[Trajectory]:
    """Read the traces of an episode, or a single trace; see `RowReader`."""
    if "nodes" in row:
        yield _trajectory(row, problem_field)
        return
    traces = row.each("traces", "trace")
    for trace in traces:
        if _agent(trace) == _agent(traces[0]):
            yield _trajectory(trace, problem_field)


def _agent(trace: Fields) -> str:
    return trace.inner("agent").text("name")


def _trajectory(row: Fields, problem_field: str | None) -> Trajectory:
    calls = row.each("calls")
    by_node = {each.get("node"): each for each in calls if isinstance(each.get("node"), int)}
    began = row.inner("timing").amount("start")
    talk = TurnBuilder(row.where)
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
    turns = talk.turns()
    return Trajectory(
        where=row.where,
        problem=row.at(problem_field) if problem_field is not None else _problem(row),
        turns=turns,
        model=_model(row, calls),
        stop_reason=_stop(row),
        published=_published(row.inner("rewards")),
        spent=_spending(calls),
        error=_error(row) or ("" if turns else UNANSWERED),
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
    usages = [usage for usage in known if usage is not None]
    return Spending(sum(usages, Usage()) if usages and len(usages) == len(known) else None)


def _problem(row: Fields) -> str:
    data = row.inner("task").inner("data")
    values = named((data, row.inner("info")), (*PROBLEM_FIELDS, "id", "name"))
    if values is None:
        what = "missing; name the problem there, or give --problem-field"
        raise DataError(row.where, "task.data.id", what)
    return values


def _model(row: Fields, calls: list[Fields]) -> str:
    asked = next((call.text("model") for call in calls if call.get("model")), "")
    name: Any = row.inner("agent").inner("config").get("model")
    return asked or (writable(name) if isinstance(name, str) else "")


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
