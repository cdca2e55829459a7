"""Transcripts on disk: written event by event, and read when samples resume."""

import hashlib
import io
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, cast
from urllib.parse import quote, unquote

from pydantic import TypeAdapter, ValidationError
from pydantic_core import to_json

from harness.agent.events import (
    SCHEMA,
    Damaged,
    Event,
    Graded,
    Request,
    Response,
    SampleStart,
    ToolResult,
    standing,
)
from harness.closing import Closing
from harness.errors import RunDirectoryError
from harness.grading.verdict import stored_grade
from harness.models.protocol import ModelTurn, SystemMessage, ToolCall, UserMessage, usual_stop
from harness.problem import Problem
from harness.run.store.billed_requests import requests_of
from harness.run.store.files import lines_of, open_file, read_json
from harness.run.store.results import storage_error, whole_lines
from harness.text import writable_copy
from harness.value_faults import fault_words

LONGEST_NAME = 200
BROKEN = ".broken"
LONGEST_CAUSE = 200
MISSING = "the rest of it stands in the run's run.json, which is missing or has no `transcripts`"
NO_ANSWER = "the rest of it stands in the answer with its call, which cannot be read"
NO_MESSAGE = "the rest of it stands in a message before it, which cannot be read"
EVENT: TypeAdapter[Event] = TypeAdapter(Event)

# How lines begin, with and without the part that a run's transcripts share.
START = b'{"event":"sample_start","schema":%d,' % SCHEMA
LEFT_OUT = START + b'"as_run":true,'
REQUEST = b'{"event":"request"'
OPENING = b'"messages":[{"role":"system","sha256":"%s"}'
HASH = 16  # hex digits of the hash of a text
LACKING = OPENING[: OPENING.index(b"%s")]
ENDING = b'","ends":"%s"'
"""End of a content whose last part stands in the manifest; within JSON's strings it is escaped."""
ANY_RESULT = b'{"event":"tool_result",'
RESULT = ANY_RESULT + b'"result":{'
CONTENT, AGAIN = b'"content":"', b'"again":'
PARAGRAPH = rb"\n\n"
"""End of a paragraph in JSON. A text cut after it has whole escape sequences."""
MOST_DIGITS = 12
STOP = {"response": {"stop"}}


def shared_parts(
    facts: Mapping[str, Any], systems: Iterable[str], endings: Iterable[str] = ()
) -> dict[str, Any]:
    """Return what a run's manifest holds for its transcripts, see `SharedParts`.

    Args:
        facts: what the starts of all samples say.
        systems: the system messages that all samples share.
        endings: texts with which results of tools end.
    """
    return {
        "sample": dict(facts),
        "system": {_hash(each): each for each in systems},
        "endings": {_hash(each): each for each in endings},
    }


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:HASH]


class SharedParts:
    """Parts that the transcripts of a run share, which are stored once, in its manifest.

    A line has its part left out where it is byte for byte the run's. So a line says the same
    wherever it is read with its own run's manifest. Runs of older versions share nothing.

    Args:
        stored: the manifest's `transcripts`.
    """

    def __init__(self, stored: Any = None) -> None:
        values = cast("dict[str, Any]", stored) if isinstance(stored, dict) else {}
        facts = values.get("sample")
        self._facts = to_json(facts)[1:-1] + b"," if facts and isinstance(facts, dict) else b""
        self._systems = [
            (OPENING % digest, b'"messages":[' + _system_message(text))
            for digest, text in _texts(values.get("system"))
        ]
        self._endings = [
            (ENDING % digest, to_json(text)[1:]) for digest, text in _texts(values.get("endings"))
        ]

    @classmethod
    def of(cls, run: Path) -> "SharedParts":
        """Read those of a run; none if its manifest cannot be read."""
        try:
            return cls(read_json(run / "run.json").get("transcripts"))
        except (OSError, ValueError, AttributeError):
            return cls()

    def leave_out(self, line: bytes) -> bytes:
        """Return a line without the part that the run's manifest holds."""
        if self._facts and line.startswith(START) and self._facts in line:
            return LEFT_OUT + line[len(START) :].replace(self._facts, b"", 1)
        for short, whole in self._pairs(line):
            line = line.replace(whole, short, 1)
        return line

    def _pairs(self, line: bytes) -> list[tuple[bytes, bytes]]:
        """Return what may be left out of such a line, short and whole."""
        if line.startswith(REQUEST):
            return self._systems
        return self._endings if line.startswith(ANY_RESULT) else []

    def lacks(self, line: bytes) -> bool:
        """Return whether a line needs a shared part that is not known."""
        if line.startswith(LEFT_OUT):
            return not self._facts
        mark = LACKING if line.startswith(REQUEST) else ENDING[: ENDING.index(b"%s")]
        return line.startswith((REQUEST, ANY_RESULT)) and mark in self.put_back(line)

    def put_back(self, line: bytes) -> bytes:
        """Return the whole line."""
        if line.startswith(LEFT_OUT):
            return START + self._facts + line[len(LEFT_OUT) :]
        for short, whole in self._pairs(line):
            line = line.replace(short, whole, 1)
        return line


def _texts(stored: Any) -> list[tuple[bytes, str]]:
    """Return the texts of a part of the manifest, with their hashes."""
    texts = cast("dict[str, Any]", stored) if isinstance(stored, dict) else {}
    return [(key.encode(), text) for key, text in texts.items() if isinstance(text, str)]


def _system_message(text: str) -> bytes:
    return SystemMessage(content=text).model_dump_json().encode()


class ResultHead(NamedTuple):
    """What the line of a tool result leaves out, as JSON.

    Attributes:
        start: its beginning with turn, call id and name; empty if the line is whole.
        said: the newest user message, with which the result's content may begin.
    """

    start: bytes = b""
    said: bytes = b""

    def leave_out(self, line: bytes) -> bytes:
        """Return a line without its beginning, and without the paragraphs that were said."""
        if not self.start or not line.startswith(self.start):
            return line
        rest = line[len(self.start) :]
        again, end = 0, len(CONTENT)
        while cut := self.said.find(PARAGRAPH, again) + 1:
            cut += len(PARAGRAPH) - 1
            if rest[end : end + cut - again] != self.said[again:cut]:
                break
            again, end = cut, end + cut - again
        if again and rest.startswith(CONTENT):
            rest = b"%s%d,%s%s" % (AGAIN, again, CONTENT, rest[end:])
        return RESULT + rest

    def put_back(self, line: bytes) -> bytes:
        """Return the whole line."""
        if not self.start or not line.startswith(RESULT):
            return line
        rest = line[len(RESULT) :]
        if rest.startswith(AGAIN):
            again, _, rest = rest[len(AGAIN) :].partition(b",")
            if not again.isdigit() or len(again) > MOST_DIGITS or int(again) > len(self.said):
                return line
            rest = CONTENT + self.said[: int(again)] + rest[len(CONTENT) :]
        return self.start + rest

    def lacks(self, line: bytes) -> str:
        """Return where the rest of a line stands that cannot be made whole; else nothing."""
        if not line.startswith(RESULT) or self.put_back(line) is not line:
            return ""
        return NO_MESSAGE if self.start else NO_ANSWER


WHOLE = ResultHead()
"""Of a line that leaves out nothing."""


class ResultHeads:
    """What the lines of tool results that follow an answer leave out.

    Results come in the order of the answer's calls. So their lines leave out turn, call id and
    name, except after a line that is not a result of the same answer.
    """

    def __init__(self) -> None:
        self._turn = 0
        self._calls: Sequence[ToolCall] = ()  # those whose results come next
        self._said = b""

    def note(self, event: Event | None) -> None:
        """Take note of each event of the transcript, in order; None if it cannot be read."""
        if isinstance(event, Response):
            self._turn, self._calls = event.turn, event.response.tool_calls
        elif self._calls:
            self._calls = self._calls[1:] if isinstance(event, ToolResult) else ()
        if event is None or isinstance(event, Damaged):
            self._said = b""
        elif isinstance(event, Request):
            for message in event.messages:
                if isinstance(message, UserMessage):
                    self._said = to_json(message.content)[1:-1]

    def next(self) -> ResultHead:
        """Return what the next line leaves out."""
        if not self._calls:
            return WHOLE
        call = self._calls[0]
        key = self._turn, to_json(call.id), to_json(call.name)
        start = b'{"event":"tool_result","turn":%d,"result":{"call_id":%s,"name":%s,' % key
        return ResultHead(start, self._said)


def line_of(event: Event) -> bytes:
    """Return an event as a line, without fields that have their default values."""
    if isinstance(event, Graded):
        return b'{"event":"grade","grade":%s}\n' % stored_grade(event.grade)
    if isinstance(event, SampleStart):
        named = event.sample == sample_name(event.problem_id, event.index)
        return _whole(event, {"problem_id", "index"} if named else None)
    if isinstance(event, Request) and event.messages:  # told apart by a field with a default
        return _whole(event)
    left_out = STOP if isinstance(event, Response) and _stops_as_usual(event.response) else None
    rest = event.__pydantic_serializer__.to_json(
        event, by_alias=True, exclude_none=True, exclude_defaults=True, exclude=left_out
    )
    return b'{"event":"%s"%s%s\n' % (event.event.encode(), b"," * (rest != b"{}"), rest[1:])


def _stops_as_usual(turn: ModelTurn) -> bool:
    usual = usual_stop(has_calls=bool(turn.tool_calls))
    return turn.stop.reason == usual.reason and turn.stop.provider_word is None


def _whole(event: Event, left_out: set[str] | None = None) -> bytes:
    write = event.__pydantic_serializer__.to_json
    return write(event, by_alias=True, exclude_none=True, exclude=left_out) + b"\n"


def sample_name(problem_id: str, index: int) -> str:
    """Return a sample's display name: `livecodebench/abc300_a#0`."""
    return f"{problem_id}#{index}"


def file_name(problem_id: str, index: int) -> str:
    """Return the name of a sample's transcript; the end of a very long id is hashed."""
    name = quote(problem_id, safe="")
    if len(name) > LONGEST_NAME:
        digest = hashlib.sha256(problem_id.encode("utf-8", "surrogatepass")).hexdigest()
        name = f"{name[: LONGEST_NAME - 20]}~{digest[:16]}"
    return f"{name}-{index}.jsonl"


def transcript_command(run: Path, sample: str) -> str:
    """Return the shell command that prints a sample's transcript."""
    path = f"./{run}" if str(run).startswith("-") else str(run)
    return shlex.join(["harness", "transcript", path, sample])


def sample_in(name: str) -> tuple[str, int] | None:
    """Return a transcript's problem id and index; None if its name was shortened."""
    problem, _, index = unquote(name.removesuffix(".jsonl")).rpartition("-")
    cut = "~" in name and len(name) > LONGEST_NAME - 20
    return (problem, int(index)) if problem and index.isdecimal() and not cut else None


class TranscriptWriter(Closing):
    """Appends events to a sample's file, writing each at once.

    A line truncated by a crash is removed. A damaged line stays in place. A file without any event
    of this version is renamed.

    Attributes:
        recorded: the valid events of earlier attempts; empty for a new sample.
        unheard: number of requests of earlier attempts whose answer was lost.
    """

    def __init__(self, path: Path, shared: SharedParts | None = None) -> None:
        self._path = path
        self._shared = shared or SharedParts()
        self._heads = ResultHeads()
        self.recorded: tuple[Event, ...] = ()
        self.unheard = 0
        try:
            try:
                self._file = io.FileIO(path, "xb")
            except FileExistsError:
                events = _recover(path, self._shared)
                self.recorded = tuple(standing(events))
                self.unheard = sum(each.estimated for each in requests_of(events))
                self._file = io.FileIO(path, "ab")
        except OSError as error:
            raise storage_error(path.parent, error) from error

    def __call__(self, event: Event) -> None:
        """Write one event. Raises StorageError if that fails."""
        try:
            line = line_of(event)
        except ValueError:  # lone surrogates of the user's own code
            event = writable_copy(event)
            line = line_of(event)
        if isinstance(event, ToolResult):
            line = self._heads.next().leave_out(line)
        line = self._shared.leave_out(line)
        self._heads.note(event)
        try:
            if self._file.write(line) != len(line):
                raise OSError("the disk is full")  # noqa: TRY301 - the cause of a short write
        except OSError as error:
            raise storage_error(self._path.parent, error) from error

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _recover(path: Path, shared: SharedParts) -> tuple[Event, ...]:
    try:
        events = tuple(read_events(path, shared))
    except RunDirectoryError:
        path.replace(path.with_suffix(BROKEN))
        return ()
    with path.open("r+b", buffering=0) as file:
        file.truncate(whole_lines(file.fileno()))
    return events


def read_events(path: Path, shared: SharedParts | None = None) -> Iterator[Event]:
    """Yield the events of a transcript's file.

    Args:
        path: the file.
        shared: what its run's transcripts share; default: read from the run's manifest.

    Raises:
        RunDirectoryError: the file cannot be read, or no line is an event.
    """
    try:
        with open_file(path) as file:
            yield from events_in(file, path, shared or SharedParts.of(path.parent.parent))
    except OSError as error:
        raise RunDirectoryError(f"{path}: {error.strerror}") from error


def events_in(file: BinaryIO, where: Path, shared: SharedParts) -> Iterator[Event]:
    """Read the events of an open transcript.

    A line that is not an event becomes `Damaged`, so that the others can be read. A last line
    truncated by a crash is left out.

    Raises:
        RunDirectoryError: no line is an event; names the first line of the file `where`.
    """
    damaged: list[Damaged] = []  # lines before the first event
    readable = False
    heads = ResultHeads()
    for number, line in enumerate(lines_of(file), 1):
        if not line.endswith(b"\n"):
            break
        head = heads.next()
        event = _event_of(head.put_back(shared.put_back(line)), number)
        if shared.lacks(line):
            event = Damaged(line=number, cause=MISSING)
        elif cause := head.lacks(line):
            event = Damaged(line=number, cause=cause)
        heads.note(event)
        if readable:
            yield event
        elif isinstance(event, Damaged):
            damaged.append(event)
        else:
            readable = True
            yield from damaged
            yield event
    if damaged and not readable:
        raise RunDirectoryError(
            f"{where}:{damaged[0].line}: not an event of this version: {damaged[0].cause}"
        )


def _event_of(line: bytes, number: int) -> Event:
    try:
        return EVENT.validate_json(line)
    except ValidationError as error:
        return Damaged(line=number, cause=fault_words(error.errors()[0])[:LONGEST_CAUSE])


def facts_of(problem: Problem, index: int) -> dict[str, Any]:
    """Return the part of a result that does not depend on grading."""
    return {
        "sample": sample_name(problem.id, index),
        "problem_id": problem.id,
        "index": index,
        "title": problem.title,
        "problem_hash": problem.content_hash,
        "platform": problem.platform,
        "difficulty": problem.difficulty,
        "tags": problem.tags,
        "release_date": problem.release_date,
        "known_issues": problem.known_issues,
    }
