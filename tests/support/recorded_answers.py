"""Answers of a real model, from the transcripts of recorded runs in an archive.

python tests/support/recorded_answers.py ARCHIVE    count the calls that are read today
"""

import json
import sys
import tarfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from generated_calls import TOOLS

from harness.models.text_tools.arguments import without_fence
from harness.models.text_tools.reader import read_calls
from harness.python_source import parse_or_none


class Answer(NamedTuple):
    """An answer: its run, its text, and whether the token limit cut it off."""

    run: str
    text: str
    cut_off: bool


def answers(archive: Path) -> Iterator[Answer]:
    """Yield the answers of every run in an archive, as the model wrote them."""
    with tarfile.open(archive) as members:
        for member in members:
            file = members.extractfile(member) if "/transcripts/" in member.name else None
            for line in file or ():
                event = json.loads(line)
                if event["event"] != "response":
                    continue
                turn = event["response"]
                original_texts = [
                    block["said"] for block in turn.get("reasoning", ()) if "said" in block
                ]
                text = original_texts[0] if original_texts else turn.get("text", "")
                cut_off = turn["stop"]["reason"] == "max_tokens"
                run = member.name.removeprefix("./").partition("/")[0]
                yield Answer(run, text, cut_off)


def counted(archive: Path) -> Counter[tuple[str, str]]:
    """Count the calls of `write_solution` by run: all, those with code, those that parse."""
    counts: Counter[tuple[str, str]] = Counter()
    for answer in answers(archive):
        for call in read_calls(answer.text, TOOLS, cut_off=answer.cut_off).calls:
            if call.name != "write_solution":
                continue
            counts[answer.run, "calls"] += 1
            try:
                code = json.loads(call.arguments)["code"]
            except (ValueError, KeyError):
                continue
            counts[answer.run, "read"] += 1
            counts[answer.run, "Python"] += parse_or_none(without_fence(code)) is not None
    return counts


if __name__ == "__main__":
    for (run, what), number in sorted(counted(Path(sys.argv[1])).items()):
        print(f"{run:12} {what:8} {number:5}")
