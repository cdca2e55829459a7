"""Recognition of errors that say a conversation does not fit the model's context window.

Every server has its own sentence, and changes it. So no sentences are compared: an error is an
overflow if one of its sentences

- names the context, and that something is too much for it;
- names the conversation (prompt, input, messages), a length, and that it is too much;
- or names either with a number of tokens that is larger than the limit beside it.

Status 413 says the same in HTTP's own terms. Not an overflow are limits of tokens a minute, prices,
images, queues and time, fields other than the conversation's text, and a `max_tokens` that no
conversation could satisfy: that is an error of the user's settings.
"""

import re
from enum import StrEnum

from harness.models.tool_refusals import LONGEST

TOO_LARGE = 413
STATUSES = frozenset({400, TOO_LARGE, 422})
FIRST_SERVER_STATUS = 500
LEAST_TOKENS = 256  # a smaller number is not a count of a conversation's tokens
MOST_DIGITS = 12
_URL = re.compile(r"https?://\S+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3})")
_K = re.compile(r"(?<=\d)k\b")
_MARKS = re.compile(r"[_`'\"*\\-]+")
_SPACE = re.compile(r"\s+")
_SENTENCE = re.compile(r"(?<=[.!?;。])\s|\n")
# Beginnings that name the input without meaning the conversation.
_PREAMBLE = re.compile(
    r"input validation error|(?:malformed|invalid|bad) (?:input|request|params?|argument)"
    r"|input should be"
)
# The field that limits the answer, by its names in the protocols.
_OUTPUT = re.compile(
    r"\bmax(?:imum)? (?:new |output |completion |generated |generation )?tokens\b"
    r"|\b(?:output|completion) tokens\b"
)
OUT = "OUT"
_CONTEXT = re.compile(
    r"\bcontext (?:length|window|size|limit|budget|capacity|tokens?|overflow\w*)\b|\bn ctx\b"
    r"|\btokens? limit\b|\b(?:max )?(?:model|session|seq(?:uence)?) len(?:gth)?\b"
    r"|\bmodel capacity\b|\bmax (?:num|total|seq) (?:tokens|len)\b|\bcontext\b(?=.*\boverflow)"
    r"|上下文"
)
_CONVERSATION = re.compile(
    r"\b(?:prompts?|inputs?|messages?|conversation|chat|history|contents?)\b"
    r"|(?<!max )\btotal tokens\b|\btoken count\b|输入|提示|对话"
)
_REQUEST = re.compile(r"\brequest(?:ed)?\b.*\btokens?\b.*\d|\btokens?\b.*\brequest(?:ed)?\b.*\d")
_LENGTH = re.compile(
    r"\b(?:tokens?|lengths?|long|longer|len|size|characters?|chars|context(?! cach))\b"
    r"|\btoo (?:large|big)\b|长|token"
    rf"|(?:\band|\+|\bplus) {OUT}\b|\b{OUT} (?:and\b|\+|plus\b)"
)
_EXCESS = re.compile(
    r"exceed|(?<!took )(?<!taking )\btoo (?:long|large|big|many)\b"
    r"|\b(?:longer|larger|greater|bigger|more|higher) than\b|overflow|\bover the\b|\babove the\b"
    r"|\bbeyond\b|\bnot enough\b|\b(?:not|n t|cannot) (?:be )?fit\b|\b(?:less|fewer|shorter) than\b"
    r"|\bat most\b|<=?|>|\brange\b|\breduce\b|\bshorten\b|\breached\b|\b(?:full|no room)\b"
    r"|\bmaximum (?:context|prompt|input|model|sequence)\b|超|过长|太长"
)
_BOUND = re.compile(
    r"(?:\bmax(?:imum)?\b|\blimit\w*\b|\bat most\b|\bonly\b|\bup to\b|\bsupports?\b|<=?"
    r"|\bcontext (?:length|window|size)\b)"
    rf"[^\d.;]{{0,40}}\b(\d{{1,{MOST_DIGITS}}})\b"
)
_NUMBER = re.compile(rf"\b\d{{1,{MOST_DIGITS}}}\b")
_TOKENS = re.compile(r"\btokens?\b")
# Whole errors; the first is llama.cpp's old one for a full context.
_COMPLETE = re.compile(r"\bcontext shift is disabled\b|\btoo many tokens\b")
# vLLM's old error: what is left for the answer, if that is negative.
_NOTHING_LEFT = re.compile(r"\bmax_(?:completion_)?tokens\b.{0,40}\bgot -\d")
# Limits of the account, the load and the time; in the whole text.
_OTHER_LIMIT = re.compile(
    r"\bper (?:second|min(?:ute)?|hour|day|month)\b|\b[rti]p[md]\b|\brate limit|\bquota|throttl"
    r"|\btoo many requests\b|\bconcurren|\bqueue|\bplease wait\b|\bdeadline\b|\btime ?d? ?out\b"
    r"|\bcredits?\b|\bafford|\bbilling\b|\bbalance\b"
)
_MEDIA = re.compile(r"\bimages?\b|\bpixels?\b|\baudio\b|\bvideo\b|\bpdfs?\b|\bfiles?\b")
# A field of the request that an error names; its last part says what is too long.
_FIELD = re.compile(
    r"\binvalid ['\"`]([\w.\[\]]{1,200})['\"`]"
    r"|\b((?:body|messages|input|contents|tools)(?:\[\d+\]|\.\w+){1,20})",
    re.IGNORECASE,
)
_TEXT_FIELDS = frozenset(
    {"content", "contents", "text", "input", "inputs", "output", "prompt", "messages", "parts"}
)
# The answer's token limit, and that of the context: "OUT is too large: 9000", "1000 OUT", "4000 in
# the completion", "188240 + 21333 > 200000"; "maximum context length is 8192", "<= 4096".
_ASKED = re.compile(
    rf"\b{OUT}(?: or {OUT})?(?: is)?(?: too large)? ?[=:(] ?(\d{{1,{MOST_DIGITS}}})\b"
    rf"|\b(\d{{1,{MOST_DIGITS}}}) {OUT}\b"
    rf"|\b(\d{{1,{MOST_DIGITS}}})(?: tokens)? (?:in|for|of)? ?(?:the )?(?:completion|output)\b"
    rf"|\+ (\d{{1,{MOST_DIGITS}}}) >"
)
_ALLOWED = re.compile(
    r"(?:\bcontext (?:length|limit|window|size)(?: is| of)?(?: only)?|<=|>|\b(?:num|total) tokens"
    rf"|\b(?:model|session) len(?:gth)?(?: of)?)[ (:=]{{0,3}}(\d{{1,{MOST_DIGITS}}})\b"
)


class Excess(StrEnum):
    """What is too large for the context window."""

    CONVERSATION = "conversation"
    ASKED = "asked"  # the answer's token limit alone


def excess(status: int | None, text: str, code: str = "") -> Excess | None:
    """Return what is too large for the context window; None for any other error.

    Args:
        status: the HTTP status; None for an error without one.
        text: the provider's error text.
        code: the provider's error code.
    """
    failed = status is not None and status >= FIRST_SERVER_STATUS
    if status is not None and not failed and status not in STATUSES:
        return None
    text = text[:LONGEST]
    plain = _plain(f"{code[:LONGEST]}. {text}")
    if _OTHER_LIMIT.search(plain):
        return None
    if status == TOO_LARGE or _NOTHING_LEFT.search(text):
        return Excess.CONVERSATION
    if _of_another_field(text):
        return None
    if _only_the_answer(plain):
        return Excess.ASKED
    says_so = any(_says_so(sentence, failed=failed) for sentence in _sentences(plain))
    return Excess.CONVERSATION if says_so or (not failed and _counts_say_so(_plain(text))) else None


def _sentences(plain: str) -> list[str]:
    """Return the sentences, without those about images."""
    sentences = _SENTENCE.split(plain)
    return [each for each in sentences if not _MEDIA.search(each) or _TOKENS.search(each)]


def _plain(text: str) -> str:
    """Return the text in lower case and words, the answer's token limit as `OUT`."""
    text = _CAMEL.sub(" ", _URL.sub(" ", text)).lower()
    text = _SPACE.sub(" ", _MARKS.sub(" ", _K.sub("000", _THOUSANDS.sub("", text))))
    return _OUTPUT.sub(OUT, _PREAMBLE.sub(" ", text))


def _of_another_field(text: str) -> bool:
    """Return whether the error is about a field that is not the conversation's text."""
    fields = [match[1] or match[2] for match in _FIELD.finditer(text)]
    last = [re.split(r"[.\[\]]+", field.rstrip("]0123456789["))[-1].lower() for field in fields]
    return bool(last) and not any(name in _TEXT_FIELDS or name.isdigit() for name in last)


def _only_the_answer(plain: str) -> bool:
    """Return whether the answer's token limit is too large for any conversation."""
    if OUT in plain and not _CONVERSATION.search(plain):
        return _EXCESS.search(plain) is not None
    asked, allowed = _ASKED.search(plain), _ALLOWED.search(plain)
    if asked is None or allowed is None:
        return False
    return int(next(filter(None, asked.groups()))) >= int(allowed[1])


def _says_so(sentence: str, *, failed: bool) -> bool:
    """Return whether a sentence says that the conversation is too long."""
    if _COMPLETE.search(sentence):
        return True
    if not _EXCESS.search(sentence):
        return False
    if _CONTEXT.search(sentence):
        return True
    named = _CONVERSATION.search(sentence) or (not failed and _REQUEST.search(sentence))
    return bool(named) and _LENGTH.search(sentence) is not None


def _counts_say_so(plain: str) -> bool:
    """Return whether a text about a conversation's tokens has a number beyond its limit."""
    if not _TOKENS.search(plain) or not (_CONVERSATION.search(plain) or _CONTEXT.search(plain)):
        return False
    numbers = [int(number[0]) for number in _NUMBER.finditer(plain)]
    limits = [int(bound[1]) for bound in _BOUND.finditer(plain)]
    return any(LEAST_TOKENS <= limit < max(numbers) for limit in limits)
