"""Reader of the tool calls that models write in their text.

`harness.models.text_tools.formats` lists the formats. What no format opens is text, and so are
blocks of code, a model's thoughts, and results that it made up. A call whose code is missing takes
it from a fenced block beside it.

Time is linear in the length of the text, whatever it holds.
"""

import json
import re
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from harness.languages.known import LANGUAGES
from harness.models.protocol import ToolSpec
from harness.models.text_tools import tags
from harness.models.text_tools.calls import (
    MOST_CALLS,
    PLACEHOLDERS,
    Block,
    Known,
    ParsedCall,
    properties_of,
)
from harness.models.text_tools.formats import MOST_BLOCKS, blocks
from harness.models.text_tools.repair import strict_value
from harness.models.text_tools.source import Source

LONGEST_EXAMPLE = 100  # arguments
LONGEST_TEXT = 1 << 20  # a longer one is not searched
THOUGHTS_END = "</think>"
NO_CODE = frozenset(each.placeholder for each in LANGUAGES.values())
"""What stands for a solution in the examples that a model is shown."""
COMMENTS = ("#", "//")
_LAST = re.compile(r"(?:print\()?([A-Za-z_]\w{0,100})\(\)\)?[ \t\r;]*+(?:#.*)?")
_HANDS_IN = re.compile(r"(?:print\(|[A-Za-z_]\w{0,100}[ \t]*=[ \t]*)?([A-Za-z_]\w{0,100})\(")


class ReadCalls(NamedTuple):
    """Text without its calls, and the calls in order."""

    text: str
    calls: tuple[ParsedCall, ...]


def read_calls(
    text: str,
    tools: Sequence[ToolSpec],
    *,
    known_only: bool = False,
    cut_off: bool = False,
) -> ReadCalls:
    """Read the calls in a text.

    Args:
        text: the model's text.
        tools: tools that the model may call. An unknown name makes a call too, so that the code
            that runs it can report that there is no such tool.
        known_only: whether unknown names make no call, for texts that need not hold any.
        cut_off: whether the text ended at the token limit, so that an unclosed block is broken.
    """
    if len(text) > LONGEST_TEXT:
        return ReadCalls(text, ())
    text = tags.without_marks(text)
    known = {tool.name: tool for tool in tools}
    begin = _after_thoughts(text)
    parts = _Parts(known, known_only=known_only)
    source = Source(text[begin:], known, cut_off=cut_off)
    for block in islice(blocks(source), MOST_BLOCKS):
        if not parts.add(block):
            break
    calls, used = parts.finished()
    if not calls:
        return ReadCalls(text, ())
    pieces, after = [text[:begin]], begin
    for block in used:
        pieces.append(text[after : begin + block.start])
        after = begin + block.end
    pieces.append(text[after:])
    return ReadCalls("\n".join(filter(None, (piece.strip() for piece in pieces))), calls)


class _Parts:
    """The blocks of a text: calls, and code that may belong to a call without any."""

    def __init__(self, known: Known, *, known_only: bool) -> None:
        self._known = known
        self._known_only = known_only
        self._calls: list[ParsedCall] = []
        self._used: list[Block] = []
        self._code: list[Block] = []

    def add(self, block: Block) -> bool:
        """Take a block; False if it holds more calls than may be."""
        if block.code is not None:
            code, after = calls_at_end(block.code, self._known)
            if _says_nothing(code):  # such as a comment above `run_tests()`
                block = block._replace(code=None, calls=after)
        calls = [call for call in block.calls if not self._is_example(call)]
        if block.code is not None:
            self._code.append(block)
        if not calls or (self._known_only and any(c.name not in self._known for c in calls)):
            return True
        if len(self._calls) + len(calls) > MOST_CALLS:
            return False
        self._calls += calls
        self._used.append(block)
        return True

    def finished(self) -> tuple[tuple[ParsedCall, ...], list[Block]]:
        """Return the calls, each with its code, and the blocks that are no text."""
        lacking = [place for place, call in enumerate(self._calls) if self._lacks_text(call)]
        if len(lacking) != 1 or not self._code:
            return tuple(self._calls), self._used
        (place,) = lacking
        call = self._calls[place]
        begins = next(block.start for block in self._used if call in block.calls)
        later = [block for block in self._code if block.start > begins]
        block = later[0] if later else self._code[-1]
        others = json.loads(call.arguments)
        self._calls[place : place + 1] = self._written(self._known[call.name], block, others)
        used = sorted([*self._used, block], key=lambda block: block.start)
        return tuple(self._calls), used

    def _written(self, tool: ToolSpec, block: Block, others: Mapping[str, Any]) -> list[ParsedCall]:
        """Return the call that hands in a block, and those of tools that the code ends with."""
        code, after = calls_at_end(str(block.code), self._known)
        called = {call.name for call in self._calls}
        call = ParsedCall(tool.name, json.dumps({**others, str(tool.sole_text): code}))
        return [call, *(each for each in after if each.name not in called)]

    def _lacks_text(self, call: ParsedCall) -> bool:
        """Return whether a call lacks the one text that its tool takes."""
        key = self._known[call.name].sole_text if call.name in self._known else None
        value = strict_value(call.arguments)
        fields = None if value is None else value.fields
        return key is not None and fields is not None and not fields.get(key)

    def _is_example(self, call: ParsedCall) -> bool:
        """Return whether a call only shows how calls are written."""
        if call.name in PLACEHOLDERS:
            return True
        read_value = strict_value(call.arguments) if len(call.arguments) < LONGEST_EXAMPLE else None
        fields = (read_value.fields if read_value else None) or {}
        return any(str(value).strip() in {*PLACEHOLDERS, *NO_CODE} for value in fields.values())


def _says_nothing(code: str) -> bool:
    """Return whether code has only comments, as the example that a model is shown."""
    return all(line.lstrip().startswith(COMMENTS) for line in code.splitlines() if line.strip())


def _after_thoughts(text: str) -> int:
    """Return where thoughts end whose beginning was left to the prompt."""
    end = text.find(THOUGHTS_END)
    begins = text.find("<think>")
    return end + len(THOUGHTS_END) if end >= 0 and not 0 <= begins < end else 0


def calls_at_end(code: str, known: Known) -> tuple[str, tuple[ParsedCall, ...]]:
    """Take the calls of tools off the end of a solution, such as `run_tests()` in its last line.

    A call there that hands in the solution once more, such as `write_solution(…)`, goes too:
    the code above it is the solution.

    Args:
        code: a solution; a function of its own that has a tool's name is not a tool.
        known: the tools; only those without arguments are called so.

    Returns:
        The code without them, and the calls in their order.
    """
    lines, calls = code.rstrip().split("\n"), list[ParsedCall]()
    while lines and len(calls) < MOST_CALLS:
        match = _LAST.fullmatch(lines[-1])
        if match is not None and match[1] in known and not properties_of(known[match[1]]):
            calls.insert(0, ParsedCall(match[1], "{}"))
        elif lines[-1].strip() or not calls:
            break
        lines.pop()
    rest = "\n".join(lines)
    if any(_defines(rest, call.name) for call in calls):
        return code, ()
    above = _above_hand_in(lines, known)
    if above is None and not calls:
        return code, ()
    return f"{rest if above is None else above}\n", tuple(calls)


def _above_hand_in(lines: Sequence[str], known: Known) -> str | None:
    """Return the code above a call that hands it in; None without such code or call."""
    for number, line in enumerate(lines):
        match = _HANDS_IN.match(line)
        if match is None or match[1] not in known or not known[match[1]].sole_text:
            continue
        above = list(lines[:number])
        while above and (not above[-1].strip() or above[-1].startswith(COMMENTS)):
            above.pop()
        code = "\n".join(above)
        return code if above and not _defines(code, match[1]) else None
    return None


def _defines(code: str, name: str) -> bool:
    return re.search(rf"\bdef\s+{name}\b|\b{name}\s*=", code) is not None
