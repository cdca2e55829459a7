"""Code in what a model said: in its messages, and in calls that failed.

It is the solution of a model that has handed in nothing.
"""

from collections.abc import Sequence
from typing import NamedTuple

from harness.agent.attempt import Session
from harness.agent.extraction.code import Extraction
from harness.models.protocol import ModelTurn, ToolMessage
from harness.models.text_tools.calls import sole_text
from harness.models.text_tools.salvage import text_in_call
from harness.text import writable

FAILED_CALL = "failed call"
"""Rule of an extraction from a call."""
NOTHING = Extraction(code="", rule="none")


class Said(NamedTuple):
    """A message of the model, or the arguments of a call that failed."""

    text: str
    call: bool = False


class SaidCode:
    """What the model said in one sample, and the last code in it.

    Args:
        session: the sample's session, with its tools and its rule of extraction.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._said: list[Said] = []
        specs = session.toolbox.specs
        self._tool = next((spec for spec in specs if sole_text(spec)), None)
        self._key = (sole_text(self._tool) if self._tool else None) or ""

    def add(self, turn: ModelTurn, results: Sequence[ToolMessage] = ()) -> None:
        """Keep an answer, and those of its calls that failed and may hold a solution."""
        self._said.append(Said(turn.text))
        for call, result in zip(turn.tool_calls, results, strict=False):
            spec = self._session.toolbox.spec(call.name)
            if result.malformed and spec in (None, self._tool):
                self._said.append(Said(call.arguments, call=True))

    def last(self) -> Extraction:
        """Return the last code; empty if there is none."""
        extractions = (self._code_in(turn) for turn in reversed(self._said))
        return next((each for each in extractions if each.code), NOTHING)

    def in_text(self, text: str) -> Extraction:
        """Return the code in a message."""
        return self._session.extract(text, self._session.problem.entry_point)

    def _code_in(self, turn: Said) -> Extraction:
        if turn.call:
            code = text_in_call(turn.text, self._key)
        else:
            from harness.models.text_tools.reader import read_calls  # few runs need it

            calls = read_calls(turn.text, self._session.toolbox.specs, known_only=True).calls
            own = [call for call in calls if self._tool and call.name == self._tool.name]
            code = text_in_call(own[-1].arguments, self._key) if own else ""
        if code.strip():
            return Extraction(code=writable(code.strip("\n")), rule=FAILED_CALL)
        return NOTHING if turn.call else self.in_text(turn.text)
