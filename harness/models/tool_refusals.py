"""How endpoints say that they take no tools, or not for this model.

The words, with the status they came with, are those of
vLLM (400: `"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be
set`),
Ollama (400: `registry.ollama.ai/library/gemma:2b does not support tools`),
LiteLLM (400: `litellm.UnsupportedParamsError: x does not support parameters: ['tools'], for …`),
OpenRouter (404: `No endpoints found that support tool use.`, or `… that support the provided
'tool_choice' value`),
OpenAI (400: `Unsupported parameter: 'tools' is not supported with this model.`),
Bedrock (400: `This model doesn't support tool use.`), Gemini and Mistral (400: `Function calling is
not enabled for this model`), and servers whose schema knows no such field (422: `extra_forbidden`,
`('body', 'tools')`).

A value of `tool_choice` that is refused, as beside thinking, says nothing of tools. Nor does a
failure of the server, 5xx, which may pass; but llama.cpp (500: `tools param requires --jinja flag`,
older `Unsupported param: tools`) and SGLang (500: `Unsupported tool_call_parser: None`) say so of a
server that was started without tools.
"""

import re

STATUSES = frozenset({400, 404, 422})

_TOOLS = (
    r"(?:\btools?\b(?![ _-]choice)|\btools?[ _-](?:use|calls?|calling)\b"
    r"|\bfunction[ _-]?call(?:s|ing)?\b)"
)
_NOT = (
    r"(?:(?:\bnot|n't)\b.{0,12}\b(?:support|enable|permit|allow|accept|available)"
    r"|\bunsupported|\bextra_forbidden|\bextra inputs\b|\bunrecognized|\bunknown (?:field|param))"
)
_WORDS = re.compile(
    rf"{_NOT}.{{0,80}}?{_TOOLS}|{_TOOLS}.{{0,60}}?{_NOT}"
    rf"|\btools?\b.{{0,40}}\brequires --|\bno endpoints\b.{{0,40}}\bsupport\b.{{0,40}}\btool",
    re.IGNORECASE | re.DOTALL,
)
_UNSET = re.compile(
    r"\btools param requires --|\bunsupported param: tools\b|\bunsupported tool_call_parser\b",
    re.IGNORECASE,
)
FIRST_SERVER_STATUS = 500
LONGEST = 4_000  # of the words that are looked at


def refuses_tools(status: int, words: str) -> bool:
    """Whether a failed request failed because of its tools.

    Args:
        status: the HTTP status.
        words: the provider's own.
    """
    return status in STATUSES and _WORDS.search(words[:LONGEST]) is not None


def lacks_tools(status: int, words: str) -> bool:
    """Whether a server failed since it was started without tools, which never passes."""
    return status >= FIRST_SERVER_STATUS and _UNSET.search(words[:LONGEST]) is not None
