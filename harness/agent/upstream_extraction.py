"""LiveCodeBench's own way to find a solution in an answer, for scores comparable with its own."""

from types import MappingProxyType

from harness.agent.extraction.code import LONGEST_ANSWER, Extract, Extraction, extract

FENCE = "```"


def extract_lcb(answer: str, entry_point: str | None) -> Extraction:
    """The lines between the last two that contain three backticks; nothing where there are fewer.

    Source: `extract_code` in `lcb_runner/utils/extraction_utils.py` of
    https://github.com/LiveCodeBench/LiveCodeBench, for models that chat. A summary in a block of
    its own after the solution is thus taken for it, and a block that is cut short is not found.

    Args:
        answer: what the model wrote.
        entry_point: makes no difference here.
    """
    del entry_point
    if len(answer) > LONGEST_ANSWER:
        return Extraction(code="", rule="too long")
    lines = answer.split("\n")
    fences = [number for number, line in enumerate(lines) if FENCE in line]
    if len(fences) < 2:  # noqa: PLR2004 - one to open, one to close
        return Extraction(code="", rule="none")
    return Extraction(code="\n".join(lines[fences[-2] + 1 : fences[-1]]), rule="last two fences")


EXTRACTORS: MappingProxyType[str, Extract] = MappingProxyType(
    {"harness": extract, "lcb": extract_lcb}
)
"""By the names that users know them by."""
