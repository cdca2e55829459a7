"""The one form that every log of an agent run is read into, whatever format it is written in.

A reader of a format yields a `Trajectory` for each sample. Which revisions it holds is found later
(`harness.features.import_.revisions`), since that takes the problem.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from harness.agent.attempt import ChosenBy, StopReason
from harness.errors import DataError
from harness.features.grade.solution import Published
from harness.models.protocol import AssistantMessage, Message, ModelTurn, ToolMessage, Usage

MOST_MESSAGES = 100_000
"""Messages of one trajectory."""
MOST_CHARACTERS = 1 << 26
"""Characters of all messages of one trajectory. A log may name one long text many times."""
MOST_REVISIONS = 1_000
"""Revisions of one trajectory; each is judged on all tests."""


class Spending(NamedTuple):
    """What a sample had used by some point; None where the file does not tell.

    Attributes:
        usage: tokens.
        cost: US dollars.
        seconds: since the sample began.
        split: whether input and output tokens are told apart; else all of them stand as input, and
            no price can be put on them.
    """

    usage: Usage | None = None
    cost: float | None = None
    seconds: float | None = None
    split: bool = True


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of a model, with what was said before it and what its calls returned.

    Attributes:
        before: messages that no earlier turn holds.
        answer: with the tokens of this one call, where the file tells.
        results: of its tool calls, in order.
        cost: of this call in US dollars; None where the file does not tell.
        until: seconds from the sample's beginning to this answer; None likewise.
        calls: how many model calls the answer stands for; 0 where no model was asked.
        tested: calls after which the file says that the newest revision was tested; an empty id
            stands for tests that no call asked for, after all calls.
    """

    before: tuple[Message, ...]
    answer: ModelTurn
    results: tuple[ToolMessage, ...] = ()
    cost: float | None = None
    until: float | None = None
    calls: int = 1
    tested: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Revision:
    """A version of the solution, and what the sample had used when it was written.

    Attributes:
        turn: model calls until then.
        extraction: the rule that found the code in the model's words; empty where it was given.
        tested: whether the public tests were run on it in the sample.
        published: what the file says of it.
    """

    code: str
    turn: int
    spent: Spending = Spending()  # noqa: RUF009 - frozen
    extraction: str = ""
    tested: bool = False
    published: Published | None = None


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One sample of a run that somebody else made.

    Attributes:
        where: the file and line, as errors name it.
        problem: the problem's name, as the file has it.
        turns: the conversation.
        index: the sample among those of its problem, from 0; None where the file does not number.
        model, mode: who was asked and how; empty where the file does not say.
        revisions: where the file lists them; None where they are to be found in the turns.
        final: the final solution, where the file names it.
        chosen_by, extraction: the rule that chose it, and the one that found it in the model's
            words, where the file is an export of this program.
        revision_turns: the turns in which revisions were written, likewise; None elsewhere.
        stop_reason: why it ended.
        published: what the file says of the final solution.
        spent: in all, where the file tells more than its turns do.
        calls: model calls in all, where the file tells.
        error: what kept the sample from its end, by no fault of the model: it stays pending.
    """

    where: str
    problem: str
    turns: tuple[Turn, ...]
    index: int | None = None
    model: str = ""
    mode: str = ""
    revisions: tuple[Revision, ...] | None = None
    final: str | None = None
    chosen_by: ChosenBy | None = None
    extraction: str | None = None
    revision_turns: tuple[int, ...] | None = None
    stop_reason: StopReason = StopReason.MODEL_STOPPED
    published: Published | None = None
    spent: Spending = Spending()  # noqa: RUF009 - frozen
    calls: int | None = None
    error: str = ""

    @property
    def model_calls(self) -> int:
        """How often a model was asked."""
        counted = sum(turn.calls for turn in self.turns)
        return counted if self.calls is None else self.calls

    @property
    def tool_calls(self) -> int:
        """How many tool calls the model made."""
        return sum(len(turn.answer.tool_calls) for turn in self.turns)

    @property
    def spending(self) -> Spending:
        """What the sample used in all: as the file says, else what its turns come to."""
        found = spending_by_turn(self.turns)[-1] if self.turns else Spending()
        told = self.spent
        return Spending(
            found.usage if told.usage is None else told.usage,
            found.cost if told.cost is None else told.cost,
            found.seconds if told.seconds is None else told.seconds,
            found.split and told.split,
        )


def spending_by_turn(turns: Sequence[Turn]) -> list[Spending]:
    """Return what a sample had used after each turn.

    Tokens and dollars are unknown from the first model call on that does not tell them.
    """
    found: list[Spending] = []
    usage: Usage | None = Usage()
    cost: float | None = 0.0
    for turn in turns:
        if turn.calls:
            used = turn.answer.usage
            usage = None if usage is None or used is None else usage + used
            cost = None if cost is None or turn.cost is None else cost + turn.cost
        found.append(Spending(usage, cost, turn.until))
    return found


@dataclass(slots=True)
class Conversation:
    """Turns that are being put together, message by message.

    Args:
        where: the trajectory, as errors name it.

    `say` and `answer` raise DataError where there are too many messages, or too long ones.
    """

    where: str
    _turns: list[Turn] = field(default_factory=list[Turn])
    _before: list[Message] = field(default_factory=list[Message])
    _results: list[ToolMessage] = field(default_factory=list[ToolMessage])
    _open: Turn | None = None
    _messages: int = 0
    _characters: int = 0

    def say(self, message: Message) -> None:
        """Add a message that is no answer of the model's."""
        said = message.text if isinstance(message, AssistantMessage) else message.content
        self._count(len(said))
        if isinstance(message, ToolMessage) and self._open is not None and not self._before:
            self._results.append(message)
        else:
            self._before.append(message)

    def answer(
        self,
        answer: ModelTurn,
        *,
        cost: float | None = None,
        until: float | None = None,
        calls: int = 1,
        tested: frozenset[str] = frozenset(),
    ) -> None:
        """Add an answer of the model's; the arguments are those of `Turn`."""
        self._count(len(answer.text) + sum(len(call.arguments) for call in answer.tool_calls))
        self._close()
        self._open = Turn((*self._before,), answer, (), cost, until, calls, tested)
        self._before.clear()

    def turns(self) -> tuple[Turn, ...]:
        """Return the turns. What was said after the last answer is left out: nobody answered it."""
        self._close()
        return tuple(self._turns)

    def name_of(self, call_id: str) -> str:
        """Return the tool that a call of the newest answer named; empty where there is none."""
        calls = self._open.answer.tool_calls if self._open else ()
        return next((call.name for call in calls if call.id == call_id), "")

    def _close(self) -> None:
        if self._open is not None:
            self._turns.append(replace(self._open, results=(*self._results,)))
        self._results.clear()
        self._open = None

    def _count(self, characters: int) -> None:
        self._messages += 1
        self._characters += characters
        if self._characters > MOST_CHARACTERS:
            raise DataError(self.where, None, f"more than {MOST_CHARACTERS:,} characters")
        if self._messages > MOST_MESSAGES:
            raise DataError(self.where, None, f"more than {MOST_MESSAGES:,} messages")
