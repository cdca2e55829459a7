"""`Trajectory`: the common form into which every format of agent runs is read.

A reader of a format yields a `Trajectory` for each sample. Its revisions are found later
(`harness.features.import_.imported_sample`), since that requires the problem.

The plainest format is read here: JSONL rows of revisions, for runs without stored conversations. A
row is a revision; rows are in the order in which revisions were written:

    {"problem_id": "abc300_a", "sample": 0, "code": "…", "turn": 1, "tokens": 812, "seconds": 9.5}

Or a row is a sample, and `revisions` holds objects with those fields, or programs as strings:

    {"problem_id": "abc300_a", "revisions": ["…", {"code": "…", "tokens": 1700}]}

`tokens`, `cost` and `seconds` are totals of the sample up to that revision; in a row of a sample,
totals of the whole sample. A sample that wrote nothing has `"code": null`, or an empty list.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby, islice
from typing import Any, NamedTuple, Self, cast

from pydantic import Field

from harness.agent.attempt import ChosenBy, StopReason
from harness.errors import DataError
from harness.features.grade.solutions import Published
from harness.features.import_.fields import Fields
from harness.models.protocol import Message, ModelStop, ModelTurn, ToolCall, ToolMessage, Usage
from harness.tools.revision import Revision, Spent

MOST_REVISIONS = 1_000
UNANSWERED = "the model never answered, by what the file says"
_HELD = frozenset({"code", "final_code", "error"})
"""A row of a revision has at least one of these fields."""
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

    def over(self, other: "Spending") -> "Spending":
        """Return these totals; those that are unknown are the other's."""
        return Spending(
            other.usage if self.usage is None else self.usage,
            other.cost if self.cost is None else self.cost,
            other.seconds if self.seconds is None else self.seconds,
            self.split and other.split,
        )


class Turn(NamedTuple):
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


class ImportedRevision(Revision):
    """A revision, and what the file says of it.

    Attributes:
        extraction: name of the rule that found the code in the model's text; empty if code was
            given.
        tested: whether the public tests were run on it in the sample.
        published: the file's verdict on it.
        split: as in `Spending`.
    """

    extraction: str = Field(default="", exclude=True)
    tested: bool = Field(default=False, exclude=True)
    published: Published | None = Field(default=None, exclude=True)
    split: bool = Field(default=True, exclude=True)

    @classmethod
    def at(cls, turn: int, code: str, spending: Spending, **facts: Any) -> Self:
        """Return a solution that was written by a turn, with the sample's totals until then."""
        spent = Spent(turn, spending.usage, spending.seconds)
        return cls.of(code, spent, cost=spending.cost, split=spending.split, **facts)

    @property
    def spent(self) -> Spending:
        """The sample's totals when it was written."""
        return Spending(self.usage, self.cost, self.seconds, self.split)


class NamedRevision(NamedTuple):
    """A revision as this program's own exports name it.

    Attributes:
        turn: turn in which it was written.
        code_hash: hash of its program; empty if the export is older than this field.
        tested: whether the public tests were run on it in the sample.
    """

    turn: int
    code_hash: str = ""
    tested: bool = False


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
        named: the revisions, if the file is such an export.
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
    revisions: tuple[ImportedRevision, ...] | None = None
    final: str | None = None
    chosen_by: ChosenBy | None = None
    extraction: str | None = None
    named: tuple[NamedRevision, ...] = ()
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
        return self.spent.over(spending_by_turn(self.turns)[-1] if self.turns else Spending())


def spending_by_turn(turns: Sequence[Turn]) -> list[Spending]:
    """Return the totals of a sample after each turn.

    Tokens and dollars are unknown from the first model call on that does not give them.
    """
    spendings: list[Spending] = []
    usage: Usage | None = Usage()
    cost: float | None = 0.0
    for turn in turns:
        if turn.calls:
            used = turn.answer.usage
            usage = None if usage is None or used is None else usage + used
            cost = None if cost is None or turn.cost is None else cost + turn.cost
        spendings.append(Spending(usage, cost, turn.until))
    return spendings


def read_revision_rows(rows: Iterable[Fields], problem_field: str | None) -> Iterator[Trajectory]:
    """Read rows of revisions, in which those of a sample stand together. Raises DataError."""
    done: set[tuple[str, int]] = set()
    for sample, group in groupby(rows, partial(_sample_of, path=problem_field)):
        if sample is None:
            yield from (_of_row(row, problem_field) for row in group)
            continue
        together = list(islice(group, MOST_REVISIONS + 1))
        if sample in done:
            what = f"sample {sample[1]} of {sample[0]!r:.60} stands twice; keep its rows together"
            raise DataError(together[0].where, "sample", what)
        if len(together) > MOST_REVISIONS:
            what = f"more than {MOST_REVISIONS:,} revisions of a sample"
            raise DataError(together[-1].where, None, what)
        done.add(sample)
        for each in together:
            if not _HELD & each.values.keys():
                what = "missing; a revision has its program, or null for none"
                raise DataError(each.where, "code", what)
        written = [each for each in together if each.get("code") is not None]
        last = together[-1]
        yield _trajectory(together[0], last, written, sample, last.whole("turn"))


def _sample_of(row: Fields, path: str | None) -> tuple[str, int] | None:
    """Return the sample that a revision is of; None for a row that is a whole sample."""
    return None if "revisions" in row else (row.problem(path), row.whole("sample") or 0)


def _of_row(row: Fields, path: str | None) -> Trajectory:
    inner: list[Fields] = []
    for number, each in enumerate(row.items("revisions")[: MOST_REVISIONS + 1], 1):
        place = f"{row.where}: revision {number}"
        if not isinstance(each, dict | str):
            raise DataError(place, None, "not an object, nor a program as a string")
        values = {"code": each} if isinstance(each, str) else cast("dict[str, Any]", each)
        inner.append(Fields(values, place))
    sample = row.problem(path), row.whole("sample")
    return _trajectory(row, row, inner, sample, row.whole("turns"))


def _trajectory(
    first: Fields,
    last: Fields,
    written: list[Fields],
    sample: tuple[str, int | None],
    turns: int | None,
) -> Trajectory:
    """Return a sample: `first` names its model, `last` has what holds for all of it."""
    revisions = _revisions(written)
    return Trajectory(
        where=first.where,
        problem=sample[0],
        index=sample[1],
        turns=_turns(revisions),
        model=first.text("model"),
        mode=first.text("mode"),
        revisions=revisions,
        final=None if last.get("final_code") is None else last.text("final_code"),
        published=Published.in_row(last.values, last.where),
        spent=_spending(last),
        calls=max([turns or 0, *(each.turn for each in revisions)]),
        error=last.text("error"),
    )


def _revisions(rows: list[Fields]) -> tuple[ImportedRevision, ...]:
    revisions: list[ImportedRevision] = []
    for number, row in enumerate(rows, 1):
        if not isinstance(row.get("code"), str):
            what = "missing; a revision has its program, or null for none"
            raise DataError(row.where, "code", what)
        turn, tested = row.whole("turn"), row.get("tested")
        if tested not in (None, True, False):
            raise DataError(row.where, "tested", "neither true nor false")
        revision = ImportedRevision.at(
            number if turn is None else turn,
            row.text("code"),
            _spending(row),
            tested=bool(tested),
            published=Published.in_row(row.values, row.where),
        )
        if revisions:
            _check_order(revisions[-1], revision, row.where)
        revisions.append(revision)
    return tuple(revisions)


def _check_order(before: ImportedRevision, now: ImportedRevision, where: str) -> None:
    """Refuse figures that fall: single calls' figures, where totals are required."""
    for field in ("turn", "tokens", "cost", "seconds"):
        then, later = getattr(before, field), getattr(now, field)
        if then is not None and later is not None and later < then:
            what = (
                f"falls from {then:g} to {later:g}; give what the sample had used until then, "
                "not what one call used"
            )
            raise DataError(where, field, what)


def _spending(row: Fields) -> Spending:
    """Return a row's totals; its tokens are a number (input), or `{"input": …, "output": …}`."""
    split = isinstance(row.get("tokens"), dict | None)
    usage: Usage | None = None
    if not split:
        usage = Usage(input_tokens=row.tokens("tokens"))
    elif row.get("tokens") is not None:
        both = row.inner("tokens")
        usage = Usage(input_tokens=both.tokens("input"), output_tokens=both.tokens("output"))
    return Spending(usage, row.amount("cost"), row.amount("seconds"), split)


def _turns(revisions: tuple[ImportedRevision, ...]) -> tuple[Turn, ...]:
    """Return revisions as calls of `write_solution`, the form that transcripts use."""
    turns: list[Turn] = []
    reached = 0
    for number, each in enumerate(revisions, 1):
        call = ToolCall(
            id=f"revision-{number}",
            name="write_solution",
            arguments=json.dumps({"code": each.code}, ensure_ascii=False),
        )
        answer = ModelTurn(tool_calls=(call,), stop=ModelStop(reason="tool_use"))
        turns.append(Turn((), answer, calls=max(0, each.turn - reached)))
        reached = max(reached, each.turn)
    return tuple(turns)
