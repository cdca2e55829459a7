"""A text that is searched for calls, and readers of the bodies of calls in it.

A body is read from its beginning as JSON, so that markers inside its strings do not end it. Where
that fails, it ends at one of the next few markers: at the first where it can be repaired. The
number of bodies, and of characters read for repairs, is bounded, so that time is linear in the
length of the text.
"""

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple, TypeVar

from harness.models.text_tools.arguments import End, read_object
from harness.models.text_tools.calls import (
    MISSING,
    MOST_CALLS,
    Known,
    ParsedCall,
    calls_of,
    text_of,
    tool_name,
)
from harness.models.text_tools.quoted import between_quotes
from harness.models.text_tools.repair import Unreadable, is_source, repaired_value, strict_value

MOST_ENDS = 16
"""Markers that are tried as the end of one body."""
MOST_BODIES = 512
"""Bodies read in one text."""
MOST_REPAIRED = 4
"""How often a text may be read for repairs, beside `ANY_REPAIRED` characters."""
ANY_REPAIRED = 1 << 16
NEAR = 200
"""Characters between the end of some JSON and the marker that belongs to it."""

_JSON = re.compile(r"\{|\[\s*+[\[{\]]")
_BETWEEN = re.compile(r"[\s,;]*+")
_REST = re.compile(r"[\s,;}\]]*+\Z")
_NEAR_REST = re.compile(r"[\s,;}\]]*+")
_SUSPECT = re.compile(r"[ \t}\])]*+[\"'\\)]")  # the JSON ended within a string of the code
_FENCE = re.compile(r"\s*+(`{3,}|~{3,})\w{0,20}[ \t]*+\r?\n?")
_NAME = re.compile(
    r"[\"'](?:name|tool|tool_name|action)[\"']\s*+:\s*+[\"']([^\"'\\\n]{1,100})[\"']"
)
_ARGUMENTS = re.compile(
    r"[\"'](?:arguments|parameters|args|input|tool_input|action_input)[\"']\s*+:\s*+"
)
_NEXT_CALL = re.compile(
    r"^[ \t]*+[\[,]?[ \t]*+(?=\{\s{0,20}+[\"'](?:name|tool|type)[\"'])", re.MULTILINE
)

T = TypeVar("T")


class Region(NamedTuple):
    """A body without its markers: its end, where the text goes on, whether a marker closes it."""

    stop: int
    after: int
    closed: bool = True


Ends = Callable[[str, int, int], Iterator[Region]]
"""Yields where a body may end, given a text, the body's beginning and the last place to look."""


@lru_cache(maxsize=256)
def closed_by(pattern: str) -> Ends:
    """Return the ends at matches of a pattern."""
    compiled = re.compile(pattern)

    def ends(text: str, at: int, stop: int) -> Iterator[Region]:
        for match in compiled.finditer(text, at, stop):
            yield Region(match.start(), match.end())

    return ends


class Source:
    """A text, the tools that may be called in it, and how much of it may still be read.

    Args:
        text: the model's text.
        known: the tools.
        cut_off: whether the text ended at the token limit, so that an unclosed body is broken.
    """

    def __init__(self, text: str, known: Known, *, cut_off: bool = False) -> None:
        self.text = text
        self.known = known
        self.cut_off = cut_off
        self._bodies = MOST_BODIES
        self._repaired = MOST_REPAIRED * len(text) + ANY_REPAIRED
        self.unclosed: set[str] = set()  # openings of thoughts that no closing follows
        self._open: dict[Ends, int] = {}  # from where on a text has no more of these ends

    def regions(self, at: int, ends: Ends) -> list[Region]:
        """Return the regions that a body may have, the shortest first; at least one."""
        if at < self._open.get(ends, len(self.text)):
            regions = list(islice(ends(self.text, at, len(self.text)), MOST_ENDS))
            if regions:
                return regions
            self._open[ends] = at
        return [Region(len(self.text), len(self.text), closed=False)]

    def end_of(self, text: str, region: Region) -> End:
        """Return what is known of the end of a body; without any bracket it has broken off.

        Where the message was cut off, a marker may be part of the code.
        """
        if region.closed and not self.cut_off:
            return End.MARKED
        bracket = text.rstrip().endswith(("}", "]", ")"))
        return End.OPEN if bracket and region.closed is self.cut_off else End.CUT_OFF

    def skip_blank(self, at: int) -> int:
        """Return the place of the next letter that is no space."""
        while at < len(self.text) and self.text[at].isspace():
            at += 1
        return at

    def past(self, at: int, ends: Ends) -> int:
        """Return where the text goes on after a body: behind its marker, if one follows."""
        first = next(ends(self.text, at, min(len(self.text), at + NEAR)), None)
        if first is None or _NEAR_REST.fullmatch(self.text, at, first.stop) is None:
            return at
        return first.after

    def json_calls(self, at: int, ends: Ends) -> tuple[tuple[ParsedCall, ...], int]:
        """Return the calls in the JSON that begins there, and where it ends.

        A call that cannot be read is the last one, with its arguments as they were written. The
        end is the beginning if there is no JSON.
        """
        if _JSON.match(self.text, at) is None or not self._may_read():
            return (), at
        values, end, sound = self._strict(at)
        calls = calls_of(values, self.known)
        if sound or (values and not calls):
            return calls, self.past(end, ends) if values else at
        if not self.may_repair(0):
            return calls, end if calls else at
        rest = self.first_read(end, ends, self._repaired_calls)
        if rest is not None:
            return calls + rest[0], rest[1].after
        region = self.regions(end, ends)[0]
        broken = self._broken_call(self.text[end : region.stop])
        if broken is None:
            return calls, end if calls else at
        return (*calls, broken), region.after

    def arguments(self, name: str, at: int, ends: Ends) -> tuple[str, int]:
        """Return the arguments that begin there as JSON text, and where the text goes on.

        They may be within a fence. Broken ones are returned as they were written.
        """
        fence = _FENCE.match(self.text, at)
        if fence is not None:
            begin, marks = fence.end(), fence[1]
            arguments, end = self._arguments(name, begin, closed_by(rf"\s*{marks}`*+"))
            return arguments, self.past(end, ends)
        return self._arguments(name, at, ends)

    def text_until(self, at: int, ends: Ends, *, code: bool) -> tuple[str, Region]:
        """Return a text up to its marker.

        Code that holds such a marker itself ends at the first one where it is source code. Where
        the message was cut off, other code counts as broken off.
        """
        regions = self.regions(at, ends)
        if code and (self.cut_off or len(regions) > 1):
            for region in regions:
                text = self.text[at : region.stop]
                if self.may_repair(len(text)) and is_source(text):
                    return text, region
            if self.cut_off:
                regions = [Region(len(self.text), len(self.text), closed=False)]
        return self.text[at : regions[0].stop], regions[0]

    def first_read(
        self, at: int, ends: Ends, read: Callable[[str, End], T | None]
    ) -> tuple[T, Region] | None:
        """Return what is read of the first region of which anything can be.

        Regions that end with a bracket come first: a marker may stand within the code.
        """
        regions = self.regions(at, ends)
        regions.sort(key=lambda region: not self._ends_with_bracket(at, region.stop))
        for region in regions:
            if not self.may_repair(region.stop - at):
                return None
            text = self.text[at : region.stop]
            block = read(text, self.end_of(text, region))
            if block is not None:
                return block, region
        return None

    def _may_read(self) -> bool:
        self._bodies -= 1
        return self._bodies >= 0

    def may_repair(self, size: int) -> bool:
        """Return whether so many characters may still be read for a repair, and count them."""
        self._repaired -= size
        return self._repaired > 0

    def _arguments(self, name: str, at: int, ends: Ends) -> tuple[str, int]:
        at = self.skip_blank(at)
        strict = strict_value(self.text, at) if self._may_read() else None
        if strict is not None and _SUSPECT.match(self.text, strict.end) is None:
            return text_of(strict.value), self.past(strict.end, ends)
        tool = self.known.get(name)

        def read(text: str, end: End) -> str | None:
            try:
                return text_of(read_object(text, tool, end))
            except Unreadable:
                return None

        block = self.first_read(at, ends, read) if self.may_repair(0) else None
        if block is not None:
            return block[0], block[1].after
        region = self.regions(at, ends)[0]
        return self.text[at : region.stop].strip() or MISSING, region.after

    def _strict(self, at: int) -> tuple[list[Any], int, bool]:
        """Return the JSON values that begin there, where they end, and whether all are sound."""
        values: list[Any] = []
        while len(values) <= MOST_CALLS:
            between = _BETWEEN.match(self.text, at)
            begin = at if between is None else between.end()
            if self.text[begin : begin + 1] not in {"{", "["}:
                break
            value = strict_value(self.text, begin)
            if value is None or _SUSPECT.match(self.text, value.end):
                return values, begin, False
            values.append(value.value)
            at = value.end
        return values, at, True

    def _repaired_calls(self, text: str, end: End) -> tuple[ParsedCall, ...] | None:
        """Return the calls in a body that is not JSON; None if it cannot be repaired."""
        if end is End.CUT_OFF:
            value = strict_value(text, newlines=True)
            return None if value is None else calls_of([value.value], self.known) or None
        calls = self._calls_repaired(text)
        begins = [match.end() for match in islice(_NEXT_CALL.finditer(text), MOST_CALLS)]
        if calls or len(begins) <= 1:
            return calls or self._quoted_call(text, end)
        parts = [text[begin:end] for begin, end in zip(begins, [*begins[1:], None], strict=True)]
        each = [self._calls_repaired(part) or self._quoted_call(part, End.MARKED) for part in parts]
        return tuple(call for part in each if part for call in part) if all(each) else None

    def _calls_repaired(self, text: str) -> tuple[ParsedCall, ...] | None:
        values: list[Any] = []
        at = 0
        while len(values) <= MOST_CALLS:
            try:
                value = repaired_value(text, at)
            except Unreadable:
                return None
            values.append(value.value)
            between = _BETWEEN.match(text, value.end)
            at = value.end if between is None else between.end()
            if _REST.match(text, at):
                return calls_of(values, self.known) or None
        return None

    def _quoted_call(self, text: str, end: End) -> tuple[ParsedCall, ...] | None:
        """Return the call of a tool that takes one text, which stands between quotes."""
        named = _NAME.search(text)
        name = "" if named is None else tool_name(named[1], self.known)
        key = self.known[name].sole_text if name in self.known else None
        arguments = None if key is None else between_quotes(text, key, closed=end is End.MARKED)
        return None if arguments is None else (ParsedCall(name, text_of(arguments)),)

    def _broken_call(self, text: str) -> ParsedCall | None:
        """Return a call whose arguments cannot be read, as it was written."""
        named, begin = _NAME.search(text), _ARGUMENTS.search(text)
        name = None if named is None else tool_name(named[1], self.known)
        if name is None or (begin is None and name not in self.known):
            return None
        if begin is None:
            return ParsedCall(name, MISSING)
        written = text[begin.end() :]
        value = strict_value(written, newlines=True)
        if value is not None:
            return ParsedCall(name, text_of(value.value))
        return ParsedCall(name, written if written.strip() else MISSING)

    def _ends_with_bracket(self, at: int, stop: int) -> bool:
        while at < stop and self.text[stop - 1].isspace():
            stop -= 1
        return at < stop and self.text[stop - 1] in "}])"
