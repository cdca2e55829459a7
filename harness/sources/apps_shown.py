"""Which tests of an APPS problem its statement shows, be it a program's or a function's."""

import json
from collections.abc import Sequence
from typing import cast

from harness.problem import TestCase
from harness.sources.apps.apps_tests import Suite
from harness.sources.apps.statement_tests import Examples
from harness.sources.signature import entry_point_of
from harness.sources.statement_examples import MAX_EXAMPLE_CHARACTERS, examples, in_order

_LONGEST_INTEGER = 4_000
"""Digits that `int` takes under the interpreter's own bound; no statement shows a longer one."""


def shown(statement: str, starter_code: str, suite: Suite) -> list[bool]:
    """For each test of a suite, whether the statement shows its input and its output."""
    if suite.entry_point is None:
        programs = Examples(statement)
        return [programs.show(test.input, test.output) for test in suite.tests]
    found = entry_point_of(starter_code, suite.entry_point)
    calls = _calls(statement, found.parameters if found else ())
    return [_value_of_test(test) in calls for test in suite.tests]


def _calls(statement: str, parameters: Sequence[str]) -> list[object]:
    """The examples of a statement, each as its arguments in order and the result."""
    calls: list[object] = []
    for example in examples(statement):
        # Without parameters to name them by, the arguments are taken in the statement's order.
        names = parameters or ("",) * len(example.arguments)
        arguments = in_order(example, names)
        if arguments is not None:
            calls.append([*arguments, example.expected])
    return calls


def _value_of_test(test: TestCase) -> object:
    """A test likewise; a value that equals nothing when it is larger than any example."""
    if len(test.input) + len(test.output) > MAX_EXAMPLE_CHARACTERS:
        return object()
    lines = [*(test.input.split("\n") if test.input else ()), test.output]
    try:
        return [_without_quotes(json.loads(line, parse_int=_integer)) for line in lines]
    except (ValueError, RecursionError):
        return object()


def _integer(digits: str) -> int | str:
    return int(digits) if len(digits) < _LONGEST_INTEGER else digits


def _without_quotes(value: object) -> object:
    """A value whose strings are without the quotes that APPS took over from LeetCode's examples."""
    if isinstance(value, str) and len(value) > 1 and value[0] == value[-1] == '"':
        return value[1:-1]
    if isinstance(value, list):
        return [_without_quotes(item) for item in cast("list[object]", value)]
    return value
