"""Tools that a model calls in the last lines of its solution."""

import re

from harness.models.text_tools.calls import MOST_CALLS, Known, ParsedCall, properties_of

_LAST = re.compile(r"(?:print\()?([A-Za-z_]\w{0,100})\(\)\)?[ \t\r;]*+(?:#.*)?")


def calls_at_end(code: str, known: Known) -> tuple[str, tuple[ParsedCall, ...]]:
    """Take the calls of tools off the end of a solution, such as `run_tests()` in its last line.

    Args:
        code: a solution; a function of its own that has a tool's name is no tool.
        known: the tools; only those without arguments are called so.

    Returns:
        The code without them, and the calls in their order.
    """
    lines, calls = code.rstrip().split("\n"), list[ParsedCall]()
    while lines and len(calls) < MOST_CALLS:
        found = _LAST.fullmatch(lines[-1])
        if found is not None and found[1] in known and not properties_of(known[found[1]]):
            calls.insert(0, ParsedCall(found[1], "{}"))
        elif lines[-1].strip() or not calls:
            break
        lines.pop()
    rest = "\n".join(lines)
    own = any(re.search(rf"\bdef\s+{call.name}\b|\b{call.name}\s*=", rest) for call in calls)
    return (code, ()) if own or not calls else (f"{rest}\n", tuple(calls))
