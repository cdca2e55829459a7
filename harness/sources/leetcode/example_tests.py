"""Tests from a statement's examples, for a function whose signature is known.

An example that does not fit the function makes no test: one with another number of arguments, one
that shows a node as a number, one of a class's calls.
"""

from collections.abc import Sequence
from typing import cast

from harness.problem import Codec, Signature, TestCase
from harness.sources.leetcode.assertions import plain, to_test
from harness.sources.leetcode.starter import Starter
from harness.sources.literals import Nodes, UnreadableError
from harness.sources.statement_examples import Example, in_order

_MANY = {Codec.LINKED_LISTS: Codec.LINKED_LIST, Codec.TREES: Codec.TREE}


def tests_of(
    shown: Sequence[Example], starter: Starter | None, signature: Signature
) -> tuple[TestCase, ...]:
    """Return the tests of a statement's examples, all public.

    Args:
        shown: examples of the statement.
        starter: function to call; None where it is unknown, which gives no tests.
        signature: signature of the function.
    """
    tests = [_test(example, starter, signature) for example in shown] if starter else []
    return tuple(test for test in tests if test is not None)


def _test(example: Example, starter: Starter, signature: Signature) -> TestCase | None:
    arguments = in_order(example, starter.parameters)
    if arguments is None or _is_of_a_class(example):
        return None
    try:
        values = [
            _as(codec, value) for codec, value in zip(signature.arguments, arguments, strict=True)
        ]
        test = to_test(values, _expected(example.expected, signature), signature)
    except UnreadableError:
        return None
    return test.model_copy(update={"public": True})


def _is_of_a_class(example: Example) -> bool:
    """Return whether the input is a list of methods' names and a list of their arguments."""
    if [name for name, _ in example.arguments] != [None, None]:
        return False
    names, calls = (value for _, value in example.arguments)
    if not isinstance(names, list) or not isinstance(calls, list):
        return False
    names, calls = cast("list[object]", names), cast("list[object]", calls)
    return (
        len(names) == len(calls) > 0
        and all(isinstance(name, str) and name.isidentifier() for name in names)
        and all(isinstance(call, list) for call in calls)
    )


def _expected(value: object, signature: Signature) -> object:
    """Return the result that a statement shows, converted to its codec.

    Raises:
        UnreadableError: it does not fit the codec.
    """
    changed = signature.arguments[0] if signature.arguments else Codec.JSON
    if signature.result is not Codec.FIRST_ARGUMENT or changed is Codec.JSON:
        return _as(signature.result, value)
    return _without_end(plain(_as(changed, value))) if changed is Codec.TREE else value


def _without_end(values: object) -> object:
    """Return a tree's values without empty places at the end, as in results."""
    items = [*cast("list[object]", values)]
    while items and items[-1] is None:
        items.pop()
    return items


def _as(codec: Codec, value: object) -> object:
    """Return a value that a statement shows, converted to its codec.

    Raises:
        UnreadableError: it does not fit the codec: a number that stands for a node, or a node's
            value with its place in the list, as where nodes point at others.
    """
    if codec in {Codec.JSON, Codec.FIRST_ARGUMENT}:
        return value
    if value is not None and not isinstance(value, list):
        raise UnreadableError(f"{value!r:.60} is no {codec.replace('_', ' ')}")
    items = cast("list[object]", value or [])
    if codec in _MANY:
        return [_as(_MANY[codec], item) for item in items]
    if any(isinstance(item, list) for item in items):
        raise UnreadableError("a node's value is a list")
    return Nodes(codec, items)
