"""Expected outputs of functions in the notation of results."""

from harness.problem import Codec, Signature
from harness.sources.files.json_text import elements

_OF_NODES = {Codec.LINKED_LIST, Codec.LINKED_LISTS, Codec.TREE, Codec.TREES}
_LISTS_OF_NODES = {Codec.LINKED_LISTS: Codec.LINKED_LIST, Codec.TREES: Codec.TREE}


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
    try:
        values = elements(output)
    except ValueError:  # not a list: an error of the test
        return output
    if codec in _LISTS_OF_NODES:
        values = [_canonical(item, _LISTS_OF_NODES[codec]) for item in values]
    while codec is Codec.TREE and values and values[-1] == "null":
        values.pop()
    return f"[{','.join(values)}]"
