r"""Constants of problem.yaml: `{{name}}` and `{{name.variant}}` in the package's texts.

In a LaTeX statement they are `\constant{name}`. Test data have none.
"""

import re
from collections.abc import Mapping
from typing import cast

from harness.errors import DataError

_NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*\Z")
_USED = re.compile(r"\{\{([a-zA-Z_][\w.]*)\}\}|\\constant\{([a-zA-Z_][\w.]*)\}", re.ASCII)
_VALUE = "value"


def read_constants(given: object, where: str) -> dict[str, str]:
    """Return the text of each `name` and `name.variant`.

    Raises:
        DataError: they are no map of names to numbers or texts.
    """
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise DataError(where, "constants", "no map of names to values")
    texts: dict[str, str] = {}
    for name, value in cast("dict[object, object]", given).items():
        variants = cast(
            "dict[object, object]", value if isinstance(value, dict) else {_VALUE: value}
        )
        if not isinstance(name, str) or not _NAME.match(name) or _VALUE not in variants:
            raise DataError(where, "constants", f"{name!r:.60} is not a name with a value")
        for variant, of_variant in variants.items():
            if isinstance(of_variant, bool) or not isinstance(of_variant, int | float | str):
                raise DataError(where, "constants", f"{name}: {of_variant!r:.60} is not a value")
            texts[f"{name}.{variant}"] = str(of_variant)
        texts[name] = texts[f"{name}.{_VALUE}"]
    return texts


def with_constants(text: str, constants: Mapping[str, str]) -> str:
    """Return a text with its constants replaced; what is not a constant stays."""
    if not constants:
        return text
    return _USED.sub(lambda used: constants.get(used[1] or used[2], used[0]), text)
