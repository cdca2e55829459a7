"""Calls between models' special tokens, which a server sends as text.

| model | a call |
| --- | --- |
| Mistral, until tokenizer v7 | `[TOOL_CALLS][{"name": …, "arguments": {…}}]` |
| Mistral, from v11 on | `[TOOL_CALLS]name[ARGS]{…}`, with `[CALL_ID]id` before `[ARGS]` or not |
| DeepSeek R1, V3 | `<｜tool▁call▁begin｜>function<｜tool▁sep｜>name`, a fence of JSON, the end |
| DeepSeek V3.1 | `<｜tool▁call▁begin｜>name<｜tool▁sep｜>{…}<｜tool▁call▁end｜>` |
| Kimi K2 | `<|tool_call_begin|>functions.name:0<|tool_call_argument_begin|>{…}<|tool_call_end|>` |
| gpt-oss | `to=functions.name <|constrain|>json<|message|>{…}<|call|>`, or without its tokens |
| FunctionGemma | `<start_function_call>call:name{key:<escape>value<escape>}<end_function_call>` |
| Gemma 4 | the same between `<|tool_call>` and `<tool_call|>`, with `<|"|>` for `<escape>` |
| Kimi K3 | `<|open|>call tool="name"<|sep|>`, `<|open|>argument key="key"<|sep|>…`, ends |

DeepSeek's and Kimi's calls stand between `<｜tool▁calls▁begin｜>` and `<｜tool▁calls▁end｜>`, or
`<|tool_calls_section_begin|>` and `<|tool_calls_section_end|>`. The parsers `mistral`,
`deepseek_v3`, `deepseek_v31` and `kimi_k2` of https://github.com/vllm-project/vllm, and those of
https://github.com/ggml-org/llama.cpp (`[ARGS]`), read these formats as well.
"""

import re
from typing import Any

from harness.models.text_tools.calls import (
    MISSING,
    Block,
    ParsedCall,
    properties_of,
    text_of,
    tool_name,
)
from harness.models.text_tools.repair import strict_value
from harness.models.text_tools.source import Source, closed_by
from harness.models.text_tools.tags import is_text, typed

# ruff: noqa: RUF001, RUF002 - DeepSeek's tokens contain the full-width bar U+FF5C

_SECTION_BEGIN = r"(?:<｜tool▁calls▁begin｜>|<\|tool_calls_section_begin\|>)"
_SECTION_END = r"(?:<｜tool▁calls▁end｜>|<\|tool_calls_section_end\|>)"
_BEGIN = r"(?:<｜tool▁call▁begin｜>|<\|tool_call_begin\|>)"
_END = r"(?:<｜tool▁call▁end｜>|<\|tool_call_end\|>)"
_SEPARATOR = r"(?:<｜tool▁sep｜>|<\|tool_call_argument_begin\|>)"

MISTRAL = r"\[TOOL_CALLS\]"
DEEPSEEK = rf"(?:{_SECTION_BEGIN}\s*+)?{_BEGIN}"
HARMONY = (
    r"\bto=(?P<recipient>[\w.]{1,100})(?:<\|channel\|>\w{1,20})?\s{0,5}(?:<\|constrain\|>)?"
    r"(?:json|code)?\s{0,5}(?:<\|message\|>)?(?=\s{0,5}\{)"
)
GEMMA = r"<(?:start_function_call|\|tool_call)>\s{0,5}call:(?P<gemma>[\w.-]{1,100})\{"
_ATTRIBUTES = r"(?: \w{1,20}=\"[^\"\n]{0,100}\"){0,5}"
KIMI = rf"<\|open\|>call{_ATTRIBUTES}? tool=\"(?P<kimi>[\w.:-]{{1,100}})\"{_ATTRIBUTES}<\|sep\|>"

_MISTRAL_END = closed_by(r"</s>|(?=\[TOOL_CALLS\])")
_MISTRAL_NAME = re.compile(
    r"\s*+([\w.-]{1,100}+)\s*+(?:\[CALL_ID\][\w-]{1,100}+\s*+)?(?:\[ARGS\]|(?=\{))"
)
_DEEPSEEK_NAME = re.compile(
    rf"(?:\s*+function{_SEPARATOR})?\s*+([\w.:-]{{1,100}}+)\s*+(?:{_SEPARATOR}|(?=```))"
)
_DEEPSEEK_END = closed_by(rf"(?:{_END}\s*+)?{_SECTION_END}|{_END}|(?={_BEGIN})")
_HARMONY_END = closed_by(r"<\|(?:call|end|return)\|>|(?=<\|start\|>)|\n(?=\w{0,20}to=)")
_GEMMA_QUOTE = r"(?:<escape>|<\|\"\|>)"
_GEMMA_PAIR = re.compile(rf"\s*+,?\s*+(\w{{1,100}})\s*+:\s*+({_GEMMA_QUOTE})?")
_GEMMA_TEXT_END = closed_by(rf"{_GEMMA_QUOTE}(?=\s*+(?:\}}|,\s*+\w{{1,100}}\s*+:))")
_GEMMA_VALUE_END = closed_by(r"(?=[,}])")
_GEMMA_END = re.compile(r"\s*+\}\s*+(?:<end_function_call>|<tool_call\|>)?")
_KIMI_KEY = re.compile(
    rf"\s*+<\|open\|>argument{_ATTRIBUTES}? key=\"([\w.-]{{1,100}})\"{_ATTRIBUTES}<\|sep\|>"
)
_KIMI_VALUE_END = closed_by(r"<\|close\|>argument<\|sep\|>")
_KIMI_END = re.compile(r"\s*+<\|close\|>call<\|sep\|>(?:\s*+<\|close\|>\w{1,20}<\|sep\|>)*+")


def mistral(source: Source, match: re.Match[str]) -> Block:
    """Read `[TOOL_CALLS]…`; none where the text only mentions the token."""
    named = _MISTRAL_NAME.match(source.text, match.end())
    if named is None:
        calls, end = source.json_calls(source.skip_blank(match.end()), _MISTRAL_END)
        return Block(match.start(), end if calls else match.end(), calls)
    name = tool_name(named[1], source.known)
    arguments, end = source.arguments(name, named.end(), _MISTRAL_END)
    return Block(match.start(), end, (ParsedCall(name, arguments),))


def deepseek(source: Source, match: re.Match[str]) -> Block:
    """Read a call of DeepSeek's or Kimi's; none where the text only mentions the token."""
    named = _DEEPSEEK_NAME.match(source.text, match.end())
    if named is None:
        return Block(match.start(), match.end())
    name = tool_name(named[1], source.known)
    arguments, end = source.arguments(name, named.end(), _DEEPSEEK_END)
    return Block(match.start(), end, (ParsedCall(name, arguments),))


def harmony(source: Source, match: re.Match[str]) -> Block:
    """Read a call of gpt-oss, whose recipient is the tool."""
    name = tool_name(match["recipient"], source.known)
    if name not in source.known and not match["recipient"].startswith("functions."):
        return Block(match.start(), match.end())
    arguments, end = source.arguments(name, match.end(), _HARMONY_END)
    return Block(match.start(), end, (ParsedCall(name, arguments),))


def gemma(source: Source, match: re.Match[str]) -> Block:
    """Read a call of FunctionGemma; a pair that breaks off makes the arguments broken."""
    name = tool_name(match["gemma"], source.known)
    arguments: dict[str, Any] = {}
    at = match.end()
    while (pair := _GEMMA_PAIR.match(source.text, at)) is not None:
        ends = _GEMMA_TEXT_END if pair[2] else _GEMMA_VALUE_END
        text, region = source.text_until(pair.end(), ends, code=bool(pair[2]))
        if not region.closed:
            break
        number = None if pair[2] else strict_value(text)
        arguments[pair[1]] = text if number is None else number.value
        at = region.after
    closing = _GEMMA_END.match(source.text, at)
    if closing is None:
        return Block(
            match.start(),
            len(source.text),
            (ParsedCall(name, source.text[match.end() :].strip() or MISSING),),
        )
    return Block(match.start(), closing.end(), (ParsedCall(name, text_of(arguments)),))


def kimi(source: Source, match: re.Match[str]) -> Block:
    """Read a call of Kimi K3; an argument that breaks off makes the arguments broken."""
    name = tool_name(match["kimi"], source.known)
    tool = source.known.get(name)
    arguments: dict[str, Any] = {}
    at = match.end()
    while (argument := _KIMI_KEY.match(source.text, at)) is not None:
        key = argument[1]
        text, region = source.text_until(argument.end(), _KIMI_VALUE_END, code=is_text(tool, key))
        if not region.closed:
            break
        arguments[key] = typed(text, properties_of(tool).get(key))
        at = region.after
    closing = _KIMI_END.match(source.text, at)
    if closing is not None:
        return Block(match.start(), closing.end(), (ParsedCall(name, text_of(arguments)),))
    written = source.text[match.end() :].strip() or MISSING
    return Block(match.start(), len(source.text), (ParsedCall(name, written),))
