"""A sample of an imported run: its revisions and its result.

A revision is a call of a tool that takes the solution: `write_solution`, unless the user names
another tool. If a trajectory has no such call, the code in each answer is a revision, found as in
single-shot mode; if the user names a tag, `<solution>`, only the code in it. A call whose result is
an error wrote nothing.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple, cast

from pydantic_core import from_json

from harness.agent.attempt import Attempt, ChosenBy, StopReason
from harness.agent.extraction.code import Extract, Extraction
from harness.errors import DataError, UsageError
from harness.features.grade.solutions import Published
from harness.features.import_.trajectory import (
    MOST_REVISIONS,
    ImportedRevision,
    Spending,
    Trajectory,
    Turn,
    spending_by_turn,
)
from harness.grading.verdict import UNKNOWN, Grade
from harness.languages.program_key import code_hash
from harness.models.prices.price import Price, cost
from harness.models.protocol import ToolCall, Usage
from harness.problem import Problem
from harness.run.engine.sample import result_of
from harness.run.store.results import SampleResult
from harness.run.store.revision_programs import programs_in
from harness.run.store.transcript import sample_name
from harness.text import writable
from harness.tools.revision import Revision
from harness.tools.write_solution import LONGEST_CODE

_TAG = re.compile(r"<[\w-]{1,60}>")
TEST_TOOLS = frozenset({"run_tests"})


class WriteTool(NamedTuple):
    """A tool that takes the solution, or a tag around it in the model's words.

    Attributes:
        name: name of the tool, or `<TAG>`.
        argument: name of the argument with the code; if empty: `code`, `answer` or the only string.
    """

    name: str
    argument: str = ""

    @classmethod
    def read(cls, word: str) -> "WriteTool":
        """Read `NAME`, `NAME.ARGUMENT` or `<TAG>`. Raises UsageError."""
        if word.startswith("<"):
            if not _TAG.fullmatch(word):
                raise UsageError(f"--write-tool {word!r:.60}: a tag is written as '<solution>'")
            return cls(word)
        name, dot, argument = word.partition(".")
        if not name or (dot and not argument):
            raise UsageError(f"--write-tool {word!r}: give NAME or NAME.ARGUMENT")
        return cls(name, argument)

    @property
    def is_tag(self) -> bool:
        """Whether it is a tag in the model's words."""
        return self.name.startswith("<")

    def text_in(self, answer: str) -> str | None:
        """Return what stands in the last complete pair of tags; None if there is none.

        A model may mention the tag after its solution, or be cut off within a second one.
        """
        for piece in reversed(answer.split(f"</{self.name[1:]}")[:-1]):
            _, named, text = piece.rpartition(self.name)
            if named:
                return text
        return None

    def code_in(self, call: ToolCall) -> str | None:
        """Return the code in a call's arguments; None if there is none."""
        try:
            values: Any = from_json(call.arguments) if call.arguments.strip() else {}
        except ValueError:
            return None
        if not isinstance(values, dict):
            return None
        named = cast("dict[str, Any]", values)
        if self.argument:
            code = named.get(self.argument)
        else:
            code = named.get("code", named.get("answer"))
            texts = [value for value in named.values() if isinstance(value, str)]
            code = texts[0] if code is None and len(texts) == 1 else code
        return writable(code) if isinstance(code, str) and code.strip() else None


WRITE_TOOLS = (WriteTool("write_solution"), WriteTool("write_answer"))


def revisions_of(
    trajectory: Trajectory, problem: Problem, tools: tuple[WriteTool, ...], extract: Extract
) -> tuple[ImportedRevision, ...]:
    """Return the revisions of a trajectory, the oldest first.

    Args:
        trajectory: the trajectory, as a reader gave it.
        problem: its problem.
        tools: tools that take the solution.
        extract: rule that finds code in an answer, used if no such tool was called.

    Raises:
        DataError: there are too many revisions, or one is too long to be judged.
    """
    revisions = trajectory.revisions
    if revisions is None:
        revisions = _by_hash(trajectory, extract, problem.entry_point)
    if trajectory.revisions is None and not revisions:
        tags = [tool for tool in tools if tool.is_tag]
        code_in = partial(_in_tags, tags, extract) if tags else extract
        revisions = _revisions(trajectory, partial(_calls, tools))
        revisions = revisions or _revisions(
            trajectory, partial(_words, code_in, problem.entry_point)
        )
        if trajectory.named:
            turns = {each.turn for each in trajectory.named}
            revisions = tuple(each for each in revisions if each.turn in turns)
    final = trajectory.final
    if final and final.strip() and final not in {each.code for each in revisions}:
        revisions = (
            *revisions,
            ImportedRevision.at(trajectory.model_calls, final, trajectory.spending),
        )
    if len(revisions) > MOST_REVISIONS:
        raise DataError(trajectory.where, None, f"more than {MOST_REVISIONS:,} revisions")
    longest = max((len(each.code) for each in revisions), default=0)
    if longest > LONGEST_CODE:
        what = f"a solution of {longest:,} characters; at most {LONGEST_CODE:,} can be judged"
        raise DataError(trajectory.where, None, what)
    return revisions


def _by_hash(
    trajectory: Trajectory, extract: Extract, entry_point: str | None
) -> tuple[ImportedRevision, ...]:
    """Return the revisions that an export of this program names; none if any is not found.

    The program of a revision stands in the answer of its turn, or in an earlier one.
    """
    turns, named = trajectory.turns, trajectory.named
    if not named:
        return ()
    numbers = [*accumulate(turn.calls for turn in turns)]
    spent = dict(zip(numbers, spending_by_turn(turns), strict=True))
    programs: dict[str, tuple[int, str]] = {}
    for number, turn in zip(numbers, turns, strict=True):
        for text in programs_in(turn.answer, extract, entry_point):
            programs.setdefault(code_hash(text), (number, text))
    revisions: list[ImportedRevision] = []
    for each in named:
        first, code = programs.get(each.code_hash, (each.turn + 1, ""))
        if each.turn not in spent or each.turn < first:
            return ()
        revisions.append(ImportedRevision.at(each.turn, code, spent[each.turn], tested=each.tested))
    return tuple(revisions)


def _in_tags(
    tags: Sequence[WriteTool], extract: Extract, answer: str, entry_point: str | None
) -> Extraction:
    """Find the code in the tags of an answer: in a block there, or all that stands in the tag."""
    for tag in tags:
        text = (tag.text_in(answer) or "").strip()
        if text:
            extraction = extract(text, entry_point)
            return extraction if extraction.code.strip() else Extraction(code=text, rule="tag")
    return Extraction(code="", rule="none")


_Step = tuple[str, str, bool]
"""Code that a turn wrote, or no text; the rule that found it; whether it was tested then."""


def _revisions(
    trajectory: Trajectory, steps: Callable[[Turn], Iterable[_Step]]
) -> tuple[ImportedRevision, ...]:
    """Return the revisions in a trajectory's turns, each of which has some steps."""
    revisions: list[ImportedRevision] = []
    number = 0
    for turn, spent in zip(trajectory.turns, spending_by_turn(trajectory.turns), strict=True):
        number += turn.calls
        for code, rule, tested in steps(turn):
            if code.strip() and len(code) <= LONGEST_CODE:
                revisions.append(ImportedRevision.at(number, code, spent, extraction=rule))
            if tested and revisions:
                revisions[-1] = revisions[-1].model_copy(update={"tested": True})
    return tuple(revisions)


def _calls(tools: tuple[WriteTool, ...], turn: Turn) -> Iterator[_Step]:
    """Yield the calls of a turn, and the test that no call asked for."""
    failed = {result.call_id for result in turn.results if result.is_error}
    for call in turn.answer.tool_calls:
        code = next((tool.code_in(call) for tool in tools if tool.name == call.name), None)
        written = "" if code is None or call.id in failed else code
        yield written, "", call.name in TEST_TOOLS or call.id in turn.tested
    yield "", "", "" in turn.tested


def _words(extract: Extract, entry_point: str | None, turn: Turn) -> Iterator[_Step]:
    """Yield the code in the model's text."""
    tested = any(call.name in TEST_TOOLS for call in turn.answer.tool_calls)
    extraction = extract(turn.answer.text, entry_point)
    yield extraction.code, extraction.rule, tested or bool(turn.tested)


@dataclass(frozen=True, slots=True)
class ImportedSample:
    """A sample without its conversation, so that many fit in memory.

    Attributes:
        revisions: revisions, the oldest first.
        final: the solution that counts; empty if there is none.
        chosen_by: the rule that chose the final solution.
        extraction: name of the rule that found the final solution in the model's text, or empty.
        spent: tokens, cost and seconds of the whole sample.
        error: why the sample stays pending; empty if it was completed.
    """

    problem: Problem
    index: int
    revisions: tuple[ImportedRevision, ...]
    final: str
    chosen_by: ChosenBy
    stop_reason: StopReason
    published: Published | None
    spent: Spending
    model_calls: int
    tool_calls: int
    extraction: str
    error: str = ""

    @property
    def name(self) -> str:
        """Name of the sample, as shown to users."""
        return sample_name(self.problem.id, self.index)

    @property
    def codes(self) -> tuple[str, ...]:
        """Programs to judge: each distinct revision, and the final one, even if empty."""
        return tuple(dict.fromkeys((*(each.code for each in self.revisions), self.final)))


def imported_sample(
    trajectory: Trajectory,
    problem: Problem,
    index: int,
    tools: tuple[WriteTool, ...],
    extract: Extract,
) -> ImportedSample:
    """Make a sample of a trajectory.

    Args:
        trajectory: the trajectory, as a reader gave it.
        problem: its problem.
        index: number of the sample among the problem's samples.
        tools: tools that take the solution.
        extract: rule that finds code in an answer, used if no such tool was called.

    Raises:
        DataError: its revisions cannot be judged.
    """
    revisions = revisions_of(trajectory, problem, tools, extract)
    newest = revisions[-1].code if revisions else ""
    final = newest if trajectory.final is None else trajectory.final
    rule = next((each.extraction for each in revisions if each.code == final), "")
    chosen_by = ChosenBy.NEWEST if final == newest else ChosenBy.ANSWER
    return ImportedSample(
        problem=problem,
        index=index,
        revisions=revisions,
        final=final,
        chosen_by=trajectory.chosen_by or (chosen_by if final else ChosenBy.NONE),
        stop_reason=trajectory.stop_reason,
        published=trajectory.published,
        spent=trajectory.spending.over(revisions[-1].spent if revisions else Spending()),
        model_calls=max([trajectory.model_calls, *(each.turn for each in revisions)]),
        tool_calls=0 if trajectory.revisions is not None else trajectory.tool_calls,
        extraction=rule if trajectory.extraction is None else trajectory.extraction,
        error=trajectory.error,
    )


def result_from(
    sample: ImportedSample, grades: Mapping[str, Grade], price: Price | None
) -> SampleResult:
    """Return the result of a sample.

    Args:
        sample: a sample all of whose codes were judged.
        grades: grades by code; that of the final code is not an infrastructure failure.
        price: the model's price, if known; costs in the file take precedence.
    """
    attempt = Attempt(
        code=sample.final,
        chosen_by=sample.chosen_by,
        extraction=sample.extraction,
        stop_reason=sample.stop_reason,
        usage=sample.spent.usage or Usage(),
        usage_known=sample.spent.usage is not None,
        model_calls=sample.model_calls,
        tool_calls=sample.tool_calls,
        revisions=sample.revisions,
    )
    return result_of(
        sample.problem,
        sample.index,
        attempt,
        grades[sample.final],
        steps=tuple(_step(each, grades[each.code], price) for each in sample.revisions),
        cost=_cost(sample.spent, price),
        seconds=sample.spent.seconds or 0.0,
    )


def _step(revision: ImportedRevision, grade: Grade, price: Price | None) -> Revision:
    tested = revision.tested and grade.verdict not in UNKNOWN
    step = revision.judged(grade, grade.public_passed if tested else None)
    return step.model_copy(update={"cost": _cost(revision.spent, price)})


def _cost(spent: Spending, price: Price | None) -> float | None:
    return cost(spent.usage, price) if spent.cost is None else spent.cost
