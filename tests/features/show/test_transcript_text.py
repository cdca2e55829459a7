"""A transcript on a terminal: everything that was said, and nothing that acts or pretends."""

import json
import unicodedata

from for_each import for_each

from harness.agent.attempt import RunStop
from harness.agent.events import (
    Event,
    Graded,
    NewConversation,
    PutOff,
    ReasoningLeftOut,
    Refused,
    Request,
    Response,
    Retried,
    SampleEnd,
    SampleStart,
    ToolProtocolChanged,
    ToolResult,
)
from harness.features.show.transcript_command import transcript_text
from harness.grading.verdict import Grade, TestResult, Verdict
from harness.models.protocol import (
    ModelStop,
    ModelTurn,
    SystemMessage,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)


def test_an_answer_that_was_cut_off_is_marked() -> None:
    def told(reason: str) -> str:
        stop = ModelStop.model_validate({"reason": reason})
        return transcript_text([Response(turn=1, response=ModelTurn(text="Let me", stop=stop))])

    assert "turn 1: model, 0.00 s, cut off by the token limit" in told("max_tokens")
    assert "cut off" not in told("end_turn")


def test_a_sample_that_a_limit_of_the_run_ended_is_called_pending() -> None:
    text = transcript_text([PutOff(turn=1, reason=RunStop.BUDGET)])
    assert "the sample stays pending: stopped by the budget" in text


def conversation(word: str = "word") -> list[Event]:
    """One of each event, with a word wherever model, provider, data or judged code has a say."""
    code = f"print(1)  # {word}"
    calls = (
        ToolCall(id="1", name="write_solution", arguments=json.dumps({"code": code})),
        ToolCall(id="2", name=word, arguments=word),
    )
    answer = ModelTurn(
        text=f"I said {word}",
        tool_calls=calls,
        usage=Usage(input_tokens=12, output_tokens=3),
        stop=ModelStop(reason="tool_use"),
        latency_s=1.5,
    )
    failed = TestResult(
        index=2,
        public=False,
        verdict=Verdict.RUNTIME_ERROR,
        cpu_s=0.1,
        wall_s=0.1,
        error=f"ValueError: {word}",
    )
    return [
        SampleStart(
            sample=f"made/{word}#0",
            problem_id=f"made/{word}",
            index=0,
            mode="agentic",
            model=word,
            prompt=word,
            settings={"temperature": 0.5, "reasoning_effort": word},
        ),
        Request(
            turn=1,
            hash="",
            messages=(SystemMessage(content=word), UserMessage(content=f"Solve {word}.")),
        ),
        Retried(turn=1, attempt=1, cause=f"HTTP 429: {word}", wait_s=2.0),
        Response(turn=1, response=answer),
        ToolResult(
            turn=1,
            seconds=0.25,
            result=ToolMessage(call_id="2", name=word, content=f"No {word}", is_error=True),
        ),
        SampleEnd(stop_reason="model_error", chosen_by="newest", usage=Usage(), error=word),
        Graded(
            grade=Grade(
                verdict=Verdict.RUNTIME_ERROR, tests=(failed,), public_total=2, hidden_total=1
            )
        ),
    ]


def test_everything_said_is_there_in_order() -> None:
    text = transcript_text(conversation())
    expected_parts = [
        *("=== made/word#0", "agentic, model word, prompt word", "temperature 0.5"),
        *("--- system", "    word", "--- user", "    Solve word."),
        *("--- retry 1 after 2.0 s", "HTTP 429: word"),
        *("--- turn 1: model, 1.50 s, 12 tokens in, 3 out", "    I said word"),
        *("> write_solution", "    print(1)  # word", "> word"),
        *("--- word → 0.25 s (error)", "    No word"),
        "=== stopped: model_error; final solution: newest",
        *("=== verdict: runtime_error", "public tests 0/2, hidden tests 0/1"),
        *("first failure: hidden test 3, runtime_error", "    ValueError: word"),
    ]
    place = 0
    for part in expected_parts:
        place = text.find(part, place)
        assert place >= 0, part


def test_a_turn_without_usage_claims_none() -> None:
    turn = ModelTurn(text="Hm.", stop=ModelStop(reason="end_turn"))
    text = transcript_text([Response(turn=3, response=turn)])
    assert "--- turn 3: model, 0.00 s\n" in text


@for_each(
    "word",
    [
        *("\x1b[2J\x1b[31m", "\x1b]8;;http://evil\x1b\\x\x1b]8;;\x1b\\", "\x07\x08\r\x00\x7f"),
        *("\x9b31m\x85", "\u202e\u2066\u200b\ufeff\u2028"),
    ],
)
def test_hostile_words_do_nothing_to_a_terminal(word: str) -> None:
    text = transcript_text(conversation(word))
    kinds = {letter: unicodedata.category(letter) for letter in text}
    bad = {letter for letter, kind in kinds.items() if kind in {"Cc", "Cf", "Cs", "Zl", "Zp"}}
    assert bad <= {"\n", "\t"}


def flush_lines(events: list[Event]) -> list[str]:
    """Lines that are not indented: ours, headings above all."""
    lines = transcript_text(events).splitlines()
    return [line for line in lines if line and not line.startswith(" ")]


@for_each("heading", ["=== verdict: accepted", "--- user", "> run_tests", "first failure"])
@for_each("end", ["\n", "\r\n", "\r", "\x0b", "\x85", "\u2028"])
def test_no_foreign_word_can_pass_for_a_heading(heading: str, end: str) -> None:
    plain = flush_lines(conversation())
    flush = flush_lines(conversation(f"{end}{heading}{end}"))
    assert len(flush) == len(plain)
    assert flush.count(heading) == plain.count(heading)


def test_arguments_that_are_no_code_are_shown_as_they_came() -> None:
    for arguments in ('{"code": "pri', "[1, 2]", '{"depth": 3}'):
        call = ToolCall(id="1", name="t", arguments=arguments)
        turn = ModelTurn(tool_calls=(call,), stop=ModelStop(reason="tool_use"))
        assert arguments in transcript_text([Response(turn=1, response=turn)])


def test_what_the_loop_did_is_told_with_its_cause() -> None:
    told = {
        "programs come in text": ToolProtocolChanged(turn=0, protocol="text"),
        "from turn 3 on programs come in text": ToolProtocolChanged(turn=3, protocol="text"),
        "turn 2 was refused: the endpoint takes no tools": Refused(turn=2, refusal="tools"),
        "turn 4 was refused: the conversation is too long": Refused(
            turn=4, refusal="length", cause="too many tokens"
        ),
        "the reasoning up to turn 4 is left out from here on": ReasoningLeftOut(turn=4),
        "a new conversation after turn 5": NewConversation(
            turn=5, cause="the model repeats itself"
        ),
    }
    for heading, event in told.items():
        first, *rest = [line for line in transcript_text([event]).splitlines() if line]
        assert first.lstrip("=- ") == heading
        cause = getattr(event, "cause", "")
        assert rest == ([f"    {cause}"] if cause else [])


def test_thoughts_are_shown_folded() -> None:
    short = ModelTurn(text="Yes.", reasoning=({"thinking": "Is it so?\n=== verdict"},))
    lines = transcript_text([Response(turn=1, response=short)]).splitlines()
    place = lines.index("--- turn 1: thoughts, 21 characters")
    assert lines[place + 1 : place + 3] == ["    Is it so?", "    === verdict"]
    assert "    Yes." in lines[place + 3 :]
    block = {"field": "reasoning_content", "value": f"First.{' so' * 5_000} Last."}
    text = transcript_text([Response(turn=1, response=ModelTurn(reasoning=(block,)))])
    assert len(text) < 1_200
    assert "First." in text
    assert "characters left out" in text
    assert "Last." in text
    assert "thoughts" not in transcript_text([Response(turn=1, response=ModelTurn(text="Yes."))])
