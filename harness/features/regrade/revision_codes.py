"""The programs of a sample's revisions, read from its transcript.

A result holds only the final solution; its steps say at which turn each revision was written. The
revisions of a turn are the programs in its tool calls, or else the code in its answer. They are
used only where there are as many as there are steps of that turn.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from harness.agent.attempt import ChosenBy
from harness.agent.events import Event, Response, ToolResult
from harness.agent.extraction.code import Extract
from harness.run.store.entries import program
from harness.run.store.results import SampleResult
from harness.text import writable
from harness.tools.run_code import RunCode

Codes = tuple[str | None, ...]


def revision_codes(
    result: SampleResult, events: Iterable[Event], extract: Extract, entry_point: str | None
) -> Codes:
    """Return the program of each step of a sample; None where it is unknown.

    Args:
        result: the result of the sample.
        events: the valid events of its transcript; empty if there is none.
        extract: the run's rule that finds code in an answer.
        entry_point: name of the problem's function, if it has one.
    """
    found = _by_turn(events, extract, entry_point)
    wanted = Counter(step.turn for step in result.steps)
    left = {
        turn: iter(codes if len(codes := found.get(turn, ())) == number else [None] * number)
        for turn, number in wanted.items()
    }
    return _with_final(result, [next(left[step.turn]) for step in result.steps])


def _by_turn(
    events: Iterable[Event], extract: Extract, entry_point: str | None
) -> dict[int, Sequence[str | None]]:
    """Return the programs written in each turn: by tools, else in the answer."""
    written: dict[int, dict[str, str]] = defaultdict(dict)
    said: dict[int, str] = {}
    for event in events:
        match event:
            case Response(turn=turn, response=answer):
                said[turn] = answer.text
                for call in answer.tool_calls:
                    code = None if call.name == RunCode.name else program(call)
                    if code is not None:
                        written[turn][call.id] = writable(code)
            case ToolResult(turn=turn, result=result) if result.is_error:
                written[turn].pop(result.call_id, None)
            case _:
                pass
    codes: dict[int, Sequence[str | None]] = {}
    for turn, text in said.items():
        prose = () if written[turn] else (extract(text, entry_point).code,)
        codes[turn] = [*written[turn].values()] or [code for code in prose if code]
    return codes


def _with_final(result: SampleResult, codes: list[str | None]) -> Codes:
    """Put the final solution, which is one of the revisions, in its place."""
    if not codes or not result.code or result.code in codes:
        return tuple(codes)
    unknown = [place for place, code in enumerate(codes) if code is None]
    if not unknown:  # the transcript is of another conversation
        nothing: list[str | None] = [None] * len(codes)
        codes, unknown = nothing, [*range(len(codes))]
    final = unknown[0] if len(unknown) == 1 else _final_place(result)
    if codes[final] is None:
        codes[final] = result.code
    return tuple(codes)


def _final_place(result: SampleResult) -> int:
    """Return the index of the step that was the final solution, by the rule that chose it."""
    passed = [step.public_passed or 0 for step in result.steps]
    if result.chosen_by is ChosenBy.MOST_PUBLIC_TESTS:
        return passed.index(max(passed))
    if result.chosen_by is ChosenBy.PASSED_PUBLIC_TESTS and result.public_total in passed:
        return len(passed) - 1 - passed[::-1].index(result.public_total)
    return len(passed) - 1
