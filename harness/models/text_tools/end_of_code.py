"""Tools that a model calls in the last lines of its solution."""

import re
from collections.abc import Sequence

from harness.models.text_tools.calls import MOST_CALLS, Known, ParsedCall, properties_of, sole_text

COMMENTS = ("#", "//")
_LAST = re.compile(r"(?:print\()?([A-Za-z_]\w{0,100})\(\)\)?[ \t\r;]*+(?:#.*)?")
_HANDS_IN = re.compile(r"(?:print\(|[A-Za-z_]\w{0,100}[ \t]*=[ \t]*)?([A-Za-z_]\w{0,100})\(")


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
        if match is None or match[1] not in known or not sole_text(known[match[1]]):
            continue
        above = list(lines[:number])
        while above and (not above[-1].strip() or above[-1].startswith(COMMENTS)):
            above.pop()
        code = "\n".join(above)
        return code if above and not _defines(code, match[1]) else None
    return None


def _defines(code: str, name: str) -> bool:
    return re.search(rf"\bdef\s+{name}\b|\b{name}\s*=", code) is not None
