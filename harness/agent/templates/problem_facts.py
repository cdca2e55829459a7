"""Facts of a problem that a prompt should contain, and a check for missing ones."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from harness.problem import Codec, ProblemView, shows_output

COMPARED = 80
"""Characters of a long text that are looked for: the rest may be cut on purpose."""
_STDIN = re.compile(r"\bstdin\b|standard input|\binput\(", re.IGNORECASE)
_STDOUT = re.compile(r"\bstdout\b|standard output|\bprint", re.IGNORECASE)
_IN_PLACE = re.compile(r"in[- ]place|first argument", re.IGNORECASE)


class Missing(NamedTuple):
    """A missing fact.

    Attributes:
        description: description of the fact.
        needed: whether the problem cannot be solved without it.
    """

    description: str
    needed: bool


def missing_facts(text: str, problem: ProblemView) -> Iterator[Missing]:
    """Yield the facts of a problem that an opening does not contain.

    Args:
        text: all text before the model's first turn.
        problem: the problem of the opening.
    """
    plain = _plain(text)
    if not _has(plain, problem.statement):
        yield Missing("the statement (problem.statement) does not appear", True)
    if problem.call:
        yield from _of_answer(plain, problem)
    elif problem.entry_point is None:
        if not (_STDIN.search(plain) and _STDOUT.search(plain)):
            yield Missing("nothing says that the program reads stdin and writes stdout", True)
    else:
        yield from _of_function(plain, problem)
    for test in problem.public_tests[:1]:
        shown = (test.input, test.output) if shows_output(problem.judge, test) else (test.input,)
        if not all(_has(plain, text) for text in shown):
            yield Missing("public tests (problem.public_tests) do not appear", False)


def _of_answer(plain: str, problem: ProblemView) -> Iterator[Missing]:
    if not _has(plain, problem.call):
        yield Missing("the call that is asked about (problem.call) does not appear", True)
    if not _has(plain, problem.code):
        yield Missing("the program that is called (problem.code) does not appear", True)


def _of_function(plain: str, problem: ProblemView) -> Iterator[Missing]:
    name = problem.entry_point or ""
    heads = [line for line in problem.starter_code.splitlines() if _is_head(line, name)]
    if not all(_has(plain, line) for line in heads):
        yield Missing("the starter code (problem.starter_code) does not appear", True)
    if not re.search(rf"\b{re.escape(name)}\b", plain):
        yield Missing("the name of the function (problem.entry_point) does not appear", True)
    if problem.signature.result is Codec.FIRST_ARGUMENT and not _IN_PLACE.search(plain):
        yield Missing("nothing says that the function changes its first argument in place", False)


def _is_head(line: str, name: str) -> bool:
    """Whether a line declares a class, or a function, in C++ the one of that name."""
    if line.rstrip().endswith("{") and f"{name}(" in line:
        return True
    return line.lstrip().startswith(("def ", "class ", "async def "))


def _has(plain: str, fact: str) -> bool:
    return _plain(fact)[:COMPARED] in plain


def _plain(text: str) -> str:
    return " ".join(text.split())
