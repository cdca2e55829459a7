"""How endpoints say that they take no tools, or not for this model.

The words, with the status they came with, are those of
vLLM (400: `"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be
set`),
Ollama (400: `registry.ollama.ai/library/gemma:2b does not support tools`),
llama.cpp (500: `tools param requires --jinja flag`, older `Unsupported param: tools`),
SGLang (500: `Unsupported tool_call_parser: None`),
LiteLLM (400: `litellm.UnsupportedParamsError: x does not support parameters: ['tools'], for …`),
OpenRouter (404: `No endpoints found that support tool use.`, or `… that support the provided
'tool_choice' value`),
OpenAI (400: `Unsupported parameter: 'tools' is not supported with this model.`),
Bedrock (400: `This model doesn't support tool use.`), Gemini and Mistral (400: `Function calling is
not enabled for this model`), and servers whose schema knows no such field (422: `extra_forbidden`,
`('body', 'tools')`).
"""

import re

STATUSES = frozenset({400, 404, 422, 500, 501})

_TOOLS = (
    r"(?:\btools?\b|\btools?[ _-](?:use|calls?|calling|choice)\b|\btool_call_parser\b"
    r"|\bfunction[ _-]?call(?:s|ing)?\b)"
)
_NOT = (
    r"(?:(?:\bnot|n't)\b.{0,12}\b(?:support|enable|permit|allow|accept|available)"
    r"|\bunsupported|\bextra_forbidden|\bextra inputs\b|\bunrecognized|\bunknown (?:field|param))"
)
_WORDS = re.compile(
    rf"{_NOT}.{{0,80}}?{_TOOLS}|{_TOOLS}.{{0,60}}?{_NOT}"
    rf"|{_TOOLS}.{{0,40}}\brequires --|\bno endpoints\b.{{0,40}}\bsupport\b.{{0,40}}{_TOOLS}",
    re.IGNORECASE | re.DOTALL,
)
LONGEST = 4_000  # of the words that are looked at


def refuses_tools(status: int, words: str) -> bool:
    """Whether a failed request failed because of its tools.

    Args:
        status: the HTTP status.
        words: the provider's own.
    """
    return status in STATUSES and _WORDS.search(words[:LONGEST]) is not None
