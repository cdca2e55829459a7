"""How a model can report a wrong test: a tool, and words in its system message."""

from harness.agent.templates.prompt_set import PromptSet, with_wrong_test
from harness.run.settings.spec import RunSpec
from harness.tools.report_problem import ReportProblem


def tools_of(spec: RunSpec) -> list[ReportProblem]:
    """Return the tool that ends the attempt with a report, if it is asked for."""
    return [ReportProblem()] * spec.impossible_exit


def prompt_of(spec: RunSpec, prompt: PromptSet) -> PromptSet:
    """Return the prompt set, with how to report a wrong test if that is asked for."""
    return with_wrong_test(prompt) if spec.impossible_exit else prompt
