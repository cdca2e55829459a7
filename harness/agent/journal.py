"""The journal of a sample: recorded answers are replayed after an interruption.

A strategy that is run once more does the same things in the same order, as long as it hears the
same answers. So the events of an earlier attempt are its answers: while each thing that happens is
the next one recorded, nothing is asked and nothing is written. From the first that is not, the
strategy is on its own again, and all it does is recorded.

A damaged line of a transcript is passed over. Where it took the place of an event that costs
nothing to do again, that is done again; where it took the place of an answer, nothing after it
stands.
"""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime

from harness.agent.events import (
    Cleared,
    Damaged,
    Event,
    Request,
    Response,
    Resumed,
    Retried,
    SampleEnd,
    SampleStart,
    Tested,
    ToolResult,
    Unusable,
)
from harness.models.protocol import ContextOverflowError, RecordingEndedError, Usage

MODEL_STOPPED = "model_stopped"
"""The stop reason of a sample that the model ended, which older versions did sooner."""

STARTS = {  # what shapes a sample, by the field of its start that would tell of a change
    "problem_hash": "the problem",
    "prompt_hash": "the prompt",
    "tools_hash": "the tools",
    "settings": "the model's settings",
    "limits": "the limits",
    "mode": "the mode",
    "model": "the model",
}


class Journal:
    """Records one sample.

    Args:
        write: puts an event on disk.
        recorded: the events of an earlier attempt that stand.

    Attributes:
        answers: what each answer so far has used, the recorded ones among them.
        cut_off: how many of them the token limit cut off.
    """

    def __init__(self, write: Callable[[Event], None], recorded: Sequence[Event] = ()) -> None:
        self._write = write
        self._recorded = recorded
        self._kept = self._turn = 0
        self._retries: tuple[Usage, ...] = ()
        self._live = not recorded
        self.answers: list[Usage | None] = []
        self.cut_off = 0

    def __call__(self, event: Event) -> None:
        """An event has happened; one that is recorded already is not written again."""
        if not self._live and isinstance(event, SampleStart):
            self._begin(event)
            return
        if isinstance(event, Response):
            self._count(event)
        if not self._live and self._next(lambda found: found == event) != event:
            if self._is_lost():
                self._kept += 1
                return
            self._go_live()
        if not self._live:
            self._kept += 1
            return
        self._write(event)

    @property
    def recorded(self) -> Sequence[Event]:
        """The events of an earlier attempt that still stand; none once something else happened."""
        return () if self._live else self._recorded

    def start_over(self, cause: str) -> None:
        """Begin the sample anew: nothing of an earlier attempt can be used again."""
        if not self._live:
            self._go_live(cause)

    def answer(self, request: Request) -> Response | None:
        """The recorded answer to a request, or None: then it has to be sent.

        Raises:
            ContextOverflowError: what is recorded is that it was too long.
            RecordingEndedError: what is recorded is that the model had ended the sample here.
        """
        if self._live:
            return None
        asked = self._next(lambda found: isinstance(found, Request))
        if isinstance(asked, SampleEnd) and asked.stop_reason == MODEL_STOPPED:
            raise RecordingEndedError("the model had stopped here", MODEL_STOPPED, asked=False)
        lost = self._is_lost() and _is_of_turn(self._at(self._kept + 1), request.turn)
        if not isinstance(asked, Request) and not lost:
            self._go_live()
            return None
        if isinstance(asked, Request) and (asked.turn, asked.hash) != (request.turn, request.hash):
            self._go_live(f"the request of turn {request.turn} is not the one recorded")
            return None
        place = self._kept + 1
        retries: list[Usage] = []
        while isinstance(failed := self._at(place), Retried | Unusable | Damaged):
            estimated = isinstance(failed, Unusable) and failed.estimated
            if not isinstance(failed, Damaged) and not estimated:
                retries += [failed.usage] if failed.usage else []
            place += 1
        self._retries = tuple(retries)
        found = self._at(place)
        match found:
            case Response() if found.turn == request.turn:
                self._kept, self._turn = place + 1, found.turn
                self._count(found)
                return found
            case Cleared():
                self._kept, self._turn = place, found.turn
                raise ContextOverflowError(found.cause)
            case _:
                self._go_live()
                return None

    def retries(self) -> tuple[Usage, ...]:
        """What was paid for before the recorded answer given last, in answers of no use."""
        return self._retries

    def result(self, call_id: str) -> ToolResult | None:
        """The recorded result of a call, or None: then it has to be carried out."""
        if self._live:
            return None
        found = self._next(lambda each: isinstance(each, ToolResult) and _answers(each, call_id))
        if isinstance(found, ToolResult) and _answers(found, call_id):
            self._kept += 1
            return found
        if not self._is_lost():
            self._go_live()
        return None

    def tested(self, turn: int) -> Tested | None:
        """The recorded outcome of tests that a strategy had run, or None: then they have to be."""
        if self._live:
            return None
        found = self._next(lambda each: isinstance(each, Tested) and each.turn == turn)
        if isinstance(found, Tested) and found.turn == turn:
            self._kept += 1
            return found
        if not self._is_lost():
            self._go_live()
        return None

    def _count(self, answer: Response) -> None:
        self.answers.append(answer.response.usage)
        self.cut_off += answer.response.cut_off

    def _begin(self, start: SampleStart) -> None:
        """Compare what shapes the sample; a change of it makes the record worthless."""
        before = self._next(lambda found: isinstance(found, SampleStart))
        if self._is_lost():  # the hashes of the requests tell whether the sample has changed
            self._kept = 1
            return
        if not isinstance(before, SampleStart):
            self._go_live("the transcript has no beginning")
            self._write(start)
            return
        changed = [
            words
            for field, words in STARTS.items()
            if getattr(before, field) != getattr(start, field)
        ]
        if changed:
            self._go_live(f"{' and '.join(changed)} changed")
            self._write(start)
            return
        self._kept += 1

    def _next(self, wanted: Callable[[Event], bool]) -> Event | None:
        """The next recorded event; damaged lines before a wanted one were no events."""
        place = self._kept
        while isinstance(found := self._at(place), Damaged):
            place += 1
        if found is not None and wanted(found):
            self._kept = place
        return self._at(self._kept)

    def _is_lost(self) -> bool:
        """Whether the next event is on a damaged line: there are readable ones after it."""
        here, after = self._at(self._kept), self._recorded[self._kept :]
        return isinstance(here, Damaged) and any(not isinstance(each, Damaged) for each in after)

    def _at(self, place: int) -> Event | None:
        return self._recorded[place] if place < len(self._recorded) else None

    def _go_live(self, cause: str = "") -> None:
        """From here on everything happens; what is recorded beyond is void."""
        self._live = True
        cause = cause or self._damage()
        now = datetime.now(UTC).isoformat(timespec="seconds")
        self._write(Resumed(kept=self._kept, turn=self._turn, cause=cause, time=now))

    def _damage(self) -> str:
        """What is said of damaged lines; nothing where there are none."""
        damaged = [each for each in self._recorded if isinstance(each, Damaged)]
        if not damaged:
            return ""
        void = len(self._recorded) - self._kept
        lines = "line" if len(damaged) == 1 else "lines"
        return (
            f"{lines} {', '.join(str(each.line) for each in damaged[:5])} of its transcript cannot "
            f"be read; {self._kept} of {len(self._recorded)} events are used, {void} are not"
        )


def _answers(event: ToolResult, call_id: str) -> bool:
    return event.result.call_id == call_id


def _is_of_turn(event: Event | None, turn: int) -> bool:
    """Whether an event is what came of a request of that turn."""
    return isinstance(event, Response | Retried | Unusable | Cleared) and event.turn == turn
