"""What an answer says of its calls is left out of the lines of their results."""

import json
from pathlib import Path

from for_each import for_each

from harness.agent.events import (
    Damaged,
    Event,
    Request,
    Response,
    Resumed,
    SampleStart,
    ToolProtocolChanged,
    ToolResult,
)
from harness.features.viewer.transcript_index import TranscriptIndex
from harness.models.protocol import ModelStop, ModelTurn, ToolCall, ToolMessage, UserMessage
from harness.run.store.transcript import EVENT, TranscriptWriter, line_of, read_events

START = SampleStart(sample="a/b#0", problem_id="a/b", index=0, mode="agentic", model="m")
CALLS = tuple(ToolCall(id=f'"{n}"', name=f"tööl\n{n}", arguments="{}") for n in range(3))
ASKED = Request(turn=1, hash="0a", messages=(UserMessage(content="Go."),))
ANSWER = Response(turn=1, response=ModelTurn(tool_calls=CALLS))
MARK = '{"event":"tool_result","result":{'


def result(number: int, call: ToolCall | None = None) -> ToolResult:
    call = call or CALLS[number]
    message = ToolMessage(call_id=call.id, name=call.name, content=MARK * number)
    return ToolResult(turn=1, result=message, seconds=number / 10)


OTHER = ToolCall(id="other", name="other")
CHANGED = ToolProtocolChanged(turn=1, protocol="text")
SEQUENCES: dict[str, tuple[list[Event], int]] = {
    "in order": ([ANSWER, result(0), result(1), result(2)], 3),
    "one of another call": ([ANSWER, result(0), result(1, OTHER), result(2)], 2),
    "in another order": ([ANSWER, result(1), result(0), result(2)], 1),
    "one too many": ([ANSWER, result(0), result(1), result(2), result(2)], 3),
    "after another event": ([ANSWER, CHANGED, result(0), result(1)], 0),
    "after a resumption": ([ANSWER, result(0), Resumed(kept=4, turn=1), result(1)], 1),
    "of another turn": ([ANSWER.model_copy(update={"turn": 2}), result(0)], 0),
}


def written(folder: Path, events: list[Event]) -> Path:
    path = folder / "r" / "transcripts" / "a%2Fb-0.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with TranscriptWriter(path) as write:
        for event in events:
            write(event)
    return path


def viewed(path: Path) -> list[Event | None]:
    index = TranscriptIndex(path.parent.parent, path.name)
    assert index.refresh()
    return [index.event(line) for line in index.in_order()]


@for_each("name", SEQUENCES)
def test_events_are_read_as_they_were_written(tmp_path: Path, name: str) -> None:
    events, short = SEQUENCES[name]
    path = written(tmp_path, [START, ASKED, *events])
    lines = path.read_text().splitlines()
    assert sum(line.startswith(MARK) for line in lines) == short
    assert all("name" not in json.loads(x)["result"] for x in lines if x.startswith(MARK))
    assert list(read_events(path)) == [START, ASKED, *events]
    assert viewed(path) == [START, ASKED, *events]


def test_whole_lines_of_an_older_version_are_read(tmp_path: Path) -> None:
    events: list[Event] = [START, ASKED, ANSWER, result(0), result(1), result(2)]
    path = written(tmp_path, [START])
    dumped = [event.model_dump_json(by_alias=True, exclude_none=True) for event in events]
    path.write_text("".join(f"{line}\n" for line in dumped))
    assert list(read_events(path)) == events
    assert viewed(path) == events


def test_a_writer_that_goes_on_writes_a_whole_line_first(tmp_path: Path) -> None:
    path = written(tmp_path, [START, ASKED, ANSWER, result(0)])
    written(tmp_path, [result(1), result(2)])
    assert list(read_events(path)) == [START, ASKED, ANSWER, result(0), result(1), result(2)]


STATEMENT = 'Add "a" and \\n b.\n\nÄ lone \\\n\nend.\n\n## Test 1'
SAID = Request(turn=1, hash="0a", messages=(UserMessage(content=STATEMENT),))
REPEATS = {
    "all": (STATEMENT, 3),
    "two paragraphs": (STATEMENT[:-10] + "other", 2),
    "nothing": ("## Test 1", 0),
    "a paragraph in part": (STATEMENT[:-12], 2),
    "and more": (STATEMENT + "\n\n1", 3),
}


def told(content: str) -> ToolResult:
    message = ToolMessage(call_id=CALLS[0].id, name=CALLS[0].name, content=content)
    return ToolResult(turn=1, result=message)


@for_each("name", REPEATS)
def test_what_the_user_message_says_is_not_written_again(tmp_path: Path, name: str) -> None:
    content, paragraphs = REPEATS[name]
    events: list[Event] = [START, SAID, ANSWER, told(content), result(1)]
    path = written(tmp_path, events)
    line = json.loads(path.read_text().splitlines()[3])
    left = STATEMENT.split("\n\n", paragraphs)[:paragraphs]
    kept = content.removeprefix("".join(f"{part}\n\n" for part in left))
    assert line["result"]["content"] == kept
    assert ("again" in line["result"]) == bool(paragraphs)
    assert list(read_events(path)) == events
    assert viewed(path) == events


def test_only_the_newest_user_message_counts(tmp_path: Path) -> None:
    other = Request(turn=2, hash="0b", messages=(UserMessage(content="Go on.\n\nNow."),))
    later = ANSWER.model_copy(update={"turn": 2})
    message = told("Go on.\n\nThen.").model_copy(update={"turn": 2})
    events: list[Event] = [START, SAID, ANSWER, told(STATEMENT), other, later, message]
    path = written(tmp_path, events)
    assert path.read_text().count('"again":') == 2
    assert list(read_events(path)) == events
    assert viewed(path) == events


@for_each("damage", ["{]", '{"event":"request","turn":1}'])
def test_a_result_after_a_damaged_message_is_damaged_not_shortened(
    tmp_path: Path, damage: str
) -> None:
    longer = Request(turn=1, hash="0c", messages=(UserMessage(content="Long. " * 99 + "\n\n"),))
    path = written(tmp_path, [START, longer, SAID, ANSWER, told(STATEMENT)])
    lines = path.read_text().splitlines(keepends=True)
    lines[2] = f"{damage}\n"
    path.write_text("".join(lines))
    last = list(read_events(path))[-1]
    assert isinstance(last, Damaged)
    assert "a message before it" in last.cause
    assert viewed(path)[-1] is None


@for_each("number", ["", "-1", "1e2", "99", "9" * 5000])
def test_a_result_that_repeats_more_than_was_said_is_damaged(tmp_path: Path, number: str) -> None:
    path = written(tmp_path, [START, ASKED, ANSWER, result(0)])
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:3]) + f'{MARK}"again":{number},"content":"x"}}}}\n')
    last = list(read_events(path))[-1]
    assert isinstance(last, Damaged)
    assert "a message before it" in last.cause
    assert viewed(path)[-1] is None


@for_each(("place", "readable"), [(2, 0), (3, 0), (4, 1)])
def test_results_after_a_damaged_line_of_their_answer_are_damaged_too(
    tmp_path: Path, place: int, readable: int
) -> None:
    path = written(tmp_path, [START, ASKED, ANSWER, result(0), result(1), result(2)])
    lines = path.read_text().splitlines(keepends=True)
    lines[place] = "{]\n"
    path.write_text("".join(lines))
    events = list(read_events(path))
    assert sum(isinstance(event, ToolResult) for event in events) == readable
    assert isinstance(events[-1], Damaged)
    assert "the answer with its call" in events[-1].cause
    assert viewed(path)[-1] is None


USUAL = [
    (ModelTurn(text="a", stop=ModelStop(reason="end_turn")), True),
    (ModelTurn(tool_calls=CALLS, stop=ModelStop(reason="tool_use")), True),
    (ModelTurn(text="a", stop=ModelStop(reason="tool_use")), False),
    (ModelTurn(tool_calls=CALLS, stop=ModelStop(reason="max_tokens")), False),
    (ModelTurn(text="a", stop=ModelStop(reason="end_turn", provider_word="stop")), False),
]


@for_each(("turn", "usual"), USUAL)
def test_the_usual_reason_to_stop_is_left_out(turn: ModelTurn, usual: bool) -> None:
    line = line_of(Response(turn=1, response=turn))
    assert ("stop" not in json.loads(line)["response"]) == usual
    assert EVENT.validate_json(line) == Response(turn=1, response=turn)


@for_each(
    ("sample", "problem_id", "index", "named"),
    [("a/b#0", "a/b", 0, True), ("a#1#2", "a#1", 2, True), ("a/b#00", "a/b", 0, False)],
)
def test_a_start_names_its_problem_once(
    sample: str, problem_id: str, index: int, named: bool
) -> None:
    start = START.model_copy(update={"sample": sample, "problem_id": problem_id, "index": index})
    line = line_of(start)
    assert ("problem_id" not in json.loads(line)) == named
    assert EVENT.validate_json(line) == start
