"""Reader of Inspect's logs, `.eval` and `.json` (https://inspect.aisi.org.uk).

It does not need `inspect_ai`. An `.eval` is a zip archive: `header.json`, and each sample in
`samples/`. Members are compressed with zlib; newer versions use Zstandard, which `pyarrow` reads.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from typing import Any, cast

from harness.agent.attempt import StopReason
from harness.features.grade.solutions import Published
from harness.features.import_ import fields
from harness.features.import_.chat_messages import answer_in, message_in, role_in
from harness.features.import_.trajectory import Conversation, Spending, Trajectory
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


def read_inspect_samples(log: fields.Object, where: str, path: str | None) -> Iterator[Trajectory]:
    """Read a `.json` log. Raises DataError."""
    model = model_in(log, where)
    for number, sample in enumerate(fields.objects_in(log, "samples", where), 1):
        yield read_inspect_sample(sample, model, f"{where}: sample {number}", path)


def model_in(log: fields.Object, where: str) -> str:
    """Return the model named in a log or its header. Raises DataError."""
    return fields.text(fields.object_in(log, "eval", where), "model", where)


def read_inspect_sample(row: fields.Object, model: str, where: str, path: str | None) -> Trajectory:
    """Read a sample.

    Args:
        row: the JSON object.
        model: model of the log.
        where: location of the object, for error messages.
        path: path of the field that names the problem, if the user gave it.

    Raises:
        DataError: a field is malformed.
    """
    attached = fields.object_in(row, "attachments", where)
    answers = _answers(row, where)
    talk = Conversation(where)
    for number, message in enumerate(fields.objects_in(row, "messages", where), 1):
        place = f"{where}: message {number}"
        message = _resolved(message, attached)  # noqa: PLW2901 - with attachments
        if role_in(message, place) != "assistant":
            talk.say(message_in(message, place, talk))
            continue
        usage, seconds, until = answers.get(fields.text(message, "id", place), (None, None, None))
        talk.answer(answer_in(message, place, usage=usage, seconds=seconds), until=until)
    epoch = fields.whole(row, "epoch", where)
    published, answer = _score(row, where)
    return Trajectory(
        where=where,
        problem=fields.at_path(row, path, where)
        if path
        else fields.name_of(row.get("id"), where, "id"),
        index=None if not epoch else epoch - 1,
        turns=talk.turns(),
        model=model,
        final=answer,
        stop_reason=_stop(row, where),
        published=published,
        spent=Spending(_total(row, where), None, fields.amount(row, "total_time", where)),
        error=fields.text(fields.object_in(row, "error", where), "message", where),
    )


_Answer = tuple[Usage | None, float | None, float | None]


def _answers(row: fields.Object, where: str) -> dict[str, _Answer]:
    """Return tokens, seconds and seconds since the start, by the answer's message id."""
    found: dict[str, _Answer] = {}
    for event in fields.objects_in(row, "events", where):
        if event.get("event") != "model":
            continue
        output = fields.object_in(event, "output", where)
        choices = fields.objects_in(output, "choices", where)
        if not choices:
            continue
        key = fields.text(fields.object_in(choices[0], "message", where), "id", where)
        took = fields.amount(event, "working_time", where)
        until = _seconds(row.get("started_at"), event.get("completed"))
        found[key] = usage_of(fields.object_in(output, "usage", where), where), took, until
    return found


def _seconds(began: object, ended: object) -> float | None:
    """Return the seconds between two ISO 8601 times; None if either is malformed."""
    if not isinstance(began, str) or not isinstance(ended, str):
        return None
    with suppress(ValueError, TypeError, OverflowError):  # or times with and without a zone
        passed = datetime.fromisoformat(ended) - datetime.fromisoformat(began)
        return max(0.0, passed.total_seconds())
    return None


def usage_of(row: fields.Object, where: str) -> Usage | None:
    """Return a call's tokens; Inspect's `input_tokens` do not include cached ones.

    Raises:
        DataError: a field is not a number of tokens.
    """
    if not row:
        return None
    read = fields.whole(row, "input_tokens_cache_read", where) or 0
    written = fields.whole(row, "input_tokens_cache_write", where) or 0
    return Usage(
        input_tokens=(fields.whole(row, "input_tokens", where) or 0) + read + written,
        cached_input_tokens=read,
        cache_write_tokens=written,
        output_tokens=fields.whole(row, "output_tokens", where) or 0,
        reasoning_tokens=fields.whole(row, "reasoning_tokens", where) or 0,
    )


def _total(row: fields.Object, where: str) -> Usage | None:
    """Return the tokens of all models of a sample."""
    found = [
        used
        for name in fields.object_in(row, "model_usage", where)
        if (
            used := usage_of(
                fields.object_in(fields.object_in(row, "model_usage", where), name, where), where
            )
        )
    ]
    total = Usage()
    for used in found:
        total += used
    return total if found else None


def _score(row: fields.Object, where: str) -> tuple[Published | None, str | None]:
    """Return the only score's verdict, and the final solution if this program wrote."""
    scores = fields.object_in(row, "scores", where)
    score: Any = scores.get(
        "harness", next(iter(scores.values()), None) if len(scores) == 1 else None
    )
    if not isinstance(score, dict):
        return None, None
    named = cast("dict[str, Any]", score)
    value = named.get("value")
    passed = {"C": True, "I": False}.get(value) if isinstance(value, str) else None
    if isinstance(value, int | float) and value in (0, 1):
        passed = value == 1
    ours = "harness" in scores and isinstance(named.get("answer"), str)
    answer = fields.text(named, "answer", where) if ours else None
    return None if passed is None else Published(passed=passed), answer


def _stop(row: fields.Object, where: str) -> StopReason:
    limit = fields.text(fields.object_in(row, "limit", where), "type", where)
    return LIMITS.get(limit, StopReason.MODEL_STOPPED)


def _resolved(value: Any, attached: fields.Object) -> Any:
    """Replace references to attachments by their texts, which are not searched again."""
    if isinstance(value, str):
        found = ATTACHMENT.fullmatch(value)
        text_ = attached.get(found[1]) if found else None
        return text_ if isinstance(text_, str) else value
    if isinstance(value, list):
        return [_resolved(each, attached) for each in cast("list[Any]", value)]
    if isinstance(value, dict):
        return {
            key: _resolved(each, attached) for key, each in cast("dict[str, Any]", value).items()
        }
    return value
