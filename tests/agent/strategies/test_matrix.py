"""Every strategy on the bundled problems, whatever the model does; and again from its record."""

from collections.abc import Awaitable, Callable, Iterator, Sequence
from itertools import chain, pairwise

import pytest
from behaviours import BEHAVIOURS, MODES, ROUNDS, SHOTS, TURNS, Answer, Behaviour, Programs
from for_each import for_each
from scripted import USAGE, Played, Sent, rebuild

from harness.agent import events as kinds
from harness.agent.attempt import Attempt, ChosenBy, Limits, StopReason
from harness.agent.events import (
    Damaged,
    Event,
    NewConversation,
    Refused,
    Request,
    Response,
    Resumed,
    ToolResult,
    standing,
)
from harness.agent.extraction.code import extract
from harness.agent.strategies.modes import mode_named
from harness.agent.strategies.options import StrategyOptions
from harness.languages.program_key import code_hash
from harness.models.protocol import ModelTurn, Retry, Usage
from harness.problem import Problem
from harness.run.store.revision_programs import programs_in
from harness.run.store.transcript import EVENT
from harness.sources.benchmarks import load

Play = Callable[..., Awaitable[Played]]

LIMITS = Limits(turns=TURNS)
OPTIONS = StrategyOptions(best_of=SHOTS, repair_rounds=ROUNDS)
A_HANDFUL = ("fixture/dry-beds", "fixture/rotate-pens", "fixture/deck-thinning")

PROBLEMS = {problem.id: problem for problem in load("fixture").problems[:20]}


class Cell:
    """One strategy on one problem, with a model that behaves in one way."""

    def __init__(
        self,
        play: Play,
        mode: str,
        problem: Problem,
        behaviour: Behaviour,
    ) -> None:
        self.view = problem.view()
        self.mode = mode
        self.behaviour = behaviour
        self.answers = behaviour.answers(Programs.of(self.view, problem.programs()[0]), mode)
        self._play = play

    async def play(self, recorded: Sequence[Event] = (), known: int | None = None) -> Played:
        """The conversation, or what is left of it; answers that are recorded are not given."""
        if known is None:
            known = sum(isinstance(event, Response | Refused) for event in recorded)
        return await self._play(
            *(step for answer in self.answers[known:] for step in answer),
            mode=self.mode,
            limits=LIMITS,
            options=OPTIONS,
            view=self.view,
            tool_use=self.behaviour.tool_use,
            recorded=recorded,
        )


def test_the_bundled_problems_are_all_there() -> None:
    assert len(PROBLEMS) == 20


@pytest.mark.thorough
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", BEHAVIOURS)
async def test_every_strategy_ends_well_for_every_model_behaviour(
    mode: str, name: str, play: Play
) -> None:
    """On a third of the problems, which differs from behaviour to behaviour and mode to mode."""
    turn = list(BEHAVIOURS).index(name) + MODES.index(mode)
    for problem in list(PROBLEMS.values())[turn % 3 :: 3]:
        cell = Cell(play, mode, problem, BEHAVIOURS[name])
        played = await cell.play()
        if not mode_named(mode).own_parts:  # these ask for more than solutions
            _check_end(cell, played)
            _check_solution(cell, played)
        _check_usage(cell.answers, played)
        _check_results(mode, played)
        _check_requests(played)
        _check_hashes(cell, played)
        await _check_record(cell, played)


@pytest.mark.thorough
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", BEHAVIOURS)
async def test_resume_from_any_event_asks_only_the_rest(mode: str, name: str, play: Play) -> None:
    for which in A_HANDFUL:
        cell = Cell(play, mode, PROBLEMS[which], BEHAVIOURS[name])
        whole = await cell.play()
        events = _from_disk(whole.events)
        for length in range(1, len(events)):
            kept = events[:length]
            again = await cell.play(kept)
            answered = sum(isinstance(event, Response | Refused) for event in kept)
            assert len(again.heard) == len(whole.heard) - answered
            assert again.heard == whole.heard[answered:]
            assert _timeless(again.attempt) == _timeless(whole.attempt)
            assert isinstance(again.events[0], Resumed)
            assert _without_seconds(standing([*kept, *again.events])) == _without_seconds(events)


@for_each("mode", MODES)
@for_each("lost", [True, False], ids=["in the place of an event", "between two"])
async def test_a_damaged_line_costs_no_answer_but_its_own(
    mode: str, lost: bool, play: Play
) -> None:
    cell = Cell(play, mode, PROBLEMS[A_HANDFUL[0]], BEHAVIOURS["fails, then solves"])
    whole = await cell.play()
    events = _from_disk(whole.events)
    for place in range(len(events)):
        damaged = [*events[:place], Damaged(line=place + 1), *events[place + lost :]]
        answered = len(whole.heard)
        if lost and isinstance(events[place], Response):
            answered = sum(isinstance(event, Response) for event in events[:place])
        again = await cell.play(damaged, answered)
        assert again.heard == whole.heard[answered:]
        assert _timeless(again.attempt) == _timeless(whole.attempt)
        if answered < len(whole.heard):
            (resumed, *_) = again.events
            assert isinstance(resumed, Resumed)
            assert f"line {place + 1} of its transcript cannot be read" in resumed.cause


def _check_end(cell: Cell, played: Played) -> None:
    attempt = played.attempt
    assert attempt.stop_reason is cell.behaviour.end(cell.mode)
    assert attempt.model_calls <= TURNS
    asked = [event for event in played.events if isinstance(event, Request | Refused)]
    in_another_way = sum(isinstance(event, Refused) for event in asked[:-1])
    assert attempt.model_calls == len(played.heard) - in_another_way
    turns = [request.turn for request in played.requests]
    assert turns == sorted(turns)
    assert turns[-1] == attempt.model_calls


def _check_usage(answers: list[Answer], played: Played) -> None:
    steps = [step for answer in answers[: len(played.heard)] for step in answer]
    usages = [step.usage for step in steps if isinstance(step, ModelTurn | Retry) and step.usage]
    assert played.attempt.usage == sum(usages, Usage())
    assert played.attempt.usage_known
    assert set(usages) == {USAGE}


def _check_results(mode: str, played: Played) -> None:
    """Each call has one result; they stand in the order asked, before the next request."""
    asked = [
        call.id
        for event in played.events
        if isinstance(event, Response)
        for call in event.response.tool_calls
    ]
    answered = [result.call_id for result in played.results]
    assert answered == (asked if mode == "agentic" else [])
    assert played.attempt.tool_calls == len(answered)


def _check_solution(cell: Cell, played: Played) -> None:
    """The final solution is what its rule says, seen from what was written and said alone."""
    attempt = played.attempt
    written = attempt.revisions
    solved = [each for each in written if each.passed]
    match attempt.chosen_by:
        case ChosenBy.PASSED_PUBLIC_TESTS:
            assert attempt.code == solved[0].code
        case ChosenBy.NEWEST:
            assert not solved
            assert len(written) == 1
        case ChosenBy.MOST_PUBLIC_TESTS:
            assert not solved
            most = max(each.report.passed for each in written if each.report)
            best = [each for each in written if each.report and each.report.passed == most]
            assert attempt.code == best[0].code
        case ChosenBy.ANSWER:
            assert cell.mode != "agentic"
            (revision,) = written
            assert attempt.code == revision.code
        case ChosenBy.PROSE:
            (revision,) = written
            assert cell.mode == "agentic"
            assert attempt.code == revision.code == _said_last(cell, played)
            assert revision.report is not None
        case _:
            assert attempt.chosen_by is ChosenBy.NONE
            assert (attempt.code, written) == ("", ())
            assert not _said_last(cell, played)
    if attempt.chosen_by is not ChosenBy.PROSE:
        assert bool(solved) == (attempt.stop_reason is StopReason.PUBLIC_TESTS_PASSED)
    if cell.mode == "agentic" and attempt.stop_reason is not StopReason.MODEL_ERROR:
        assert not written or attempt.code in {each.code for each in written if each.report}


def _check_hashes(cell: Cell, played: Played) -> None:
    """Each revision's program stands in the transcript, where its hash finds it."""
    turns = [event.response for event in played.events if isinstance(event, Response)]
    texts = [programs_in(turn, extract, cell.view.entry_point) for turn in turns]
    known = {code_hash(text): text for text in chain.from_iterable(texts)}
    for each in played.attempt.revisions:
        assert each.code_hash is not None
        assert known[each.code_hash] == each.code


def _said_last(cell: Cell, played: Played) -> str:
    turns = [event.response for event in played.events if isinstance(event, Response)]
    codes = [extract(turn.text, cell.view.entry_point).code for turn in turns]
    return next((code for code in reversed(codes) if code), "")


def _check_requests(played: Played) -> None:
    """The events rebuild every request, and each is the former one and more, byte for byte."""
    events = _from_disk(played.events)
    assert rebuild(events) == [sent.messages for sent in played.heard]
    anew = set(_begun_anew(events))
    for number, (former, latter) in enumerate(pairwise(played.heard)):
        if number not in anew:
            assert _bytes(latter)[: len(_bytes(former))] == _bytes(former)
            assert former.tools == latter.tools


def _begun_anew(events: Sequence[Event]) -> Iterator[int]:
    """The requests whose next need not go on where they were, by their number."""
    number = -1
    for event in events:
        if isinstance(event, Request):
            number += 1
        if isinstance(event, NewConversation | kinds.ReasoningLeftOut):
            yield number


def _bytes(sent: Sent) -> list[str]:
    return [message.model_dump_json() for message in sent.messages]


async def _check_record(cell: Cell, played: Played) -> None:
    """From the whole record nothing is asked or done again, but for a request left unanswered.

    A conversation that was refused for its length is not sent again.
    """
    unanswered = played.attempt.stop_reason is StopReason.MODEL_ERROR
    again = await cell.play(_from_disk(played.events))
    assert _timeless(again.attempt) == _timeless(played.attempt)
    assert again.heard == (played.heard[-1:] if unanswered else [])
    assert bool(again.events) == unanswered


def _from_disk(events: Sequence[Event]) -> list[Event]:
    return [EVENT.validate_json(event.model_dump_json(by_alias=True)) for event in events]


def _timeless(attempt: Attempt) -> Attempt:
    revisions = tuple(each.model_copy(update={"seconds": 0}) for each in attempt.revisions)
    return attempt.model_copy(update={"revisions": revisions})


def _without_seconds(events: Sequence[Event]) -> list[Event]:
    return [
        event.model_copy(update={"seconds": 0})
        if isinstance(event, ToolResult | kinds.Tested | kinds.RanWrittenTests)
        else event
        for event in events
    ]
