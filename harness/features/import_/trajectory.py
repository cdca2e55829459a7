"""`Trajectory`: the common form into which every format of agent runs is read.

A reader of a format yields a `Trajectory` for each sample. Its revisions are found later
(`harness.features.import_.revisions`), since that requires the problem.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from harness.agent.attempt import ChosenBy, StopReason
from harness.errors import DataError
from harness.features.grade.solutions import Published
from harness.models.protocol import AssistantMessage, Message, ModelTurn, ToolMessage, Usage

MOST_MESSAGES = 100_000
"""Most messages of one trajectory."""
MOST_CHARACTERS = 1 << 26
"""Most characters of all messages of a trajectory; logs may repeat a long text."""
MOST_REVISIONS = 1_000
"""Most revisions of one trajectory; each is judged on all tests."""


class Spending(NamedTuple):
    """Totals of a sample up to some point; None if the file does not give them.

    Attributes:
        usage: tokens.
        cost: US dollars.
        seconds: seconds since the sample began.
        split: whether input and output tokens are known separately; else all count as input, and
            they cannot be priced.
    """

    usage: Usage | None = None
    cost: float | None = None
    seconds: float | None = None
    split: bool = True


@dataclass(frozen=True, slots=True)
class Turn:
    """One answer of the model, with the messages before it and its tool results.

    Attributes:
        before: messages that no earlier turn holds.
        answer: the answer, with the tokens of this call if the file has them.
        results: results of its tool calls, in order.
        cost: US dollars of this call; None if unknown.
        until: seconds from the sample's start to this answer; None if unknown.
        calls: number of model calls that the answer stands for; 0 if no model was asked.
        tested: ids of calls after which the newest revision was tested; an empty id means a test
            after all calls that no call asked for.
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
    """A version of the solution, with the sample's totals when it was written.

    Attributes:
        turn: model calls of the sample up to the revision.
        extraction: name of the rule that found the code in the model's text; empty if code was
            given.
        tested: whether the public tests were run on it in the sample.
        published: the file's verdict on it.
    """

    code: str
    turn: int
    spent: Spending = Spending()  # noqa: RUF009 - frozen
    extraction: str = ""
    tested: bool = False
    published: Published | None = None


@dataclass(frozen=True, slots=True)
class Trajectory:
    """One sample of an imported run.

    Attributes:
        where: file and line, for error messages.
        problem: the problem's name, as the file has it.
        turns: the conversation.
        index: number among the samples of its problem, from 0; None if the file has no numbers.
        model, mode: model and mode; empty if the file does not name them.
        revisions: revisions that the file lists; None if they must be found in the turns.
        final: the final solution, if the file names it.
        chosen_by, extraction: rule that chose the final solution, and rule that found it in the
            model's text, if the file is an export of this program.
        revision_turns: turns in which revisions were written, if the file is such an export.
        stop_reason: reason for the sample's end.
        published: the file's verdict on the final solution.
        spent: totals, if the file has more than its turns add up to.
        calls: total of model calls, if the file has it.
        error: error, not the model's fault, that ended the sample early; it stays pending.
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
        """Number of model calls."""
        counted = sum(turn.calls for turn in self.turns)
        return counted if self.calls is None else self.calls

    @property
    def tool_calls(self) -> int:
        """Number of tool calls."""
        return sum(len(turn.answer.tool_calls) for turn in self.turns)

    @property
    def spending(self) -> Spending:
        """Totals of the sample: those of the file, else the sums of its turns."""
        found = spending_by_turn(self.turns)[-1] if self.turns else Spending()
        told = self.spent
        return Spending(
            found.usage if told.usage is None else told.usage,
            found.cost if told.cost is None else told.cost,
            found.seconds if told.seconds is None else told.seconds,
            found.split and told.split,
        )


def spending_by_turn(turns: Sequence[Turn]) -> list[Spending]:
    """Return the totals of a sample after each turn.

    Tokens and dollars are unknown from the first model call on that does not give them.
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
    """Builder of turns, message by message.

    Args:
        where: location of the trajectory, for error messages.

    `say` and `answer` raise DataError if there are too many messages, or they are too long.
    """

    where: str
    _turns: list[Turn] = field(default_factory=list[Turn])
    _before: list[Message] = field(default_factory=list[Message])
    _results: list[ToolMessage] = field(default_factory=list[ToolMessage])
    _open: Turn | None = None
    _messages: int = 0
    _characters: int = 0

    def say(self, message: Message) -> None:
        """Add a message that is not an answer of the model."""
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
        """Add an answer of the model; the arguments are those of `Turn`."""
        self._count(len(answer.text) + sum(len(call.arguments) for call in answer.tool_calls))
        self._close()
        self._open = Turn((*self._before,), answer, (), cost, until, calls, tested)
        self._before.clear()

    def turns(self) -> tuple[Turn, ...]:
        """Return the turns; messages after the last answer are left out."""
        self._close()
        return tuple(self._turns)

    def name_of(self, call_id: str) -> str:
        """Return the tool that a call of the newest answer named; empty if there is none."""
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
