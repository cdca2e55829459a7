"""The part of the system prompt that says how to report a wrong test."""

from harness.agent.problem_reports import MARK
from harness.agent.templates.prompt_set import PromptSet
from harness.tools.report_problem import ReportProblem

WORDS = (
    "The public tests may be wrong. If a test contradicts the problem statement or another test, "
    "do not fit your solution to it: write the solution that the statement asks for, and call "
    f"{ReportProblem.name} with the reason. A line that begins with `{MARK}` says the same."
)


def with_report_words(prompt: PromptSet) -> PromptSet:
    """Return the prompt set with these words at the end of its system prompt."""
    system = f"{prompt.parts['system'].rstrip()}\n\n{WORDS}\n"
    return PromptSet(name=prompt.name, parts={**prompt.parts, "system": system})
