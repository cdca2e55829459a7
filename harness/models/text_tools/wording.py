"""What a model is told of calls in text: the manual, reminders, and calls written right.

`WORDINGS` holds the variants, so that a real model can be asked with each; `WORDING` is the one in
use. A template's places are filled by `manual` and `right_call`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.languages.known import of_words
from harness.models.protocol import ToolSpec
from harness.models.text_tools.calls import properties_of, sole_text

MANUAL = """\
# Tools

You work by calling tools, and a call is a fenced json block in your message:

```json
{"name": "TOOL", "arguments": {"ARGUMENT": "VALUE"}}
```

Each such block is one call. They are carried out in order once your message ends, and the next \
message brings a tool_result for each: never write one yourself.
"""
TOOLS = "The tools:\n"
NO_ARGUMENTS = "No arguments."
NOT_IN_JSON = "No arguments in JSON; `{argument}` is the fenced block after the call."
SCHEMA = "JSON schema of its arguments: {schema}"

CODE_AFTER = """\
Never write code inside JSON. A call of {name} has no `{argument}` in its JSON; write that after \
the call, in a fenced block, as it is:

{call}
"""
CODE_TAGGED = """\
You need not write JSON for {name}. A fenced block tagged {name} is a call, too; the text in it \
becomes `{argument}` unchanged:

{call}
"""

REMINDER = """\
A call is a fenced json block, as in:

```json
{"name": "TOOL", "arguments": {"ARGUMENT": "VALUE"}}
```"""

LIKE_THIS = "Write it like this: {call}"
LIKE_THIS_IN_TEXT = "Write it like this:\n\n{call}"
REPEATED = "You have made this very call before, and it failed the same way. {error}"
REPEATED_LIKE_THIS = "Do not send it again. Send exactly this, with your own text in it:\n\n{call}"
LEFT_OUT = "({tool} takes no {names}; left out.)"

EXAMPLES = {"code": "print(input()[::-1])", "answer": "[1, 2]"}
TAGS = {"code": "python"}
"""Examples of arguments, and the tag of a fence; those of a language are in `harness.languages`."""
_VALUES: Mapping[str, Any] = {
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
}


@dataclass(frozen=True)
class Wording:
    """How tools are described in text.

    Attributes:
        manual: what a call is.
        code: how a tool that takes one text is called.
        code_after: whether that text stands in a block after the call, not in one of its own name.
        reminder: what follows a message after one without a call.
    """

    manual: str = MANUAL
    code: str = CODE_AFTER
    code_after: bool = True
    reminder: str = REMINDER


@dataclass(frozen=True)
class CodeCall:
    """A tool that takes one text, and the words that say how to call it."""

    tool: ToolSpec
    words: str


WORDINGS = {
    "code after": Wording(),
    "code tagged": Wording(code=CODE_TAGGED, code_after=False),
}
WORDING = WORDINGS["code after"]


def manual(tools: Sequence[ToolSpec], wording: Wording = WORDING) -> str:
    """Return the description of some tools and of how to call them."""
    code = code_call(tools, wording)
    apart = code.tool if code is not None and wording.code_after else None
    listed = (_listed(tool, apart=tool is apart) for tool in tools)
    words = () if code is None else (code.words,)
    return "\n".join((wording.manual, *words, TOOLS, *listed))


def code_call(tools: Sequence[ToolSpec], wording: Wording = WORDING) -> CodeCall | None:
    """Return the first tool that takes one text, and how to call it; None without any."""
    for tool in tools:
        if argument := sole_text(tool):
            call = right_call(tool, in_text=True, wording=wording)
            return CodeCall(tool, wording.code.format(name=tool.name, argument=argument, call=call))
    return None


def _listed(tool: ToolSpec, *, apart: bool) -> str:
    """Return a tool's line in the list.

    Args:
        tool: the tool.
        apart: whether its text stands in a block after the call. A schema would ask for it in JSON.
    """
    if apart:
        arguments = NOT_IN_JSON.format(argument=sole_text(tool))
    elif not properties_of(tool):
        arguments = NO_ARGUMENTS
    else:
        arguments = SCHEMA.format(schema=json.dumps(tool.parameters))
    return f"- {tool.name}: {tool.description} {arguments}"


def right_call(tool: ToolSpec, *, in_text: bool, wording: Wording = WORDING) -> str:
    """Return a call of a tool as an example, in the simplest form."""
    key = sole_text(tool)
    if not in_text:
        return f"{tool.name} with the arguments {json.dumps(_arguments(tool))}"
    if key is None:
        return _block({"name": tool.name, "arguments": _arguments(tool)})
    example, tag = _example(tool, key), TAGS.get(key, "")
    if key in TAGS and (language := of_words(_words(tool, key))) is not None:
        tag = language.fences[0]
    if not wording.code_after:
        return f"```{tool.name}\n{example}\n```"
    call = _block({"name": tool.name, "arguments": {}})
    return f"{call}\n\n```{tag}\n{example}\n```"


def like_this(tool: ToolSpec, *, in_text: bool) -> str:
    """Return the end of an error that shows a call written right."""
    template = LIKE_THIS_IN_TEXT if in_text else LIKE_THIS
    return template.format(call=right_call(tool, in_text=in_text))


def told_again(error: str, tool: ToolSpec, *, in_text: bool) -> str:
    """Return an error that the model was told before and answered with the same call."""
    call = right_call(tool, in_text=in_text)
    first = error.partition("\n")[0].partition(" Write it like this")[0]
    return f"{REPEATED.format(error=first)} {REPEATED_LIKE_THIS.format(call=call)}"


def _arguments(tool: ToolSpec) -> dict[str, Any]:
    """Return example arguments: the required ones."""
    required: list[str] = tool.parameters.get("required", [])
    return {
        key: _example(tool, key, _VALUES.get(str(properties_of(tool)[key].get("type")), "VALUE"))
        for key in required
    }


def _block(value: Any) -> str:
    return f"```json\n{json.dumps(value)}\n```"


def _example(tool: ToolSpec, key: str, other: Any = "VALUE") -> Any:
    """Return an example of an argument; code is in the language that the tool takes."""
    language = of_words(_words(tool, key)) if key in TAGS else None
    return EXAMPLES.get(key, other) if language is None else language.example


def _words(tool: ToolSpec, key: str) -> str:
    return str(properties_of(tool)[key].get("description", ""))
