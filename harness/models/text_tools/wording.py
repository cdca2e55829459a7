"""What a model is told of calls in text: the manual, reminders, and calls written right.

Code is never shown in an example: small models copy it. A template's places are filled by `manual`
and `right_call`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.languages import PYTHON
from harness.languages.known import LANGUAGES, of_words
from harness.models.protocol import ToolSpec
from harness.models.text_tools.calls import code_tags, properties_of, sole_text

MANUAL = """\
# Tools

You work by calling tools in your message. Calls are carried out in order once your message ends, \
and the next message brings a tool_result for each: never write one yourself.
"""
A_CALL = """\
A call is a fenced json block:

```json
{"name": "TOOL", "arguments": {"ARGUMENT": "VALUE"}}
```
"""
ANOTHER_CALL = """\
Any other tool is called by a fenced json block:

```json
{"name": "TOOL", "arguments": {"ARGUMENT": "VALUE"}}
```
"""
TOOLS = "The tools:\n"
NO_ARGUMENTS = "No arguments."
AFTER_THE_CALL = "No arguments in JSON; `{argument}` is the fenced block after the call."
ALONE = "Called by a fenced {tag} block, not by JSON."
SCHEMA = "JSON schema of its arguments: {schema}"

CODE_ALONE = """\
To call {name}, write the whole code in one fenced {tag} block: that block is the call, without \
JSON.{then}
"""
THEN_TESTED = " It is stored, and {test} runs it at once; you need not call that."
CODE_CALL = "To call {name}, write the whole code in one fenced {tag} block; no JSON."
TEXT_AFTER = """\
A call of {name} has no `{argument}` in its JSON; write that after the call, in a fenced block, \
as it is:

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
REPEATED_CODE = "Do not send it again. {call}"
STAYS = "This call has no `{argument}`, so the solution that you wrote before stays. Test it now."
LEFT_OUT = "({tool} takes no {names}; left out.)"

RUN_TESTS = "run_tests"
"""Tool that is called after a block of code that is a call by itself."""
CODE = "code"
EXAMPLES = {CODE: LANGUAGES[PYTHON].placeholder, "answer": "[1, 2]"}
"""Examples of arguments; the solution in one is a comment, since small models copy a program."""
CODE_TAG = LANGUAGES[PYTHON].fences[0]
"""Tag of a fence with code whose language the tool does not say."""
_VALUES: Mapping[str, Any] = {
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "array": [],
    "object": {},
}


@dataclass(frozen=True)
class TextCall:
    """A tool that takes one text, and the words that say how to call it.

    Attributes:
        tool: the tool.
        instructions: for the manual.
        reminder: for the end of a message that asks for the call.
    """

    tool: ToolSpec
    instructions: str
    reminder: str


def manual(tools: Sequence[ToolSpec], *, tested: bool = True) -> str:
    """Return the description of some tools and of how to call them.

    Args:
        tools: the tools.
        tested: whether the tests of code that is a call by itself are run at once.
    """
    text = text_call(tools, tested=tested)
    listed = (_listed(tool, is_text=text is not None and tool is text.tool) for tool in tools)
    if text is None:
        calls = (A_CALL,)
    elif code_tags(text.tool):  # first, since small models do with code what they read first
        calls = (text.instructions, ANOTHER_CALL)
    else:
        calls = (A_CALL, text.instructions)
    return "\n".join((MANUAL, *calls, TOOLS, *listed))


def text_call(tools: Sequence[ToolSpec], *, tested: bool = True) -> TextCall | None:
    """Return the first tool that takes one text, and how to call it; None without any."""
    tool = next((each for each in tools if sole_text(each)), None)
    if tool is None:
        return None
    call = right_call(tool, in_text=True)
    if not code_tags(tool):
        after = TEXT_AFTER.format(name=tool.name, argument=sole_text(tool), call=call)
        return TextCall(tool, after, after)
    tests = tested and any(each.name == RUN_TESTS for each in tools)
    then = THEN_TESTED.format(test=RUN_TESTS) if tests else ""
    return TextCall(tool, CODE_ALONE.format(name=tool.name, tag=_tag(tool), then=then), call)


def _listed(tool: ToolSpec, *, is_text: bool) -> str:
    """Return a tool's line in the list.

    Args:
        tool: the tool.
        is_text: whether the manual says how its one text is written. A schema would ask for that
            in JSON.
    """
    if is_text and code_tags(tool):
        arguments = ALONE.format(tag=_tag(tool))
    elif is_text:
        arguments = AFTER_THE_CALL.format(argument=sole_text(tool))
    elif not properties_of(tool):
        arguments = NO_ARGUMENTS
    else:
        arguments = SCHEMA.format(schema=json.dumps(tool.parameters))
    return f"- {tool.name}: {tool.description} {arguments}"


def right_call(tool: ToolSpec, *, in_text: bool) -> str:
    """Return how a tool is called: an example in the simplest form; for code, a sentence."""
    key = sole_text(tool)
    if not in_text:
        return f"{tool.name} with the arguments {json.dumps(_arguments(tool))}"
    if key is None:
        return _block({"name": tool.name, "arguments": _arguments(tool)})
    if code_tags(tool):
        return CODE_CALL.format(name=tool.name, tag=_tag(tool))
    return f"{_block({'name': tool.name, 'arguments': {}})}\n\n```\n{_example(tool, key)}\n```"


def like_this(tool: ToolSpec, *, in_text: bool) -> str:
    """Return the end of an error that shows a call written right."""
    call = right_call(tool, in_text=in_text)
    if in_text and code_tags(tool):
        return call
    return (LIKE_THIS_IN_TEXT if in_text else LIKE_THIS).format(call=call)


def without_code(tool: ToolSpec, test: ToolSpec, *, in_text: bool) -> str:
    """Return the error of a call without code, where a solution waits for its tests.

    Args:
        tool: the tool that takes the code.
        test: the tool that runs the tests.
        in_text: whether tools are called in text.
    """
    return f"{STAYS.format(argument=sole_text(tool))} {like_this(test, in_text=in_text)}"


def told_again(error: str, tool: ToolSpec, *, in_text: bool) -> str:
    """Return an error that the model was told before and answered with the same call."""
    call = right_call(tool, in_text=in_text)
    is_code = in_text and code_tags(tool)
    first = error.partition("\n")[0].partition(" Write it like this")[0].removesuffix(f" {call}")
    send = REPEATED_CODE if is_code else REPEATED_LIKE_THIS
    return f"{REPEATED.format(error=first)} {send.format(call=call)}"


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
    description = str(properties_of(tool)[key].get("description", ""))
    language = of_words(description) if key == CODE else None
    return EXAMPLES.get(key, other) if language is None else language.placeholder


def _tag(tool: ToolSpec) -> str:
    """Return the tag of a block with a tool's one text; empty if that is not code."""
    return next(iter(code_tags(tool)), CODE_TAG if sole_text(tool) == CODE else "")
