"""Reader of the samples in Inspect's logs (https://inspect.aisi.org.uk).

It does not need `inspect_ai`. Logs are JSON, or `.eval` archives of it (`eval_archive`).
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any, cast

from harness.agent.attempt import StopReason
from harness.features.grade.solutions import Published
from harness.features.import_.chat_messages import TurnBuilder, answer_in
from harness.features.import_.fields import Fields
from harness.features.import_.trajectory import Spending, Trajectory
from harness.models.protocol import Usage

ATTACHMENT = re.compile(r"attachment://([0-9a-f]{32})")
LIMITS = {
    "message": StopReason.TURN_LIMIT,
    "turn": StopReason.TURN_LIMIT,
    "time": StopReason.WALL_LIMIT,
    "working": StopReason.TIME_LIMIT,
    "token": StopReason.TOKEN_LIMIT,
    "cost": StopReason.COST_LIMIT,
    "context": StopReason.CONTEXT_LIMIT,
}


def read_inspect_log(row: Fields, problem_field: str | None) -> Iterator[Trajectory]:
    """Read a log, or a sample of an archive with the log's `eval`; see `RowReader`."""
    model = row.inner("eval").text("model")
    is_sample = "eval" in row and "samples" not in row
    for sample in [row] if is_sample else row.each("samples", "sample"):
        yield _trajectory(sample, model, problem_field)


def _trajectory(row: Fields, model: str, path: str | None) -> Trajectory:
    attached = row.inner("attachments").values
    answers = _answers(row)
    talk = TurnBuilder(row.where)
    for each in row.each("messages", "message"):
        message = Fields(_resolved(each.values, attached), each.where)
        if talk.heard(message):
            continue
        usage, seconds, until = answers.get(message.text("id"), (None, None, None))
        talk.answer(answer_in(message, usage=usage, seconds=seconds), until=until)
    epoch = row.whole("epoch")
    published, answer = _score(row.inner("scores"))
    limit = row.inner("limit").text("type")
    return Trajectory(
        where=row.where,
        problem=row.at(path or "id"),
        index=None if not epoch else epoch - 1,
        turns=talk.turns(),
        model=model,
        final=answer,
        stop_reason=LIMITS.get(limit) or _own_stop_reason(row) or StopReason.MODEL_STOPPED,
        published=published,
        spent=Spending(_total(row.inner("model_usage")), None, row.amount("total_time")),
        error=row.inner("error").text("message"),
    )


def _own_stop_reason(row: Fields) -> StopReason | None:
    """Return the stop reason in a log that `harness export` wrote; None in other logs."""
    given = row.inner("metadata").get("stop_reason")
    return StopReason(given) if isinstance(given, str) and given in set(StopReason) else None


_Answer = tuple[Usage | None, float | None, float | None]


def _answers(row: Fields) -> dict[str, _Answer]:
    """Return tokens, seconds and seconds since the start, by the answer's message id."""
    answers: dict[str, _Answer] = {}
    for event in row.each("events"):
        output = event.inner("output") if event.get("event") == "model" else Fields({}, row.where)
        choices = output.each("choices")
        if choices:
            until = _seconds(row.get("started_at"), event.get("completed"))
            key = choices[0].inner("message").text("id")
            answers[key] = usage_of(output.inner("usage")), event.amount("working_time"), until
    return answers


def _seconds(began: object, ended: object) -> float | None:
    """Return the seconds between two ISO 8601 times; None if either is malformed."""
    if not isinstance(began, str) or not isinstance(ended, str):
        return None
    with suppress(ValueError, TypeError, OverflowError):  # or times with and without a zone
        passed = datetime.fromisoformat(ended) - datetime.fromisoformat(began)
        return max(0.0, passed.total_seconds())
    return None


def usage_of(row: Fields) -> Usage | None:
    """Return a call's tokens; Inspect's `input_tokens` do not include cached ones.

    Raises:
        DataError: a field is not a number of tokens.
    """
    if not row.values:
        return None
    read, written = row.tokens("input_tokens_cache_read"), row.tokens("input_tokens_cache_write")
    return Usage(
        input_tokens=row.tokens("input_tokens") + read + written,
        cached_input_tokens=read,
        cache_write_tokens=written,
        output_tokens=row.tokens("output_tokens"),
        reasoning_tokens=row.tokens("reasoning_tokens"),
    )


def _total(models: Fields) -> Usage | None:
    """Return the tokens of all models of a sample."""
    usages = [used for name in models.values if (used := usage_of(models.inner(name)))]
    return sum(usages, Usage()) if usages else None


def _score(scores: Fields) -> tuple[Published | None, str | None]:
    """Return the only score's verdict, and the final solution if this program wrote."""
    only = next(iter(scores.values.values()), None) if len(scores.values) == 1 else None
    score: Any = scores.values.get("harness", only)
    if not isinstance(score, dict):
        return None, None
    named = Fields(cast("dict[str, Any]", score), scores.where)
    value = named.get("value")
    passed = {"C": True, "I": False}.get(value) if isinstance(value, str) else None
    if isinstance(value, int | float) and value in (0, 1):
        passed = value == 1
    ours = "harness" in scores and isinstance(named.get("answer"), str)
    answer = named.text("answer") if ours else None
    return None if passed is None else Published(passed=passed), answer


def _resolved(value: Any, attached: Mapping[str, Any]) -> Any:
    """Replace references to attachments by their texts, which are not searched again."""
    if isinstance(value, str):
        match = ATTACHMENT.fullmatch(value)
        attachment = attached.get(match[1]) if match else None
        return attachment if isinstance(attachment, str) else value
    if isinstance(value, list):
        return [_resolved(each, attached) for each in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {
            key: _resolved(each, attached) for key, each in cast("dict[str, Any]", value).items()
        }
    return value
