"""Recognition of errors that refuse a conversation for what an earlier answer left in it.

Providers sign or encrypt reasoning, bind it to the conversation before it, or look it up by an id.
Sent back, it may be refused: by another server behind the same gateway, after the conversation was
changed, or because it is missing. Calls and their results are checked in the same way. The same
request would be refused again; the conversation without its reasoning, or a new one, would not.

Every server has its own sentence, so none is compared: an error belongs here if it names reasoning
that was sent back, or the pairing of calls and results, near a word for what is wrong with it.
"""

import re

from harness.models.tool_refusals import LONGEST

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_MARKS = re.compile(r"[\s_`'\"*\\]+")

_KEPT = (
    r"(?:\bredacted thinking\b|\bthinking (?:and redacted thinking )?blocks?\b"
    r"|\bthinking\.signature\b|\bthought signatures?\b|\bencrypted content\b"
    r"|\breasoning items?\b|\btype reasoning\b|\brs \w)"
)
_WRONG = (
    r"(?:\binvalid\b|\bnot (?:be )?(?:valid|found|verified|decrypted|parsed|modified|altered)\b"
    r"|\bcannot be\b|\bcould not\b|\bcorrupt|\bmissing\b|\brequired\b|\bexpected\b|\bwithout\b"
    r"|\bduplicate\b|\bmismatch|\bbound to\b|\bdo(?:es)? not match\b|\bexpired\b)"
)
_PAIRS = (
    r"\btool use ids?\b.{0,60}\b(?:without|unique|unexpected)\b|\bunexpected tool use id\b"
    r"|\btool result block\b.{0,60}\bmust have a\b|\btool call id\b.{0,40}\bnot found\b"
    r"|\bno tool (?:call|output) found\b|\bfollowed by tool messages\b"
    r"|\brole tool must be a response\b|\bduplicate item found\b|\bitem with id \w+ \w+ not found\b"
)
_LEFT_OUT = (
    r"\breasoning content\b.{0,60}\b(?:missing|passed back|required)\b"
    r"|\bmissing reasoning content\b"
)
_WORDS = re.compile(
    rf"{_KEPT}.{{0,120}}?{_WRONG}|{_WRONG}.{{0,60}}?{_KEPT}|{_PAIRS}|{_LEFT_OUT}", re.IGNORECASE
)


def refuses_history(text: str, code: str = "") -> bool:
    """Return whether a provider refused a conversation for its own reasoning or calls.

    Args:
        text: the provider's error text.
        code: the provider's error code.
    """
    words = _CAMEL.sub(" ", f"{code[:LONGEST]}. {text[:LONGEST]}")
    return _WORDS.search(_MARKS.sub(" ", words)) is not None
