"""What a model is sent in a mode: the opening, the tools, and what may follow."""

from collections.abc import Iterator
from typing import Any, NamedTuple

from pydantic_core import to_json

from harness.agent.templates.examples import examples
from harness.agent.templates.prompt_set import PromptSet, Told
from harness.agent.tool_calls import told_of
from harness.grading.jobs import Options
from harness.languages.starters import view_in
from harness.models.protocol import ToolSpec
from harness.problem import Problem, ProblemView
from harness.run.plan.problem_kinds import rules_of, toolbox_of
from harness.run.settings.spec import RunSpec, uses

NATIVE = ("report", "result", "repair", "reminder", "check", "problem")
IN_TEXT = ("report", "again", "repair", "check")
"""Templates that the agent loop sends after the opening, natively and in text."""


class Rendering(NamedTuple):
    """The texts of one mode for a problem.

    Attributes:
        prompt: the prompt set.
        view: the problem as the model sees it.
        cpu_s: CPU seconds of a test.
        turns: most requests of a sample.
        tools: the tools that are given natively.
        told: what the opening says of tools.
        later: templates that may be sent after the opening.
    """

    prompt: PromptSet
    view: ProblemView
    cpu_s: float
    turns: int
    tools: tuple[ToolSpec, ...]
    told: Told
    later: tuple[str, ...]

    @classmethod
    def of(cls, spec: RunSpec, problem: Problem, prompt: PromptSet) -> "Rendering":
        """Return those of a run's mode and tool protocol."""
        cpu_s = Options(language=spec.language).limits(problem).cpu_s
        view = view_in(problem, spec.language)
        if not uses(spec.mode, "tool_protocol"):
            mode = spec.known_mode
            later = (*(mode.parts or ()), *mode.own_parts)
            return cls(prompt, view, cpu_s, 1, (), Told(), later)
        rules = rules_of([problem], spec.language)
        toolbox = toolbox_of(spec, rules.tools, prompt)
        native = spec.tool_protocol != "text"
        tools = toolbox.specs if native else ()
        told = told_of(toolbox, native=native)
        return cls(prompt, view, cpu_s, spec.max_turns, tools, told, NATIVE if native else IN_TEXT)

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield what is sent, each with what it is."""
        for message in self.prompt.render(self.view, self.cpu_s, self.turns, self.told):
            yield message.role, message.content
        for tool in self.tools:
            schema = to_json(tool.parameters).decode()
            yield f"tool {tool.name}", f"{tool.description}\n{schema}"
        for part in self.later:
            if part not in self.prompt.parts or not self._may_send(part):
                continue
            for example in examples(part, self.view, self.told.native):
                values: dict[str, Any] = {**example.values, "cpu_limit_s": self.cpu_s}
                yield f"later, {part}: {example.title}", self.prompt.render_part(part, **values)

    def _may_send(self, part: str) -> bool:
        """Whether the problem's kind has an occasion for a part."""
        if part == "check" and self.view.judge == "dialogue":
            return False
        code = not self.view.call
        if part == "repair" and not code:
            return self.told.native != ()
        return (code and bool(self.view.public_tests)) or part not in {"report", "check"}
