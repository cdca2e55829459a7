"""Calls as a model meant them: names, arguments, and JSON values that describe a call."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, cast

from harness.languages import PYTHON
from harness.languages.known import LANGUAGES, of_words
from harness.languages.language import Language
from harness.models.protocol import ToolSpec
from harness.models.text_tools.repair import fields_of

MOST_CALLS = 128  # in one text; later ones stay text
UNNAMED = "unnamed"
MISSING = "{"  # stands for missing arguments

Known = Mapping[str, ToolSpec]
"""The tools that may be called, by name."""

NAME_KEYS = ("name", "tool", "tool_name", "function", "function_name", "action", "recipient_name")
ARGUMENT_KEYS = (
    *("arguments", "parameters", "args", "input", "params", "tool_input", "action_input"),
    *("kwargs", "tool_arguments", "function_arguments", "tool_parameters"),
)
LIST_KEYS = ("tool_calls", "function_calls", "calls", "actions", "tool_uses")
OTHER_KEYS = frozenset({"id", "type", "call_id", "thought", "reasoning", "index"})
PLACEHOLDERS = frozenset({"...", "…", "TOOL", "VALUE", "CODE", "<code>"})
"""Texts that stand for an argument in an explanation."""

_NOISE = re.compile(r"^(?:functions?|tools?|default_api|namespace)(?:\.|::)|<\|.*|:\d{1,9}$|\(\)$")


class ParsedCall(NamedTuple):
    """Call as it was written; `arguments` is JSON text, broken or not."""

    name: str
    arguments: str


class Block(NamedTuple):
    """Part of a text that may hold calls.

    Attributes:
        start, end: its place.
        calls: the calls in it.
        code: content of a fenced block that may be the text of a call beside it.
    """

    start: int
    end: int
    calls: tuple[ParsedCall, ...] = ()
    code: str | None = None


def tool_name(written: str, known: Known) -> str:
    """Return the known tool that a name means, or the name.

    Prefixes (`functions.`), numbers (`:0`) and special tokens (`<|channel|>`) are left out.
    """
    if written in known:
        return written
    name = written.strip().strip("\"'`")
    for _ in range(3):
        name = _NOISE.sub("", name).strip()
    if name in known:
        return name
    plain = name.casefold().replace("-", "_")
    return next((each for each in known if each.casefold() == plain), written)


def code_tags(tool: ToolSpec) -> tuple[str, ...]:
    """Return the tags of fences that hold a tool's one text; none if it is not code."""
    own = None if tool.sole_text is None else _language_of(tool)
    return () if own is None else own.fences


def placeholder_of(tool: ToolSpec) -> str:
    """Return the comment that stands for code in an example of a call."""
    own = _language_of(tool)
    return LANGUAGES[PYTHON].placeholder if own is None else own.placeholder


def _language_of(tool: ToolSpec) -> Language | None:
    """Return the language of a tool's code: its own, or the one that its description names."""
    if tool.language:
        return LANGUAGES[tool.language]
    key = tool.sole_text
    return of_words(str(properties_of(tool)[key].get("description", ""))) if key else None


def properties_of(tool: ToolSpec | None) -> Mapping[str, Any]:
    """Return the schemas of a tool's arguments; none of an unknown tool."""
    return {} if tool is None else tool.parameters.get("properties", {})


def text_of(arguments: Any) -> str:
    """Return arguments as JSON text; a string is returned unchanged."""
    return arguments if isinstance(arguments, str) else json.dumps(arguments)


def with_text(name: str, text: str, known: Known) -> ParsedCall | None:
    """Return a call of a tool that takes one text; None for another tool."""
    key = known[name].sole_text if name in known else None
    return None if key is None else ParsedCall(name, json.dumps({key: text}))


def calls_of(values: Iterable[Any], known: Known) -> tuple[ParsedCall, ...]:
    """Return the calls that some JSON values describe; none when one of them is something else."""
    calls: list[ParsedCall] = []
    for value in values:
        items = cast("list[Any]", value) if isinstance(value, list) else [value]
        for item in items:
            fields = fields_of(item)
            held = () if fields is None else tuple(_calls_of(fields, known))
            if not held:
                return ()
            calls += held
    return tuple(calls)


def _calls_of(fields: dict[str, Any], known: Known) -> Iterator[ParsedCall]:
    """Yield the calls that an object describes: by its name, in a list, or by its keys."""
    inner = next((fields[key] for key in LIST_KEYS if isinstance(fields.get(key), list)), None)
    if inner is not None:
        yield from calls_of([inner], known)
        return
    if isinstance(fields.get("function"), dict):  # in the providers' format
        fields = cast("dict[str, Any]", fields["function"])
    call = _named(fields, known)
    if call is not None:
        yield call
    elif fields and all(key in known for key in fields):  # the key is the name
        for name, arguments in fields.items():
            yield _call(name, {} if arguments is None else arguments, known)


def _named(fields: dict[str, Any], known: Known) -> ParsedCall | None:
    key = next((key for key in NAME_KEYS if isinstance(fields.get(key), str)), None)
    if key is None or not fields[key]:
        return None
    name = tool_name(fields[key], known)
    holder = next((each for each in ARGUMENT_KEYS if each in fields and each != key), None)
    if holder is not None and holder in properties_of(known.get(name)):
        holder = None  # an argument of that name
    if name not in known and (key != "name" or holder not in {"arguments", "parameters"}):
        return None
    if holder is None:
        flat = {each: fields[each] for each in fields if each not in {key, *OTHER_KEYS}}
        return ParsedCall(name, text_of(flat))
    arguments = fields[holder]
    return _call(name, {} if arguments is None else arguments, known)


def _call(name: str, arguments: Any, known: Known) -> ParsedCall:
    """Return a call; a string that is not JSON is the text of a tool that takes one."""
    if isinstance(arguments, str) and arguments.strip() and arguments.lstrip()[:1] not in '{["':
        return with_text(name, arguments, known) or ParsedCall(name, arguments)
    return ParsedCall(name, text_of(arguments))
