"""What a model is told of calls in text: the manual, reminders, and calls written right.

`WORDINGS` holds the variants, so that a real model can be asked with each; `WORDING` is the one in
use. A template's places are filled by `manual` and `right_call`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from harness.languages import PYTHON
from harness.languages.known import LANGUAGES, of_words
from harness.models.protocol import ToolSpec
from harness.models.text_tools.calls import code_tags, properties_of, sole_text

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
AFTER_THE_CALL = "No arguments in JSON; `{argument}` is the fenced block after the call."
ALONE = "Called by a fenced {tag} block, not by JSON."
SCHEMA = "JSON schema of its arguments: {schema}"

CODE_ALONE = """\
{name} is called without JSON: a fenced {tag} block is the call. Write the whole code in one block:

{call}
{then}"""
THEN_TESTED = """
It is stored, and {test} runs it at once; you need not call that.
"""
CODE_ALONE_REMINDER = "To call {name}, write the whole code in one fenced {tag} block; no JSON."
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


Form = Literal["alone", "after", "tagged"]
_WORDS: Mapping[Form, tuple[str, str]] = {
    "alone": (CODE_ALONE, CODE_ALONE_REMINDER),
    "after": (CODE_AFTER, CODE_AFTER),
    "tagged": (CODE_TAGGED, CODE_TAGGED),
}


@dataclass(frozen=True)
class Wording:
    """How tools are described in text.

    Attributes:
        manual: what a call is.
        form: where the text of a tool that takes one text stands: in a block that is the call, in
            a block after the call, or in one that is tagged with the tool's name. Only code can be
            a call alone; other texts then stand after it.
        reminder: what follows a message after one without a call.
    """

    manual: str = MANUAL
    form: Form = "alone"
    reminder: str = REMINDER

    def form_of(self, tool: ToolSpec) -> Form:
        """Return where the one text of that tool stands."""
        return "after" if self.form == "alone" and not code_tags(tool) else self.form


@dataclass(frozen=True)
class CodeCall:
    """A tool that takes one text, and the words that say how to call it.

    Attributes:
        tool: the tool.
        words: for the manual.
        reminder: for the end of a message that asks for the call.
    """

    tool: ToolSpec
    words: str
    reminder: str


WORDINGS = {
    "code alone": Wording(),
    "code after": Wording(form="after"),
    "code tagged": Wording(form="tagged"),
}
WORDING = WORDINGS["code alone"]


def manual(tools: Sequence[ToolSpec], wording: Wording = WORDING, *, tested: bool = True) -> str:
    """Return the description of some tools and of how to call them.

    Args:
        tools: the tools.
        wording: how they are described.
        tested: whether the tests of code that is a call by itself are run at once.
    """
    code = code_call(tools, wording, tested=tested)
    listed = (
        _listed(tool, wording.form_of(tool) if code is not None and tool is code.tool else None)
        for tool in tools
    )
    words = () if code is None else (code.words,)
    return "\n".join((wording.manual, *words, TOOLS, *listed))


def code_call(
    tools: Sequence[ToolSpec], wording: Wording = WORDING, *, tested: bool = True
) -> CodeCall | None:
    """Return the first tool that takes one text, and how to call it; None without any."""
    for tool in tools:
        if argument := sole_text(tool):
            call = right_call(tool, in_text=True, wording=wording)
            told = {"name": tool.name, "argument": argument, "call": call, "tag": _tag(tool)}
            then = tested and any(each.name == RUN_TESTS for each in tools)
            told["then"] = THEN_TESTED.format(test=RUN_TESTS) if then else ""
            words, reminder = (each.format(**told) for each in _WORDS[wording.form_of(tool)])
            return CodeCall(tool, words, reminder)
    return None


def _listed(tool: ToolSpec, form: Form | None) -> str:
    """Return a tool's line in the list.

    Args:
        tool: the tool.
        form: where its one text stands; None for a call in JSON alone. A schema would ask for code
            in JSON.
    """
    if form == "alone":
        arguments = ALONE.format(tag=_tag(tool))
    elif form == "after":
        arguments = AFTER_THE_CALL.format(argument=sole_text(tool))
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
    form, example = wording.form_of(tool), _example(tool, key)
    if form == "tagged":
        return f"```{tool.name}\n{example}\n```"
    call = f"{_block({'name': tool.name, 'arguments': {}})}\n\n" if form == "after" else ""
    return f"{call}```{_tag(tool)}\n{example}\n```"


def like_this(tool: ToolSpec, *, in_text: bool) -> str:
    """Return the end of an error that shows a call written right."""
    template = LIKE_THIS_IN_TEXT if in_text else LIKE_THIS
    return template.format(call=right_call(tool, in_text=in_text))


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
    words = str(properties_of(tool)[key].get("description", ""))
    language = of_words(words) if key == CODE else None
    return EXAMPLES.get(key, other) if language is None else language.placeholder


def _tag(tool: ToolSpec) -> str:
    """Return the tag of a block with a tool's one text; empty if that is no code."""
    return next(iter(code_tags(tool)), CODE_TAG if sole_text(tool) == CODE else "")
