# ruff: noqa: RUF001, RUF002 - DeepSeek's tokens contain the full-width bar U+FF5C
"""Parser of tool calls between special tokens that a server sends as text.

| model | a call |
| --- | --- |
| Mistral, until tokenizer v7 | `[TOOL_CALLS][{"name": …, "arguments": {…}}]` |
| Mistral, from v11 on | `[TOOL_CALLS]name[ARGS]{…}`, with `[CALL_ID]id` before `[ARGS]` or not |
| DeepSeek R1, V3 | `<｜tool▁call▁begin｜>function<｜tool▁sep｜>name`, a fence of JSON, the end |
| DeepSeek V3.1 | `<｜tool▁call▁begin｜>name<｜tool▁sep｜>{…}<｜tool▁call▁end｜>` |
| Kimi K2 | `<|tool_call_begin|>functions.name:0<|tool_call_argument_begin|>{…}<|tool_call_end|>` |

DeepSeek's and Kimi's calls stand between `<｜tool▁calls▁begin｜>` and `<｜tool▁calls▁end｜>`, or
`<|tool_calls_section_begin|>` and `<|tool_calls_section_end|>`. The parsers `mistral`,
`deepseek_v3`, `deepseek_v31` and `kimi_k2` of https://github.com/vllm-project/vllm, and those of
https://github.com/ggml-org/llama.cpp (`[ARGS]`), read these formats as well.
"""

import re

from harness.models.text_tools.json_calls import (
    Block,
    Known,
    ParsedCall,
    arguments_at_start,
    calls_at_start,
)
from harness.models.text_tools.tag_calls import without_fence

MISTRAL = "[TOOL_CALLS]"

_SECTION_BEGIN = r"(?:<｜tool▁calls▁begin｜>|<\|tool_calls_section_begin\|>)"
_SECTION_END = r"(?:<｜tool▁calls▁end｜>|<\|tool_calls_section_end\|>)"
_BEGIN = r"(?:<｜tool▁call▁begin｜>|<\|tool_call_begin\|>)"
_END = r"(?:<｜tool▁call▁end｜>|<\|tool_call_end\|>)"
OPENING = rf"{re.escape(MISTRAL)}|(?:{_SECTION_BEGIN}\s*+)?(?P<token>{_BEGIN})"

_CLOSING = re.compile(rf"(?:{_END}\s*+)?{_SECTION_END}|{_END}|(?={_BEGIN})")
_SEPARATOR = re.compile(r"<｜tool▁sep｜>|<\|tool_call_argument_begin\|>")
_NAME = re.compile(r"\s*+(?:functions\.)?([\w.-]{1,100}?)(?::\d{1,9})?\s*+")
_MISTRAL_NAME = re.compile(
    r"\s*+([\w.-]{1,100}+)\s*+(?:\[CALL_ID\][\w-]{1,100}+\s*+)?(?:\[ARGS\]|(?=\{))"
)
_TYPE = "function"  # stands in the place of the name, which then follows the separator


def between_tokens(text: str, found: re.Match[str], known: Known) -> Block:
    """Read a call that begins at one of these tokens; none where the text only mentions it."""
    if found["token"] is None:
        return _mistral(text, found, known)
    start = found.end()
    closing = _CLOSING.search(text, start)
    stop, end = (len(text),) * 2 if closing is None else closing.span()
    body = text[start:stop]
    separator = _SEPARATOR.search(body)
    if separator is None:
        return Block(found.start(), start, ())
    name, arguments = body[: separator.start()], body[separator.end() :]
    if name.strip() == _TYPE and not arguments.lstrip().startswith("{"):
        named = re.match(r"\s*+[\w.-]{1,100}+", arguments)
        cut = 0 if named is None else named.end()
        name, arguments = arguments[:cut], arguments[cut:]
    named = _NAME.fullmatch(name)
    if named is None:
        return Block(found.start(), start, ())
    written, _ = arguments_at_start(without_fence(arguments.strip()))
    return Block(found.start(), end, [ParsedCall(named[1], written)])


def _mistral(text: str, found: re.Match[str], known: Known) -> Block:
    """Read `[TOOL_CALLS]…`: up to the end of its JSON, or the next such token if broken."""
    start = found.end()
    stop = text.find(MISTRAL, start)
    region = text[start : stop if stop >= 0 else len(text)]
    named = _MISTRAL_NAME.match(region)
    if named is not None:
        written, end = arguments_at_start(region[named.end() :])
        calls = [ParsedCall(named[1], written)]
        return Block(found.start(), start + named.end() + end, calls)
    calls, end = calls_at_start(region, known)
    return Block(found.start(), start + end if calls else start, calls)
