"""What the reflection model is shown: a template, and samples that were asked with it.

It sees what the model of a sample saw and wrote, the public tests that failed, and the class of the
verdict. It never sees a hidden test, its expected output, or a reference.
"""

from collections.abc import Iterable, Sequence
from difflib import unified_diff
from itertools import islice
from typing import NamedTuple

from harness.agent.events import Event, Graded
from harness.agent.templates.prompt_set import NAMES
from harness.excerpts import shorten
from harness.grading.verdict import TestResult
from harness.models.protocol import SystemMessage, UserMessage
from harness.problem import ProblemView
from harness.run.store.results import SampleResult
from harness.run.summary.conversation import RevisionHistory, conversation_of

OPEN, CLOSE = "<template>", "</template>"
LONGEST_STATEMENT = 1_500
LONGEST_TEXT = 1_200
LONGEST_TEST = 300
MOST_REVISIONS = 3
MOST_TESTS = 2

SYSTEM = """\
You improve the prompt templates with which a language model is asked to solve programming problems.
You are shown one template and what came of it on a few problems. Find out why solutions failed and
which instruction would have helped, also on other problems of this kind. Then write the template
anew.

- The template is Jinja2. Keep its expressions {{ ... }} and statements {% ... %} as they are: you
  may move them, but add none. What they insert is needed to solve a problem.
- Write general instructions. Do not name the problems that you are shown, and do not give away
  their solutions.
- Keep it short: each word is paid for with every problem.
"""


class ShownSample(NamedTuple):
    """A sample as the reflection model sees it.

    Attributes:
        problem: what the sample's own model could see of the problem.
        result: its result, of which verdict, counts and stop reason are told.
        conversation: what the model wrote, and the reports on public tests that it received.
        failed: public tests that failed, with what the solution returned.
    """

    problem: ProblemView
    result: SampleResult
    conversation: RevisionHistory
    failed: Sequence[TestResult]

    @classmethod
    def of(
        cls, problem: ProblemView, result: SampleResult, events: Iterable[Event]
    ) -> "ShownSample":
        """Take from a transcript what may be shown."""
        kept = list(events)
        grades = [event.grade for event in kept if isinstance(event, Graded)]
        tests = grades[-1].tests if grades else ()
        failed = [test for test in tests if test.public and not test.passed]
        talk = (event for event in kept if not isinstance(event, Graded))
        return cls(problem, result, conversation_of(talk, result), failed)

    @property
    def outcome(self) -> str:
        """What came of it, without anything of a hidden test but the class of its verdict."""
        result = self.result
        if result.solved:
            return "solved: all tests passed"
        verdict = str(result.verdict).replace("_", " ")
        text = f"not solved: {verdict}"
        if result.overfit:
            text += "; it passed the public tests only, and failed hidden ones"
        elif result.public_total:
            text += f"; it passed {result.public_passed} of {result.public_total} public tests"
        if result.cut_off:
            text += "; an answer was cut off at the token limit"
        return f"{text}; it ended because: {str(result.stop_reason).replace('_', ' ')}"

    def lines(self) -> Iterable[str]:
        """Yield the parts of the sample's description."""
        yield f"Outcome: {self.outcome}"
        yield f"Statement:\n{shorten(self.problem.statement, LONGEST_STATEMENT)}"
        for revision in self.conversation.revisions[-MOST_REVISIONS:]:
            if revision.text:
                yield f"The model wrote:\n{shorten(revision.text, LONGEST_TEXT)}"
            code = shorten(revision.code, LONGEST_TEXT)
            yield f"Its program, revision {revision.number}:\n{code}"
            if revision.report:
                yield f"It was told:\n{shorten(revision.report, LONGEST_TEXT)}"
        if self.conversation.rest:
            yield f"The model wrote at the end:\n{shorten(self.conversation.rest, LONGEST_TEXT)}"
        for test in self.failed[:MOST_TESTS]:
            yield self._public_test(test)

    def _public_test(self, test: TestResult) -> str:
        tests = self.problem.public_tests
        asked = tests[test.index] if test.index < len(tests) else None
        text = f"A public test that failed: {str(test.verdict).replace('_', ' ')}"
        if asked is not None:
            text += f"\ninput: {shorten(asked.input, LONGEST_TEST)}"
            text += f"\nexpected: {shorten(asked.output, LONGEST_TEST)}"
        if test.got:
            text += f"\nreturned: {shorten(test.got, LONGEST_TEST)}"
        if test.error:
            text += f"\nerror: {shorten(test.error, LONGEST_TEST)}"
        return text


def reflection_messages(
    place: str, template: str, samples: Sequence[ShownSample], tried: Sequence[str] = ()
) -> tuple[SystemMessage, UserMessage]:
    """Return the request for a better template.

    Args:
        place: path of the template in its folder.
        template: its text.
        samples: samples that were asked with it.
        tried: texts that were proposed for it before.
    """
    part = place.rpartition("/")[2].removesuffix(".j2")
    names = ", ".join(sorted(NAMES.get(part, ())))
    parts = [
        f"The template {place}, in which these names can be used: {names}",
        f"{OPEN}\n{template}\n{CLOSE}",
    ]
    if tried:
        parts.append("These changes were proposed before. Propose something else:")
        parts += [shorten(_changes(template, each), LONGEST_TEXT) for each in tried]
    for number, sample in enumerate(samples, 1):
        parts.append("\n\n".join([f"# Problem {number}", *sample.lines()]))
    parts.append(
        f"Say in a few sentences what went wrong and what to change. Then write the whole new "
        f"template between {OPEN} and {CLOSE}."
    )
    return SystemMessage(content=SYSTEM), UserMessage(content="\n\n".join(parts))


def _changes(before: str, after: str) -> str:
    """Return the lines that were removed and added, marked with - and +."""
    lines = unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return "\n".join(line for line in islice(lines, 2, None) if line[0] in "-+")


def proposed_template(answer: str) -> str:
    """Return the template in an answer: the last one between the marks; empty if there is none."""
    before, mark, _ = answer.rpartition(CLOSE)
    if not mark:
        return ""
    _, mark, text = before.rpartition(OPEN)
    return text.strip("\n") if mark else ""
