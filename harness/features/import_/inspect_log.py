"""Reader of Inspect's logs, `.eval` and `.json` (https://inspect.aisi.org.uk).

It does not need `inspect_ai`. An `.eval` is a zip archive: `header.json`, and each sample in
`samples/`, each read with a bound on its size. Members are compressed with zlib; newer versions use
Zstandard, which Python's `zipfile` cannot read before 3.14 and `pyarrow` can.
"""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

import io
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, cast

from harness.agent.attempt import StopReason
from harness.errors import DataError
from harness.features.grade.solution_readers import parsed
from harness.features.grade.solutions import Published
from harness.features.import_.chat_messages import Conversation, answer_in
from harness.features.import_.fields import Fields
from harness.features.import_.trajectory import Spending, Trajectory
from harness.models.protocol import Usage
from harness.sources.files.lines import open_regular

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
LARGEST_DIRECTORY = 64 << 20
"""Most bytes of the archive's list of members."""

LARGEST_MEMBER = 64 << 20
"""Most bytes of a member, after inflation."""

ZSTANDARD = 93
_END, _END64 = b"PK\x05\x06", b"PK\x06\x06"
_LONGEST_COMMENT = 1 << 16
_LOCAL_HEADER = 30


def read_inspect_samples(log: Fields, path: str | None) -> Iterator[Trajectory]:
    """Read a `.json` log. Raises DataError."""
    model = model_in(log)
    for sample in log.each("samples", "sample"):
        yield read_inspect_sample(sample, model, path)


def model_in(log: Fields) -> str:
    """Return the model named in a log or its header. Raises DataError."""
    return log.inner("eval").text("model")


def read_inspect_sample(row: Fields, model: str, path: str | None) -> Trajectory:
    """Read a sample.

    Args:
        row: the JSON object.
        model: model of the log.
        path: path of the field that names the problem, if the user gave it.

    Raises:
        DataError: a field is malformed.
    """
    attached = row.inner("attachments").values
    answers = _answers(row)
    talk = Conversation(row.where)
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
    found: dict[str, _Answer] = {}
    for event in row.each("events"):
        output = event.inner("output") if event.get("event") == "model" else Fields({}, row.where)
        choices = output.each("choices")
        if choices:
            until = _seconds(row.get("started_at"), event.get("completed"))
            key = choices[0].inner("message").text("id")
            found[key] = usage_of(output.inner("usage")), event.amount("working_time"), until
    return found


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
    found = [used for name in models.values if (used := usage_of(models.inner(name)))]
    return sum(found, Usage()) if found else None


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


class EvalArchive:
    """An `.eval` file, open for reading.

    Raises:
        UsageError: the file cannot be opened.
        DataError: the file is not a zip archive, or its list of members is too long.
    """

    def __init__(self, path: Path) -> None:
        self._name = str(path)
        self._file = cast("BinaryIO", io.BufferedReader(open_regular(path)))
        try:
            self._check_directory()
            self._zip = zipfile.ZipFile(self._file)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            self._file.close()
            raise DataError(self._name, None, f"not a zip archive: {error}") from None
        except DataError:
            self._file.close()
            raise

    def header(self) -> Fields:
        """Return the log without its samples. Raises DataError."""
        names = set(self._zip.namelist())
        for name in ("header.json", "_journal/start.json"):  # the latter while a log is written
            if name in names:
                return self._object(self._zip.getinfo(name))
        raise DataError(self._name, None, "no header.json in it: not a log of Inspect")

    def samples(self) -> Iterator[Fields]:
        """Yield each sample. Raises DataError."""
        for info in self._zip.infolist():
            if info.filename.startswith("samples/") and info.filename.endswith(".json"):
                yield self._object(info)

    def close(self) -> None:
        """Close the file."""
        self._zip.close()
        self._file.close()

    def _object(self, info: zipfile.ZipInfo) -> Fields:
        where = f"{self._name}: {info.filename}"
        return Fields.of(parsed(self._read(info, where), where), where)

    def _read(self, info: zipfile.ZipInfo, where: str) -> bytes:
        too_long = DataError(where, None, f"longer than {LARGEST_MEMBER:,} bytes")
        if max(info.file_size, info.compress_size) > LARGEST_MEMBER:
            raise too_long
        try:
            with self._open(info) as member:
                found = member.read(LARGEST_MEMBER + 1)
        except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, EOFError) as error:
            raise DataError(where, None, f"cannot be read: {error}") from None
        if len(found) > LARGEST_MEMBER:
            raise too_long
        return found

    def _open(self, info: zipfile.ZipInfo) -> BinaryIO:
        if info.compress_type != ZSTANDARD:
            with suppress(NotImplementedError):
                return cast("BinaryIO", self._zip.open(info))
            raise OSError(f"compression method {info.compress_type} is not known")
        import pyarrow as pa

        self._file.seek(info.header_offset)
        head = self._file.read(_LOCAL_HEADER)
        if len(head) < _LOCAL_HEADER:
            raise EOFError("the archive ends early")
        name, extra = struct.unpack("<HH", head[26:])
        self._file.seek(name + extra, os.SEEK_CUR)
        data = io.BytesIO(self._file.read(info.compress_size))
        return cast("BinaryIO", pa.input_stream(data, compression="zstd"))

    def _check_directory(self) -> None:
        """Refuse a list of members too long for memory. Raises DataError, OSError."""
        size = self._file.seek(0, os.SEEK_END)
        self._file.seek(max(0, size - _LONGEST_COMMENT - 98))
        tail = self._file.read()
        end = tail.rfind(_END)
        if end < 0 or len(tail) < end + 22:
            raise zipfile.BadZipFile("it has no list of members")
        (length,) = struct.unpack("<I", tail[end + 12 : end + 16])
        record = end - 76  # a record of 56 bytes, then a locator of 20
        if record >= 0 and tail[record : record + 4] == _END64:
            (length,) = struct.unpack("<Q", tail[record + 40 : record + 48])
        if length > LARGEST_DIRECTORY:
            what = f"a list of members of {length:,} bytes; at most {LARGEST_DIRECTORY:,} are read"
            raise DataError(self._name, None, what)
        self._file.seek(0)
