"""A reward function for verl and rLLM with LiveCodeBench or DeepCoder rows.

    custom_reward_function.path=pkg://harness.features.training.reward_function
    custom_reward_function.name=compute_score

Accepted forms of `ground_truth`, as JSON text or as an object:

- `{"inputs": [...], "outputs": [...], "fn_name": ...}` (APPS, TACO, PRIME);
- `[{"input": ..., "output": ..., "testtype": "stdin" or "functional", "metadata": {"func_name"}}]`
  (LiveCodeBench, DeepCoder); the function's name is in a test or in `extra_info`.
"""

import hashlib
import json
import math
import os
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, cast

from harness.errors import DataError, UsageError
from harness.features.grade.grader import Grader
from harness.problem import Problem, TestCase, TestSuite
from harness.sources.files.row_checks import check_function_test

SOURCE = "livecodebench"  # gives the limits of time and memory, and the rule
LONGEST_TESTS = 256 << 20  # characters


def compute_score(
    data_source: str,
    solution_str: str,
    ground_truth: Any,
    extra_info: Mapping[str, Any] | None = None,
    **settings: Any,
) -> float:
    """Return 1.0 if the code passes every test, else 0.0; NaN if judging failed.

    Args:
        data_source: name of the data set, for messages only.
        solution_str: the model's text, which contains the code.
        ground_truth: tests in one of the module's forms.
        extra_info: the row's extra fields, of which `func_name` or `fn_name` is used.
        settings: keys of `harness.Grader` whose values are JSON, such as `reward="fraction"` or
            `workers=8`.

    Raises:
        DataError: the tests have none of these forms.
        UsageError: a setting is no JSON.
    """
    problem = problem_of(data_source, ground_truth, extra_info or {})
    try:
        asked = json.dumps(settings, sort_keys=True)
    except (TypeError, ValueError) as error:
        raise UsageError(f"compute_score(): settings are JSON: {error}") from None
    (value,) = _grader(os.getpid(), asked).score([problem], [solution_str])
    return math.nan if value is None else value


@cache
def _grader(process: int, settings: str) -> Grader:
    """Return the grader of this process; sandboxes do not survive a fork."""
    del process
    return Grader(failures="none", **json.loads(settings))


def problem_of(data_source: str, ground_truth: Any, extra_info: Mapping[str, Any]) -> Problem:
    """Make a problem of a row's tests, all of them hidden. Raises DataError."""
    where = data_source or "row"
    if not isinstance(extra_info, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance] - untyped
        raise DataError(where, "extra_info", f"not an object but {extra_info!r:.60}")
    try:
        text = ground_truth
        if not isinstance(text, str):
            text = json.dumps(ground_truth, default=_of_array)
    except (TypeError, ValueError, RecursionError) as error:
        raise DataError(where, "ground_truth", f"it is not JSON: {error}") from None
    if len(text) > LONGEST_TESTS:
        raise DataError(where, "ground_truth", f"it has more than {LONGEST_TESTS:,} characters")
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(where, "ground_truth", f"it is not JSON: {error}") from None
    name: Any = extra_info.get("func_name") or extra_info.get("fn_name")
    try:
        tests, named = _pairs(value) if isinstance(value, dict) else _listed(value)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise DataError(where, "ground_truth", f"no tests in it: {error!r}") from None
    entry = str(named or name or "") or None
    given = tuple(TestCase(input=i, output=o, public=False) for i, o in tests)
    for number, test in enumerate(given if entry else ()):
        check_function_test(test.input, test.output, where, f"ground_truth, test {number + 1}")
    digest = hashlib.sha256(f"{entry}\0{text}".encode("utf-8", "surrogatepass")).hexdigest()
    return Problem(
        id=f"{SOURCE}/{digest[:16]}",
        source=SOURCE,
        title=where,
        statement="",
        platform="",
        difficulty=None,
        difficulty_word="",
        entry_point=entry,
        tests=TestSuite((), lambda: given),
        content_hash=digest,
    )


def _of_array(value: Any) -> Any:
    """Return the items of an array, as data frames have them. Raises TypeError for others."""
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"an object of type {type(value).__name__}")


def _pairs(value: Any) -> tuple[list[tuple[str, str]], Any]:
    """Read lists of inputs and outputs; a function's output is a list of one result."""
    if "inputs" not in value and isinstance(value.get("tests"), Sequence):
        return _listed(value["tests"])
    inputs, outputs, name = value["inputs"], value["outputs"], value.get("fn_name")
    if not name:
        return [(_lines(i), _lines(o)) for i, o in zip(inputs, outputs, strict=True)], None
    return [(_arguments(i), _result(o)) for i, o in zip(inputs, outputs, strict=True)], name


def _lines(value: Any) -> str:
    """Return standard input or output as text; some rows have a list of lines."""
    if isinstance(value, list):
        return "\n".join(str(line) for line in cast("list[Any]", value))
    return value if isinstance(value, str) else json.dumps(value)


def _arguments(value: Any) -> str:
    """Return arguments as one line of JSON each, which texts already are."""
    if isinstance(value, str):
        return value
    return "\n".join(json.dumps(each) for each in value)


def _result(value: Any) -> str:
    """Return a result as JSON; it may be wrapped in a list."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and len(cast("list[Any]", value)) == 1:
        return json.dumps(value[0])
    return json.dumps(value)


def _listed(value: Any) -> tuple[list[tuple[str, str]], Any]:
    """Read LiveCodeBench's tests, with texts and the function's name in metadata."""
    name: Any = None
    tests: list[tuple[str, str]] = []
    for each in value:
        metadata: Any = each.get("metadata") or {}
        if isinstance(metadata, str):
            metadata = json.loads(metadata)
        functional = each.get("testtype", each.get("type")) == "functional"
        name = name or metadata.get("func_name") or each.get("fn_name")
        if functional:
            tests.append((_arguments(each["input"]), _result(each["output"])))
        else:
            tests.append((_lines(each["input"]), _lines(each["output"])))
    return tests, name
