"""YAML texts of users and data sets, bounded: no text costs more than its size suggests.

Aliases that contain themselves or expand a short text to a huge one, and values that Python cannot
hold, are errors; keys that are given twice too, unless told otherwise.
"""

from collections.abc import Callable
from typing import Any

MOST_EXPANDED = 1 << 22
"""Most characters of a text's values when each alias is replaced by what it stands for."""

LONGEST = 300
"""Most characters of a message."""
LONGEST_INTEGER = 200
"""Most characters of an integer, so that a float can hold it in any base."""
INTEGER = "tag:yaml.org,2002:int"
_FAULTS = {
    "found character '\\t'": "a tab; indent with spaces",
    "mapping values are not allowed here": "a ': ' inside a value; indent as above, or use quotes",
    "could not find expected ':'": "a key without ':'",
    "expected <block end>": "its indentation does not fit the lines above",
    "expected ',' or ']'": "a list in brackets is not closed",
    "expected ',' or '}'": "a mapping in braces is not closed",
    "expected the node content": "a value is missing",
    "found unexpected end of stream": "a quote is not closed",
    "could not determine a constructor": "a tag that is not known",
    "found unhashable key": "a list or mapping as a key",
    "unacceptable character": "a character that YAML does not allow",
}
"""Beginnings of PyYAML's messages and what they mean."""


class YamlError(ValueError):
    """A text is not YAML, or not YAML that is read here; the message is one line."""


def parse_yaml(text: str, *, spelling: Callable[[str], str] = str, may_repeat: bool = False) -> Any:
    """Return the value of a YAML text.

    Args:
        text: the text.
        spelling: makes keys equal that count as the same.
        may_repeat: whether a key that is given twice has its last value.

    Raises:
        YamlError: it is not YAML, repeats a key, expands too much, or has a value that cannot be.
    """
    import yaml

    try:
        loader: Any = yaml.SafeLoader(text)
        node = loader.get_single_node()
        if node is None:
            return None
        _Check(None if may_repeat else spelling).size(node)
        return loader.construct_document(node)
    except YamlError:
        raise
    except RecursionError:
        raise YamlError("nested too deeply") from None
    # PyYAML's conversions of values raise more than its own errors, such as for `!!int ''`.
    except (yaml.YAMLError, ValueError, LookupError, ArithmeticError, AttributeError) as error:
        raise YamlError(_fault(error)[:LONGEST]) from None


def _fault(error: Exception) -> str:
    """Return what is wrong with a text, with its line where that is known."""
    mark: Any = getattr(error, "problem_mark", None)
    where = f"line {mark.line + 1}: " if mark is not None else ""
    if isinstance(error, LookupError | AttributeError):
        return "not valid YAML: a value that does not fit its tag"
    said = " ".join(str(getattr(error, "problem", None) or error).split())
    words = next((words for start, words in _FAULTS.items() if said.startswith(start)), said)
    return f"{where}not valid YAML: {words}"


def yaml_of(value: Any) -> str:
    """Return plain data as YAML: keys in their order, letters as they are."""
    import yaml

    dump: Callable[..., str] = vars(yaml)["safe_dump"]  # some stubs give it a partly unknown type
    return dump(value, sort_keys=False, allow_unicode=True)


class _Check:
    """Checks the nodes of a text, each once.

    Args:
        spelling: as for `parse_yaml`; None if keys may be repeated.
    """

    def __init__(self, spelling: Callable[[str], str] | None) -> None:
        self._spelling = spelling
        self._sizes: dict[int, int | None] = {}

    def size(self, node: Any) -> int:
        """Return the number of characters of a node with its aliases expanded."""
        import yaml

        known = self._sizes.get(id(node), 0)
        if known is None:
            raise YamlError(f"line {node.start_mark.line + 1}: an alias contains itself")
        if known:
            return known
        self._sizes[id(node)] = None
        size = 1
        if isinstance(node, yaml.ScalarNode):
            size += len(node.value)
            _check_text(node)
            _check_number(node)
        elif isinstance(node, yaml.MappingNode):
            if self._spelling is not None:
                _check_keys(node, self._spelling)
            size += sum(self.size(part) for pair in node.value for part in pair)
        else:
            size += sum(map(self.size, node.value))
        if size > MOST_EXPANDED:
            raise YamlError(f"its aliases expand it to more than {MOST_EXPANDED:,} characters")
        self._sizes[id(node)] = size
        return size


def _check_keys(mapping: Any, spelling: Callable[[str], str]) -> None:
    import yaml

    lines: dict[str, int] = {}
    for key, _ in mapping.value:
        if not isinstance(key, yaml.ScalarNode) or key.value == "<<":
            continue
        name, line = spelling(key.value), key.start_mark.line + 1
        if name in lines:
            raise YamlError(f"{key.value} is given twice, in lines {lines[name]} and {line}")
        lines[name] = line


def _check_text(node: Any) -> None:
    """Refuse half of a surrogate pair, which no file can hold."""
    try:
        node.value.encode()
    except UnicodeEncodeError:
        where = f"line {node.start_mark.line + 1}"
        raise YamlError(f"{where}: half of a surrogate pair, which is not text") from None


def _check_number(node: Any) -> None:
    """Refuse an integer that is too long to be shown, or to be a float."""
    if node.tag == INTEGER and len(node.value) > LONGEST_INTEGER:
        where = f"line {node.start_mark.line + 1}"
        raise YamlError(f"{where}: an integer of more than {LONGEST_INTEGER} characters")
