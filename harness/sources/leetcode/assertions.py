"""Test cases from assertions such as `assert candidate(nums = [1], k = 3) == 4`.

The source of a data set is parsed and never executed. Values are a subset of Python's literals
(`harness.sources.literals`); an unsupported assertion is an error, and is never dropped.
"""

import ast
import json
from collections.abc import Sequence
from typing import NamedTuple, cast

from harness.problem import Codec, Signature, TestCase
from harness.sources.literals import (
    Call,
    ItemBudget,
    Nodes,
    UnreadableError,
    call_of,
    parse,
    value_of,
)

_SAME = {"is_same_list": Codec.LINKED_LIST, "is_same_tree": Codec.TREE}
_MANY = {Codec.LINKED_LIST: Codec.LINKED_LISTS, Codec.TREE: Codec.TREES}
_CONTAINERS = {_MANY[one]: one for one in _MANY}


class Assertion(NamedTuple):
    """Content of an assertion: a call and its expected value."""

    call: Call
    expected: object


def read_assertion(text: str) -> Assertion:
    """Parse one assertion.

    Args:
        text: `assert candidate(…) == value`, `assert is_same_list(candidate(…), value)` or `assert
            is_same_tree(candidate(…), value)`.

    Raises:
        UnreadableError: it is anything else, or too long.
    """
    match parse(text).body:
        case [ast.Assert(test=test, msg=None)]:
            pass
        case _:
            raise UnreadableError("not one assertion")
    budget = ItemBudget()
    match test:
        case ast.Compare(
            left=ast.Call(func=ast.Name("candidate")) as call, ops=[ast.Eq()], comparators=[right]
        ):
            return Assertion(call_of(call, budget), value_of(right, budget))
        case ast.Call(
            func=ast.Name(name),
            args=[ast.Call(func=ast.Name("candidate")) as call, right],
            keywords=[],
        ) if name in _SAME:
            return Assertion(call_of(call, budget), _nodes(value_of(right, budget), _SAME[name]))
        case _:
            raise UnreadableError("not of the form candidate(…) == value")


def _nodes(value: object, codec: Codec) -> object:
    """Return a value compared with nodes as nodes: an empty list or tree is None."""
    if value is None:
        return Nodes(codec, [])
    if not isinstance(value, Nodes) or value.codec is not codec:
        raise UnreadableError(f"the value compared is no {codec.replace('_', ' ')}")
    return value


def with_codecs(signature: Signature, arguments: Sequence[object], expected: object) -> Signature:
    """Correct a signature by the values of a call and its result.

    Raises:
        UnreadableError: nodes stand beside other values.
    """
    padded = (*signature.arguments, *[Codec.JSON] * (len(arguments) - len(signature.arguments)))
    corrected = map(_corrected, padded, arguments)
    return Signature(
        arguments=(*corrected, *padded[len(arguments) :]),
        result=_corrected_result(signature.result, expected),
    )


def _corrected(codec: Codec, value: object) -> Codec:
    return codec_of(value) or codec


def _corrected_result(codec: Codec, expected: object) -> Codec:
    """Return the result's codec, corrected by the expected value.

    Assertions judge the returned value: with `-> None`, None itself or what was changed in place. A
    function that returns something in spite of its annotation is judged by that either way.
    """
    if codec is not Codec.FIRST_ARGUMENT:
        return _corrected(codec, expected)
    if expected is None:
        return Codec.JSON
    return expected.codec if isinstance(expected, Nodes) else codec


def codec_of(value: object) -> Codec | None:
    """Return the codec of a value; None for an empty one, which fits any.

    Raises:
        UnreadableError: it holds nodes and other values side by side.
    """
    match value:
        case None | []:
            return None
        case Nodes():
            return value.codec
        case list():
            items = cast("list[object]", value)
            kinds = {item.codec for item in items if isinstance(item, Nodes)}
            if not kinds:
                return None if all(item is None for item in items) else Codec.JSON
            if len(kinds) > 1 or not all(item is None or isinstance(item, Nodes) for item in items):
                raise UnreadableError("nodes stand beside other values")
            return _MANY[kinds.pop()]
        case _:
            return Codec.JSON


def to_test(arguments: Sequence[object], expected: object, signature: Signature) -> TestCase:
    """Return a test in LiveCodeBench's convention; not public.

    Raises:
        UnreadableError: a value does not match the signature.
    """
    codecs = [*signature.arguments, *[Codec.JSON] * len(arguments)]
    lines = [_to_json(value, codec) for value, codec in zip(arguments, codecs, strict=False)]
    if signature.result is Codec.FIRST_ARGUMENT:
        result = _dumps(expected)
    else:
        result = _to_json(trimmed(expected), signature.result)
    return TestCase(input="\n".join(lines), output=result, public=False)


def _to_json(value: object, codec: Codec) -> str:
    own_codec = codec_of(value)
    if own_codec is not None and own_codec is not codec:
        raise UnreadableError(f"a value is {own_codec}, where it is {codec} in the tests before")
    return _dumps(_plain(value, codec))


def _plain(value: object, codec: Codec) -> object:
    """Return a value of a codec as JSON data."""
    if isinstance(value, Nodes):
        return value.values
    if codec in _CONTAINERS and isinstance(value, list):
        return [_plain(item, _CONTAINERS[codec]) for item in cast("list[object]", value)]
    if codec in _MANY and value is None:
        return []
    return value


def plain(value: object) -> object:
    """Return a value with nodes replaced by their values, as a statement shows them."""
    if isinstance(value, Nodes):
        return value.values
    return (
        [plain(item) for item in cast("list[object]", value)] if isinstance(value, list) else value
    )


def trimmed(value: object) -> object:
    """Remove empty places from the end of trees, as in results."""
    match value:
        case Nodes(codec=Codec.TREE, values=values):
            end = len(values)
            while end and values[end - 1] is None:
                end -= 1
            return Nodes(Codec.TREE, values[:end])
        case list():
            return [trimmed(item) for item in cast("list[object]", value)]
        case _:
            return value


def _dumps(value: object) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError):  # nodes outside of a list of nodes
        raise UnreadableError("a value cannot be written as JSON") from None
