"""Reader of conversations in OpenAI's chat format: one JSON object per sample.

    {"messages": [{"role": "user", "content": "…"}, {"role": "assistant", …}],
     "problem_id": "…", "sample": 0, "model": "…", "passed": true}

The fields beside `messages` may also be in `metadata`. An assistant's message may have `usage`, as
in the API's response, and `seconds`, the duration of its request.
"""

from harness.errors import DataError
from harness.features.grade.solution import Published
from harness.features.import_.chat_messages import answer_in, message_in, role_in
from harness.features.import_.fields import (
    Object,
    amount,
    object_in,
    objects_in,
    problem_in,
    published_in,
    sample_name_in,
    text,
    usage_in,
    whole,
)
from harness.features.import_.trajectory import Conversation, Trajectory, Turn


def read_message_log(row: Object, where: str, problem_field: str | None) -> Trajectory:
    """Read a row with `messages`.

    Args:
        row: the JSON object.
        where: location of the object, for error messages.
        problem_field: path of the field that names the problem, if the user gave it.

    Raises:
        DataError: a field is malformed.
    """
    beside = object_in(row, "metadata", where)
    problem, index = _sample(row, beside, where, problem_field)
    return Trajectory(
        where=where,
        problem=problem,
        index=index,
        turns=turns_of(row, where),
        model=text(row, "model", where) or text(beside, "model", where),
        mode=text(row, "mode", where) or text(beside, "mode", where),
        published=published_in(row, where) or _published(beside, where),
        error=text(row, "error", where),
    )


def turns_of(row: Object, where: str, key: str = "messages") -> tuple[Turn, ...]:
    """Return the turns of a list of messages. Raises DataError."""
    messages = objects_in(row, key, where)
    if not messages:
        raise DataError(where, key, "empty; a conversation has messages")
    talk = Conversation(where)
    passed: float | None = 0.0
    for number, message in enumerate(messages):
        place = f"{where}: message {number + 1}"
        if role_in(message, place) != "assistant":
            talk.say(message_in(message, place, talk))
            continue
        seconds = amount(message, "seconds", place)
        passed = None if passed is None or seconds is None else passed + seconds
        usage = usage_in(message, "usage", place)
        talk.answer(answer_in(message, place, usage=usage, seconds=seconds), until=passed)
    return talk.turns()


def _sample(row: Object, beside: Object, where: str, path: str | None) -> tuple[str, int | None]:
    """Return the problem and the index, from two fields or from `PROBLEM#INDEX`.

    This program writes the latter in `metadata.sample`.
    """
    named = beside.get("sample")
    if path is None and isinstance(named, str):
        return sample_name_in(text(beside, "sample", where))
    index = whole(row, "sample", where)
    index = whole(beside, "sample", where) if index is None else index
    return problem_in((row, beside), where, path), index


def _published(beside: Object, where: str) -> Published | None:
    """Return the verdict in `metadata`; None if it is no word of this project."""
    try:
        return published_in(beside, where)
    except DataError:
        return None
