"""Problems and scripted models for `harness tune`, whose answers depend on the prompt's words.

The problems ask to echo a word. The model solves some of them always, and others where the prompt
has a certain phrase. The model for reflection adds a phrase to the template that it is shown; which
one depends on what it is shown alone, so that an interrupted search is asked the same again.
"""

import hashlib
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from chat_server import Json, Reply, completion

HELPFUL = "Check the edge cases."
USELESS = ("Think step by step.", "Be brief.", "You are the best programmer.", "Take your time.")
BROKEN = "{{ problem.solution }}"
REFLECTION = "reflecting"
MODEL = "solving"
HIDDEN, EXPECTED, REFERENCE = "HIDDENINPUT", "HIDDENOUTPUT", "REFERENCEWORD"
"""Canaries in hidden tests, their expected outputs, and references."""

Solves = Callable[[int, str], bool]
"""Whether the model solves a problem, by its number and the prompt."""


def write_problems(folder: Path, number: int) -> None:
    """Write `p.jsonl`, with a public and a hidden test and a reference for each problem."""
    with (folder / "p.jsonl").open("w") as file:
        for k in range(number):
            code = f"# {REFERENCE}\nw = input()\nprint(w.replace('INPUT', 'OUTPUT'))"
            row = {
                "id": f"e{k}",
                "title": f"Echo {k}",
                "statement": "Echo a word with INPUT as OUTPUT.",
                "release_date": f"2025-01-{1 + k % 28:02}",
                "tests": [
                    {"input": f"w{k}", "output": f"w{k}", "public": True},
                    {"input": f"{HIDDEN}{k}", "output": f"{EXPECTED}{k}", "public": False},
                ],
                "references": [code],
            }
            file.write(json.dumps(row) + "\n")


def planted(problem: int, prompt: str) -> bool:
    """Solve a third of the problems, and another third with the helpful phrase."""
    return problem % 3 == 0 or (HELPFUL in prompt and problem % 3 == 1)


def by_chance(problem: int, prompt: str) -> bool:
    """Solve half of the problems, other ones for each prompt."""
    return hashed(f"{problem}:{prompt}") % 2 == 0


def hashed(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8])


class TuningModels:
    """The script of a loopback server for both models.

    Args:
        solves: which problems the model solves.
        phrases: what the reflection model adds, one of these; rules with a number among them if
            there are others as well.
        others: such rules, for each of the phrases.
        seed: which of them it adds when.
        fresh: whether it says something new when it is shown the same again, as a model does that
            samples; an interrupted search is then not asked the same again.
    """

    def __init__(
        self,
        solves: Solves = planted,
        phrases: Sequence[str] = (HELPFUL, *USELESS),
        others: int = 0,
        seed: int = 0,
        *,
        fresh: bool = False,
    ) -> None:
        self.solves, self.phrases, self.others, self.seed = solves, phrases, others, seed
        self.fresh, self._proposals = fresh, 0

    def __call__(self, body: Json, number: int) -> Reply:
        del number
        text = text_of(body)
        tokens = {"prompt_tokens": len(text) // 4, "completion_tokens": 20}
        if body["model"] == REFLECTION or "<template>" in text:
            return completion(self.proposal(text), usage=tokens)
        return completion(f"```python\n{self.program(body)}\n```", usage=tokens)

    def program(self, body: Json) -> str:
        """Return a program that is right, or passes the public test only, or none."""
        problem = int(re.search(r"Echo (\d+)", text_of(body))[1])  # type: ignore[index]
        if self.solves(problem, body["messages"][0]["content"] + self._own_words(body)):
            return "w = input()\nprint(w.replace('INPUT', 'OUTPUT'))"
        return "print(input())" if problem % 2 else "print(0)"

    @staticmethod
    def _own_words(body: Json) -> str:
        """Return what follows the problem, where proposals add their phrases."""
        return body["messages"][1]["content"].rpartition("```")[2]

    def proposal(self, prompt: str) -> str:
        """Return what the reflection model answers."""
        template = prompt.split("<template>\n", 1)[1].split("\n</template>", 1)[0]
        self._proposals += self.fresh
        number = hashed(f"{self.seed}:{self._proposals}:{prompt}")
        place = number % ((self.others + 1) * len(self.phrases))
        rule = f"Mind rule {number % 9973}."
        phrase = self.phrases[place] if place < len(self.phrases) else rule
        return f"It should be told more.\n<template>\n{template}\n{phrase}\n</template>"


def text_of(body: Json) -> str:
    """Return all that a request says."""
    return "\n".join(str(message["content"]) for message in body["messages"])


def flags(base_url: str | None, **more: Any) -> list[str]:
    """Return the flags of a small tuning: single shots at few problems."""
    given = {
        "model": MODEL,
        "reflection_model": REFLECTION,
        "base_url": base_url,
        "benchmark": "jsonl:p.jsonl",
        "mode": "single_shot",
        "train": 6,
        "selection": 6,
        "test": 9,
        "max_evaluations": 30,
        "workers": 1,
        "out": "mine",
        **more,
    }
    named = ((f"--{key.replace('_', '-')}", value) for key, value in given.items())
    return [str(each) for name, value in named if value is not None for each in (name, value)]
