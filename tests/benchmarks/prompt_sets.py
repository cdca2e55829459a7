"""What prompt sets and reminders cost: requests and tokens a sample, and how many are solved.

Scripted models solve the bundled problems. All of them write a wrong solution first, and a right
one once a public test has failed; they read the problem only where it is not in a message yet.

- "two calls": hands a solution in and runs the tests in one message.
- "one call": one call a message.
- "announces": one call a message, and after each solution and each failure a message without any
  ("I have written the solution."); it goes on where it is told to.

Tokens are characters of messages and tools divided by four. Tools are offered natively.

    python tests/benchmarks/prompt_sets.py [--prompt default read_first] [--max-turns 10]
"""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cost import table

import harness
from harness.models.protocol import (
    AssistantMessage,
    Message,
    Model,
    ModelSettings,
    ModelStop,
    ModelTurn,
    RetryObserver,
    ToolCall,
    ToolMessage,
    ToolSpec,
    Usage,
    UserMessage,
)
from harness.problem import ProblemView
from harness.sources.benchmarks import load

SOLUTIONS = Path(__file__).parents[2] / "fixtures" / "solutions"
BEHAVIOURS = ("two calls", "one call", "announces")


def programs() -> dict[str, tuple[str, str]]:
    """A wrong and a right solution of each bundled problem; the wrong one fails a public test."""
    verdicts: dict[str, Any] = json.loads((SOLUTIONS / "manifest.json").read_text())
    solutions: dict[str, tuple[str, str]] = {}
    for problem in load("fixture").problems:
        slug = problem.id.partition("/")[2]
        failing = [
            name
            for name, each in verdicts.items()
            if name.startswith(f"{slug}/") and each["public_verdict"] == "wrong_answer"
        ]
        right = problem.programs()[0]
        wrong = (SOLUTIONS / failing[0]).read_text() if failing else "raise SystemExit\n"
        solutions[problem.id] = (wrong, right)
    return solutions


class Scripted:
    """Satisfies `harness.models.protocol.Model`."""

    name = "scripted"

    def __init__(self, behaviour: str, known: dict[str, tuple[str, str]]) -> None:
        self._behaviour = behaviour
        self._known = known

    def for_sample(self, problem: ProblemView, index: int) -> Model:
        del index
        return _Sample(self._behaviour, problem, *self._known[problem.id])

    async def generate(self, *asked: Any) -> ModelTurn:
        raise NotImplementedError

    async def close(self) -> None:
        pass


class _Sample(Scripted):
    def __init__(self, behaviour: str, problem: ProblemView, wrong: str, right: str) -> None:
        self._behaviour = behaviour
        self._problem = problem
        self._wrong, self._right = wrong, right

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
        on_retry: RetryObserver | None = None,
    ) -> ModelTurn:
        del settings, on_retry
        text, names = self._next(messages)
        calls = tuple(
            ToolCall(id=f"c{len(messages)}_{place}", name=name, arguments=self._arguments(messages))
            if name == "write_solution"
            else ToolCall(id=f"c{len(messages)}_{place}", name=name, arguments="{}")
            for place, name in enumerate(names)
        )
        read = sum(len(each.model_dump_json()) for each in (*messages, *tools))
        output_length = len(text) + sum(len(call.arguments) + len(call.name) for call in calls)
        return ModelTurn(
            text=text,
            tool_calls=calls,
            usage=Usage(input_tokens=read // 4, output_tokens=output_length // 4),
            stop=ModelStop(reason="tool_use" if calls else "end_turn"),
        )

    def _next(self, messages: Sequence[Message]) -> tuple[str, tuple[str, ...]]:
        """The words and the names of the calls of the next message."""
        texts = [str(getattr(message, "content", "")) for message in messages]
        if not any(self._problem.statement.strip()[:200] in text for text in texts):
            return "I read the problem.", ("read_problem",)
        last = next((each for each in reversed(messages) if isinstance(each, ToolMessage)), None)
        written = last is not None and last.name == "write_solution"
        if self._behaviour == "two calls":
            return "I write a solution and test it.", ("write_solution", "run_tests")
        if self._behaviour == "announces" and not isinstance(messages[-1], UserMessage):
            if written:
                return "I have written the solution.", ()
            if last is not None and last.name == "run_tests":
                return "A test failed; let me think.", ()
        return "I go on.", ("run_tests",) if written else ("write_solution",)

    def _arguments(self, messages: Sequence[Message]) -> str:
        before = any(
            call.name == "write_solution"
            for message in messages
            if isinstance(message, AssistantMessage)
            for call in message.tool_calls
        )
        return json.dumps({"code": self._right if before else self._wrong})


def main() -> None:
    """Run each model with each set, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompt", nargs="+", default=["default", "read_first"])
    parser.add_argument("--max-turns", type=int, default=10)
    given = parser.parse_args()
    known = programs()
    rows: list[list[str]] = []
    for behaviour in BEHAVIOURS:
        for prompt in given.prompt:
            run = harness.evaluate(
                Scripted(behaviour, known),
                benchmark="fixture",
                mode="agentic",
                prompt=prompt,
                tool_protocol="native",
                max_turns=given.max_turns,
            )
            done = run.summary
            tokens = done.usage
            samples = done.graded
            rows.append(
                [
                    behaviour,
                    prompt,
                    f"{done.model_calls / samples:.2f}",
                    f"{tokens.input_tokens / samples:,.0f}",
                    f"{tokens.output_tokens / samples:,.0f}",
                    f"{done.verdicts.get('accepted', 0)} of {samples}",
                    ", ".join(f"{name} {number}" for name, number in done.stop_reasons.items()),
                ]
            )
    heads = ["model", "set", "requests", "tokens in", "tokens out", "solved", "stopped by"]
    print(table(heads, rows))


if __name__ == "__main__":
    main()
