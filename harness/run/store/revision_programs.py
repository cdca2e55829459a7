"""The programs of a sample's revisions, found in the model's answers by their hashes."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache

from harness.agent.events import Response
from harness.agent.extraction.code import Extract
from harness.agent.extraction.fences import extractor_of
from harness.languages.program_key import code_hash
from harness.markdown import fenced_blocks
from harness.models.protocol import ModelTurn, ToolSpec
from harness.models.text_tools.arguments import without_fence
from harness.models.text_tools.salvage import text_in_call
from harness.registry import HAND_IN, resolve
from harness.run.store.call_arguments import fields
from harness.text import writable
from harness.tools.revision import Revision
from harness.tools.toolbox import Toolbox


def programs_of(
    turns: Iterable[ModelTurn],
    steps: Iterable[Revision],
    extract: Extract,
    entry_point: str | None = None,
) -> dict[str, str]:
    """Return the program of each revision by its hash, as far as some answers hold them.

    Args:
        turns: the answers.
        steps: the revisions, as in a result.
        extract: the rule that finds code in an answer.
        entry_point: name of the problem's function, if it has one.
    """
    wanted = {step.code_hash for step in steps}
    texts = (text for turn in turns if wanted for text in programs_in(turn, extract, entry_point))
    return {name: text for text in texts if (name := code_hash(text)) in wanted}


def revision_in(event: Response, steps: Iterable[Revision], language: str | None) -> str:
    """Return the newest of some revisions that an answer holds; empty if it holds none.

    Args:
        event: the answer.
        steps: the revisions, as in a result.
        language: language of solutions; None for Python.
    """
    own = [step for step in steps if step.turn == event.turn]
    found = programs_of([event.response], own, extractor_of(language))
    codes = [found.get(step.code_hash or "", "") for step in own]
    return next(filter(None, reversed(codes)), "")


def programs_in(turn: ModelTurn, extract: Extract, entry_point: str | None) -> Iterator[str]:
    """Yield every text of an answer that may be a solution: those in its calls and in its words."""
    from harness.models.text_tools.reader import read_calls  # few pages and reports need it

    spoken = read_calls(turn.text, _hand_in(), known_only=True)
    for call in (*turn.tool_calls, *spoken.calls):
        meant = {text_in_call(call.arguments, key) for key in ("code", "answer")}
        plain = (each for each in fields(call.arguments).values() if isinstance(each, str))
        for text in {*meant, *plain}:
            yield from map(writable, (text, without_fence(text), text.strip(), text.strip("\n")))
    for text in (turn.text, spoken.text):
        yield writable(extract(text, entry_point).code)
        yield from (writable(block.text) for block in fenced_blocks(text))


@cache
def _hand_in() -> Sequence[ToolSpec]:
    """Return the tools that hand in a solution, as a model sees them."""
    return Toolbox([resolve(target)() for target in HAND_IN.values()]).specs
