"""Recognition of errors that say an endpoint supports no tools.

It says so with status 400, 404 or 422 (vLLM, Ollama, LiteLLM, OpenRouter, OpenAI, Bedrock, Gemini,
Mistral), or with 500 if the server was started without them (llama.cpp, SGLang). Other server
failures may be transient, and a refused value of `tool_choice` does not mean that tools are
refused.
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
LONGEST = 4_000  # characters of the error text that are searched


def refuses_tools(status: int, message: str) -> bool:
    """Return whether a request failed because of its tools.

    Args:
        status: the HTTP status.
        message: the provider's error text.
    """
    return status in STATUSES and _WORDS.search(message[:LONGEST]) is not None


def lacks_tools(status: int, message: str) -> bool:
    """Return whether a server failed because it was started without tools."""
    return status >= FIRST_SERVER_STATUS and _UNSET.search(message[:LONGEST]) is not None
