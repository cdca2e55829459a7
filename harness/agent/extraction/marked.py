"""Code that an answer marks without a fence: between tags, or in a JSON object."""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, cast

from harness.markdown import fenced_blocks
from harness.models.text_tools.repair import Unreadable, fields_of, repaired_value, strict_value

JSON_TAGS = frozenset({"", "json", "jsonc", "json5"})
KEYS = (
    *("code", "solution", "program", "source", "source_code", "python", "python_code", "cpp"),
    *("answer", "final_code", "final_answer", "solution_code", "implementation", "script"),
)
"""Keys of an object whose text is the code, the likeliest first."""
DEEPEST = 3  # objects within one another
MOST_TAGGED = 16

_TAGS = re.compile(
    r"\[(?P<square>PYTHON3?|CODE|CPP|C\+\+|SOLUTION)\](?P<in_square>.*?)(?:\[/(?P=square)\]|\Z)"
    r"|<(?P<pre>pre)\b[^>\n]{0,100}>(?P<in_pre>.*?)(?:</pre>|\Z)"
    r"|<(?P<angle>code|python|py|solution|program|cpp|script)\b[^>\n]{0,100}>(?P<in_angle>.*?)"
    r"</(?P=angle)>",
    re.DOTALL | re.IGNORECASE,
)
_OBJECT = re.compile(r"^\{", re.MULTILINE)
_IN_PRE = re.compile(r"\s*<code\b[^>\n]{0,100}>(.*?)(?:</code>\s*)?\Z", re.DOTALL | re.IGNORECASE)


def tagged(text: str) -> list[str]:
    """Return the texts of several lines, or of statements, between tags; the last ones.

    The entities of HTML are resolved where the tags are HTML's.
    """
    found: list[str] = []
    for match in _TAGS.finditer(text):
        inner = match["in_square"] or match["in_angle"] or match["in_pre"] or ""
        if match["pre"]:
            code = _IN_PRE.match(inner)
            inner = html.unescape(inner if code is None else code[1])
        elif (match["angle"] or "").lower() == "code" and "\n" not in inner.strip():
            continue  # a name within a sentence
        elif (match["angle"] or "").lower() == "code" and "&" in inner and "<" not in inner:
            inner = html.unescape(inner)
        if inner.strip():
            found.append(inner.strip("\r\n"))
    return found[-MOST_TAGGED:]


def in_json(text: str, blocks: Iterable[str]) -> str:
    """Return the code in a JSON object that ends the text, or is one of its blocks; else nothing.

    Args:
        text: the answer.
        blocks: the blocks of it that may hold JSON.
    """
    begins = _OBJECT.search(text)
    own = "" if begins is None else text[begins.start() :]
    objects = (each.strip() for each in (own, *blocks))
    codes = [code for each in objects if each[:1] == "{" for code in _codes(_object(each), 0)]
    return codes[-1] if codes else ""


def _object(text: str) -> dict[str, Any]:
    value = strict_value(text, newlines=True)
    try:
        value = value or repaired_value(text)
    except Unreadable:
        return {}
    return (value.fields or {}) if not text[value.end :].strip() else {}


def _codes(fields: dict[str, Any], depth: int) -> Iterator[str]:
    """Yield the text of the likeliest key, without a fence around it."""
    if depth > DEEPEST:
        return
    folded = {key.casefold().replace(" ", "_").replace("-", "_"): key for key in fields}
    for key in KEYS:
        value = fields.get(folded.get(key, ""))
        inner = fields_of(value)
        if inner is not None:
            yield from _codes(inner, depth + 1)
        elif code := _text(value):
            yield code
            return


def _text(value: Any) -> str:
    """Return the code in a value: a text, or its lines."""
    lines: Sequence[Any] = cast("list[Any]", value) if isinstance(value, list) else [value]
    if not lines or not all(isinstance(line, str) for line in lines):
        return ""
    text = "\n".join(str(line).rstrip("\n") for line in lines) if len(lines) > 1 else str(lines[0])
    blocks = fenced_blocks(text)
    return blocks[-1].text if blocks else text
