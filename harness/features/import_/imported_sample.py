"""A sample of an imported run: its revisions, its result and its transcript."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from harness.agent import events
from harness.agent.attempt import Attempt, ChosenBy, StopReason, Written
from harness.agent.extraction.code import Extract
from harness.features.grade.solutions import Published
from harness.features.import_.revisions import WriteTool, revisions_of
from harness.features.import_.trajectory import Revision, Spending, Trajectory
from harness.grading.verdict import INFRASTRUCTURE, Grade, Verdict
from harness.models.prices import Price, cost
from harness.models.protocol import Usage
from harness.problem import Problem
from harness.run.engine.sample import result_of
from harness.run.store.results import SampleResult, Step
from harness.run.store.transcript import sample_name


@dataclass(frozen=True, slots=True)
class ImportedSample:
    """A sample without its conversation, so that many fit in memory.

    Attributes:
        where: location in the file, for error messages.
        revisions: revisions, the oldest first.
        final: the solution that counts; empty if there is none.
        chosen_by: the rule that chose the final solution.
        extraction: name of the rule that found the final solution in the model's text, or empty.
        spent: tokens, cost and seconds of the whole sample.
        error: why the sample stays pending; empty if it was completed.
    """

    where: str
    problem: Problem
    index: int
    revisions: tuple[Revision, ...]
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
        where=trajectory.where,
        problem=problem,
        index=index,
        revisions=revisions,
        final=final,
        chosen_by=trajectory.chosen_by or (chosen_by if final else ChosenBy.NONE),
        stop_reason=trajectory.stop_reason,
        published=trajectory.published,
        spent=_whole(trajectory.spending, revisions),
        model_calls=max([trajectory.model_calls, *(each.turn for each in revisions)]),
        tool_calls=0 if trajectory.revisions is not None else trajectory.tool_calls,
        extraction=rule if trajectory.extraction is None else trajectory.extraction,
        error=trajectory.error,
    )


def _whole(spent: Spending, revisions: Sequence[Revision]) -> Spending:
    """Return a sample's total; missing figures are those of its last revision."""
    last = revisions[-1].spent if revisions else Spending()
    return Spending(
        last.usage if spent.usage is None else spent.usage,
        last.cost if spent.cost is None else spent.cost,
        last.seconds if spent.seconds is None else spent.seconds,
        spent.split and last.split,
    )


def result_from(
    sample: ImportedSample, grades: Mapping[str, Grade], price: Price | None
) -> SampleResult:
    """Return the result of a sample.

    Args:
        sample: a sample all of whose codes were judged.
        grades: grades by code; that of the final code is no infrastructure failure.
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
        revisions=tuple(
            Written(code=each.code, turn=each.turn, usage=each.spent.usage, seconds=None)
            for each in sample.revisions
        ),
    )
    return result_of(sample.problem, sample.index, attempt, grades[sample.final]).model_copy(
        update={
            "steps": tuple(_step(each, grades[each.code], price) for each in sample.revisions),
            "cost": _cost(sample.spent, price),
            "seconds": sample.spent.seconds or 0.0,
        }
    )


def _step(revision: Revision, grade: Grade, price: Price | None) -> Step:
    unknown = grade.verdict is Verdict.UNGRADED or grade.verdict in INFRASTRUCTURE
    usage = revision.spent.usage
    return Step(
        turn=revision.turn,
        tokens=None if usage is None else usage.total_tokens,
        cost=_cost(revision.spent, price),
        seconds=revision.spent.seconds,
        public_passed=grade.public_passed if revision.tested and not unknown else None,
        passes_public=None if unknown else _passes_public(grade),
        solved=None if unknown else grade.solved,
    )


def _passes_public(grade: Grade) -> bool | None:
    """Return whether all public tests pass; None if there are none."""
    return grade.public_passed == grade.public_total if grade.public_total else None


def _cost(spent: Spending, price: Price | None) -> float | None:
    return cost(spent.usage, price) if spent.cost is None else spent.cost


def transcript_of(
    trajectory: Trajectory, sample: ImportedSample, model: str, mode: str
) -> Iterator[events.Event]:
    """Yield the events of a sample's transcript up to its grade.

    Args:
        trajectory: the trajectory with its conversation.
        sample: the sample made of it.
        model: model of the run.
        mode: mode of the run.
    """
    yield events.SampleStart(
        sample=sample.name,
        problem_id=sample.problem.id,
        index=sample.index,
        mode=mode,
        model=model,
        problem_hash=sample.problem.content_hash,
    )
    number = 0
    for turn in trajectory.turns:
        number += turn.calls
        yield events.Request(turn=number, hash="", messages=turn.before)
        yield events.Response(turn=number, response=turn.answer)
        for result in turn.results:
            yield events.ToolResult(turn=number, result=result, seconds=0.0)
    yield events.SampleEnd(
        stop_reason=sample.stop_reason,
        chosen_by=sample.chosen_by,
        extraction=sample.extraction,
        usage=sample.spent.usage or Usage(),
    )
    if sample.error:
        yield events.NotGraded(verdict=Verdict.MODEL_ERROR, cause=sample.error)
