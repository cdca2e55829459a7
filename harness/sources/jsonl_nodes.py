"""Expected linked lists and trees, normalised to the notation of results."""

from harness.problem import Codec, Signature
from harness.sources.files.json_text import elements

_OF_NODES = {Codec.LINKED_LIST, Codec.LINKED_LISTS, Codec.TREE, Codec.TREES}
_LISTS = {Codec.LINKED_LISTS: Codec.LINKED_LIST, Codec.TREES: Codec.TREE}


def canonical(output: str, signature: Signature) -> str:
    """Return the expected output of a function in the notation of results.

    An empty list or tree is `[]`, though data may say `null`, and a tree has no trailing nulls.

    Args:
        output: one JSON value.
        signature: signature of the function.
    """
    codec = signature.result
    if codec is Codec.FIRST_ARGUMENT and signature.arguments:
        codec = signature.arguments[0]
    return _canonical(output.strip(), codec) if codec in _OF_NODES else output


def _canonical(output: str, codec: Codec) -> str:
    if output == "null":
        return "[]"
    if codec is Codec.LINKED_LIST:
        return output
    if codec is Codec.TREE:
        return _trimmed(output)
    try:
        return "[" + ",".join(_canonical(item, _LISTS[codec]) for item in elements(output)) + "]"
    except ValueError:  # not a list: an error of the test
        return output


def _trimmed(output: str) -> str:
    try:
        values = elements(output)
    except ValueError:
        return output
    while values and values[-1] == "null":
        values.pop()
    return "[" + ",".join(values) + "]"
