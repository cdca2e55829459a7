"""Readable arguments of tool calls: the program or answer, and the rest."""

from collections.abc import Iterable, Iterator
from typing import Any, cast

from pydantic_core import from_json, to_json

from harness.agent.events import Response
from harness.agent.extraction.code import Extract
from harness.agent.extraction.fences import extractor_of
from harness.languages.program_key import code_hash
from harness.markdown import fenced_blocks
from harness.models.protocol import ModelTurn, ToolCall
from harness.models.text_tools.arguments import without_fence
from harness.models.text_tools.reader import read_calls
from harness.models.text_tools.salvage import text_in_call
from harness.registry import HAND_IN, resolve
from harness.text import writable
from harness.tools.toolbox import Toolbox
from harness.tools.workspace import Revision

LONGEST_ARGUMENTS = 4 * 1024 * 1024
"""Characters; longer arguments are not parsed."""


def arguments(call: ToolCall) -> str:
    """Return a call's arguments in readable form: just the program, if there is one."""
    return program(call) or call.arguments


def program(call: ToolCall) -> str | None:
    """Return the program or answer in a call's arguments; None if there is none."""
    named = _fields(call.arguments)
    code = named.get("code", named.get("answer"))
    return code if isinstance(code, str) else None


def programs_of(
    turns: Iterable[ModelTurn],
    steps: Iterable[Revision],
    extract: Extract,
    entry_point: str | None = None,
) -> dict[str, str]:
    """Return the program of each revision by its hash, as far as some answers hold them.

    Args:
        turns: the answers.
        steps: the revisions, as in a result.
        extract: the rule that finds code in an answer.
        entry_point: name of the problem's function, if it has one.
    """
    wanted = {step.code_hash for step in steps}
    texts = (text for turn in turns if wanted for text in programs_in(turn, extract, entry_point))
    return {name: text for text in texts if (name := code_hash(text)) in wanted}


def revision_in(event: Response, steps: Iterable[Revision], language: str | None) -> str:
    """Return the newest of some revisions that an answer holds; empty if it holds none.

    Args:
        event: the answer.
        steps: the revisions, as in a result.
        language: language of solutions; None for Python.
    """
    own = [step for step in steps if step.turn == event.turn]
    found = programs_of([event.response], own, extractor_of(language))
    codes = [found.get(step.code_hash or "", "") for step in own]
    return next(filter(None, reversed(codes)), "")


def programs_in(turn: ModelTurn, extract: Extract, entry_point: str | None) -> Iterator[str]:
    """Yield every text of an answer that may be a solution: those in its calls and in its words."""
    tools = [resolve(target)() for target in HAND_IN.values()]
    spoken = read_calls(turn.text, Toolbox(tools).specs, known_only=True)
    for call in (*turn.tool_calls, *spoken.calls):
        meant = {text_in_call(call.arguments, key) for key in ("code", "answer")}
        plain = (each for each in _fields(call.arguments).values() if isinstance(each, str))
        for text in {*meant, *plain}:
            yield from map(writable, (text, without_fence(text), text.strip(), text.strip("\n")))
    for text in (turn.text, spoken.text):
        yield writable(extract(text, entry_point).code)
        yield from (writable(block.text) for block in fenced_blocks(text))


def other_arguments(call: ToolCall) -> str:
    """Return the arguments other than the program or answer."""
    given = _fields(call.arguments).items()
    rest = {key: value for key, value in given if key not in {"code", "answer"}}
    return to_json(rest, indent=2).decode() if rest else ""


def _fields(arguments: str) -> dict[str, Any]:
    """Return a call's arguments by name; none if they are too long, or no JSON object."""
    if len(arguments) > LONGEST_ARGUMENTS or not arguments.strip():
        return {}
    try:
        values: Any = from_json(arguments)
    except ValueError:
        return {}
    return cast("dict[str, Any]", values) if isinstance(values, dict) else {}
