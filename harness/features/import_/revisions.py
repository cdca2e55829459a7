"""Find the revisions of the solution in a conversation.

A revision is a call of a tool that takes the solution: `write_solution`, unless the user names
another tool. If a trajectory has no such call, the code in each answer is a revision, found as in
single-shot mode. A call whose result is an error wrote nothing.
"""

from dataclasses import dataclass, replace
from typing import Any, cast

from pydantic_core import from_json

from harness.agent.extraction.code import Extract
from harness.errors import DataError, UsageError
from harness.features.import_.trajectory import (
    MOST_REVISIONS,
    Revision,
    Trajectory,
    Turn,
    spending_by_turn,
)
from harness.models.protocol import ToolCall
from harness.problem import Problem
from harness.text import writable
from harness.tools.write_solution import LONGEST_CODE

TEST_TOOLS = frozenset({"run_tests"})


@dataclass(frozen=True, slots=True)
class WriteTool:
    """A tool that takes the solution.

    Attributes:
        argument: name of the argument with the code; if empty: `code`, `answer` or the only string.
    """

    name: str
    argument: str = ""

    @classmethod
    def read(cls, word: str) -> "WriteTool":
        """Read `NAME` or `NAME.ARGUMENT`. Raises UsageError."""
        name, dot, argument = word.partition(".")
        if not name or (dot and not argument):
            raise UsageError(f"--write-tool {word!r}: give NAME or NAME.ARGUMENT")
        return cls(name, argument)

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
            found = named.get(self.argument)
        else:
            found = named.get("code", named.get("answer"))
            texts = [value for value in named.values() if isinstance(value, str)]
            found = texts[0] if found is None and len(texts) == 1 else found
        return writable(found) if isinstance(found, str) and found.strip() else None


WRITE_TOOLS = (WriteTool("write_solution"), WriteTool("write_answer"))


def revisions_of(
    trajectory: Trajectory, problem: Problem, tools: tuple[WriteTool, ...], extract: Extract
) -> tuple[Revision, ...]:
    """Return the revisions of a trajectory, the oldest first.

    Args:
        trajectory: the trajectory, as a reader gave it.
        problem: its problem.
        tools: tools that take the solution.
        extract: rule that finds code in an answer, used if no such tool was called.

    Raises:
        DataError: there are too many revisions, or one is too long to be judged.
    """
    found = trajectory.revisions
    if found is None:
        found = _written(trajectory, tools) or _said(trajectory, problem, extract)
    if trajectory.revision_turns is not None:
        found = tuple(each for each in found if each.turn in trajectory.revision_turns)
    final = trajectory.final
    if final and final.strip() and final not in {each.code for each in found}:
        found = (*found, Revision(final, trajectory.model_calls, trajectory.spending))
    if len(found) > MOST_REVISIONS:
        raise DataError(trajectory.where, None, f"more than {MOST_REVISIONS:,} revisions")
    longest = max((len(each.code) for each in found), default=0)
    if longest > LONGEST_CODE:
        what = f"a solution of {longest:,} characters; at most {LONGEST_CODE:,} can be judged"
        raise DataError(trajectory.where, None, what)
    return found


def _written(trajectory: Trajectory, tools: tuple[WriteTool, ...]) -> tuple[Revision, ...]:
    """Return the revisions in calls of tools."""
    found: list[Revision] = []
    number = 0
    for turn, spent in zip(trajectory.turns, spending_by_turn(trajectory.turns), strict=True):
        number += turn.calls
        failed = {result.call_id for result in turn.results if result.is_error}
        for call in turn.answer.tool_calls:
            code = next((tool.code_in(call) for tool in tools if tool.name == call.name), None)
            if code is not None and call.id not in failed and len(code) <= LONGEST_CODE:
                found.append(Revision(code, number, spent))
            if call.name in TEST_TOOLS or call.id in turn.tested:
                _mark_tested(found)
        if "" in turn.tested:
            _mark_tested(found)
    return tuple(found)


def _said(trajectory: Trajectory, problem: Problem, extract: Extract) -> tuple[Revision, ...]:
    """Return the revisions in the model's text."""
    found: list[Revision] = []
    number = 0
    for turn, spent in zip(trajectory.turns, spending_by_turn(trajectory.turns), strict=True):
        number += turn.calls
        extraction = extract(turn.answer.text, problem.entry_point)
        if extraction.code.strip() and len(extraction.code) <= LONGEST_CODE:
            found.append(Revision(extraction.code, number, spent, extraction.rule))
        if _is_tested(turn):
            _mark_tested(found)
    return tuple(found)


def _is_tested(turn: Turn) -> bool:
    return bool(turn.tested) or any(call.name in TEST_TOOLS for call in turn.answer.tool_calls)


def _mark_tested(found: list[Revision]) -> None:
    if found:
        found[-1] = replace(found[-1], tested=True)
