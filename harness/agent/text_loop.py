"""The loop in text: programs in a model's messages are run, and what failed is sent back.

It has no tools of its own, so no tool is named. Self-repair, best of k by public tests and the
agent loop without native tools are the same loop with another `Course`.

The final solution is the one that passes most public tests, of equals the earliest.

| answer | handling |
| --- | --- |
| a program, in a fenced block or in a call that hands one in | it is run; what failed comes back |
| a program that was written before | the conversation begins anew, twice at most |
| a call of a further tool, where there is one | carried out; its result comes back |
| no program | the model is told so; the second in a row begins anew |
| a refusal, or filtered a second time | the end; what was written is graded |
"""

from typing import Literal, NamedTuple

from harness.agent.attempt import StopReason
from harness.agent.edge_cases import EdgeCases
from harness.agent.sample_work import SampleWork, is_filtered
from harness.models.protocol import Message, ModelTurn, UserMessage
from harness.tools.revision import Report

SILENT_IN_A_ROW = 2
REFUSALS = frozenset({"refusal", "content_filter"})
REPEATED = "the model repeats itself"


class Course(NamedTuple):
    """How the loop goes on after a program that failed.

    Attributes:
        context: `grow` in one conversation, `fresh` in a new one that shows the last program and
            what failed, `shots` in a new one with the problem alone.
        repeats: programs that were written before, after which the sample begins anew; None: it
            goes on as with any other.
        rounds: requests after which the sample ends; None for the sample's own limit.
    """

    context: Literal["grow", "fresh", "shots"]
    repeats: int | None = None
    rounds: int | None = None


class TextLoop:
    """The loop in text of one sample.

    Args:
        work: the sample's state.
        course: how it goes on.
    """

    def __init__(self, work: SampleWork, course: Course) -> None:
        self.work = work
        self._course = course
        self._cases = EdgeCases(work)
        self._tried: dict[str, Report | None] = {}
        self._code, self._report = "", None
        self._in_a_row = self._asked = self._repairs = self._repeats = 0
        self._report: Report | None

    def open(self) -> None:
        """Begin with the problem alone. Raises UsageError if a template fails."""
        self._begin(self.work.opening())

    def renew(self, cause: str) -> None:
        """Go on in a new conversation that shows the newest program and what it did."""
        self._begin(self._repair() if self._code else self.work.opening(), cause)

    def resume_from(self, code: str, report: Report | None) -> None:
        """Begin with a program that was handed in before, natively."""
        self._tried[self.work.key(code)] = report
        self._code, self._report = code, report
        self._begin(self._repair() if report is not None else self.work.opening())

    async def take(self, turn: ModelTurn) -> StopReason | None:
        """Run the program of an answer, and add what the next request says.

        Returns:
            Why the sample ended; None if it continues, unless a limit is used up.

        Raises:
            SandboxError: the public tests could not be run.
        """
        work = self.work
        self._asked += 1
        text, results = await work.calls.carry_out_in_text(turn)
        if work.session.workspace.submitted:
            return StopReason.SUBMITTED
        if self._cases.open:
            question = await self._cases.take(turn)
            return self._add(question) if question else StopReason.PUBLIC_TESTS_PASSED
        found = text.program or work.found(turn, text.rest).code
        if found:
            return await self._try(found, results)
        if self._refused(turn):
            return StopReason.MODEL_STOPPED
        if results:
            return self._add(work.say("again", **self._facts(results=results)))
        return self._without_program(turn)

    def _refused(self, turn: ModelTurn) -> bool:
        """Whether the model refused to go on; one of several shots ends nothing."""
        if self._course.context == "shots":
            if turn.stop.reason in REFUSALS and not self.work.session.workspace.revisions:
                self.work.refused(turn)
            return False
        return self.work.refuses(turn)

    async def _try(self, code: str, results: str) -> StopReason | None:
        """Run a program, unless it was run before."""
        work, key = self.work, self.work.key(code)
        self._in_a_row = 0
        if self._course.context == "shots":
            work.not_refused()
        if key in self._tried:
            work.repeats += 1
            self._code, self._report = code, self._tried[key]
            if self._report is not None and self._report.solved:
                return StopReason.PUBLIC_TESTS_PASSED  # the model has nothing to change
            self._repeats += 1
            if self._course.repeats is not None and self._repeats >= self._course.repeats:
                return self._begin_anew()
            return self._go_on(same=True, results=results)
        self._tried[key] = None
        report = await work.submit(code)
        self._tried[key] = report
        self._code, self._report = code, report
        if report is None:
            return StopReason.MODEL_STOPPED
        if report.solved:
            return self._solved(results)
        return self._go_on(results=results)

    def _solved(self, results: str) -> StopReason | None:
        work = self.work
        fresh = self._course.context != "grow"
        question = self._cases.ask(opening=work.opening()[1].content if fresh else "")
        if question is not None:
            if fresh:
                return self._begin((work.opening()[0], question))
            return self._add(question)
        if work.session.options.stop_on_pass:
            return StopReason.PUBLIC_TESTS_PASSED
        return self._go_on(results=results)

    def _without_program(self, turn: ModelTurn) -> StopReason | None:
        """Answer a message without a program: once with words, then with a new beginning."""
        work = self.work
        work.silent += 1
        self._in_a_row += 1
        if self._report is not None and self._report.solved:
            return StopReason.PUBLIC_TESTS_PASSED  # the model has nothing to change
        if self._course.context == "grow" and self._in_a_row < SILENT_IN_A_ROW:
            work.nudges += 1
            facts = self._facts(cut_off=turn.cut_off, filtered=is_filtered(turn))
            return self._add(work.say("again", **facts))
        if self._course.repeats is not None and self._in_a_row >= SILENT_IN_A_ROW:
            self._in_a_row = 0
            return self._begin_anew()
        return self._go_on(new=False)

    def _go_on(
        self, *, same: bool = False, results: str = "", new: bool = True
    ) -> StopReason | None:
        """Add what the next request says of the last program."""
        work, report = self.work, self._report
        match self._course.context:
            case "grow":
                shown = None if same else report
                facts = self._facts(same=same, report=shown, results=results)
                return self._add(work.say("again", **facts))
            case "fresh":
                return self._begin(self._repair(new=new))
            case _:
                return self._begin(work.opening())

    def _facts(
        self,
        *,
        results: str = "",
        report: Report | None = None,
        same: bool = False,
        cut_off: bool = False,
        filtered: bool = False,
    ) -> dict[str, object]:
        last = self._report
        return {
            "report": report.text if report is not None else "",
            "solved": report is not None and report.solved,
            "results": results,
            "same": same,
            "passed": last.passed if last else 0,
            "total": last.total if last else 0,
            "cut_off": cut_off,
            "filtered": filtered,
        }

    def _repair(self, *, new: bool = True) -> tuple[Message, Message]:
        self._repairs += 1
        return self.work.repair(self._code, self._report, self._repairs, new=new)

    def _begin_anew(self) -> StopReason | None:
        """Begin with the problem alone, as a further shot would, or end the sample."""
        if not self.work.may_restart():
            return StopReason.REPEATED_SOLUTION
        self._repeats, self._code, self._report = 0, "", None
        return self._begin(self.work.opening(), REPEATED)

    def _begin(self, messages: tuple[Message, ...], cause: str = "") -> StopReason | None:
        if (reason := self._over()) is None:
            self.work.conversation.start_anew(cause=cause)
            self.work.conversation.add(*messages)
        return reason

    def _add(self, message: UserMessage) -> StopReason | None:
        if (reason := self._over()) is None:
            self.work.conversation.add(message)
        return reason

    def _over(self) -> StopReason | None:
        """Return why no further request is sent; None if there is one."""
        rounds = self._course.rounds
        if rounds is not None and self._asked >= rounds:
            return StopReason.MODEL_STOPPED
        return self.work.calls.spent()
