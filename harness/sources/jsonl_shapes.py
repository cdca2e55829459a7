"""Rows of other formats with tests as code, read by their usual column names.

HumanEval, MBPP, LeetCodeDataset and BigCodeBench have different names for the same columns. A row
counts as one of these if it has tests that are code and no `statement`; columns without a name
below are ignored.
"""

import ast
import re
from typing import Any, cast

from harness.errors import DataError
from harness.python_source import parse_or_none

NAMES = {
    "id": ("id", "task_id", "question_id", "problem_id", "slug", "name"),
    "statement": (
        *("problem_description", "description", "question", "problem", "text", "content"),
        *("instruct_prompt", "instruction", "complete_prompt", "prompt"),
    ),
    "test": ("test", "test_code", "test_list", "tests", "unit_tests"),
    "public_test": ("public_test", "public_tests"),
    "test_setup": ("test_setup", "test_setup_code"),
    "reference": ("canonical_solution", "reference", "solution", "completion", "code"),
    "starter_code": ("starter_code",),
    "entry_point": ("entry_point", "function_name", "fn_name"),
    "title": ("title", "question_title"),
    "difficulty": ("difficulty",),
    "tags": ("tags",),
    "platform": ("platform",),
    "time_limit": ("time_limit",),
    "memory_limit": ("memory_limit",),
}
"""Names of each key in other formats, the most specific first."""


def has_another_shape(row: dict[str, Any]) -> bool:
    """Return whether a row has another format, with tests that are code."""
    return "statement" not in row and any(_is_code(row.get(name)) for name in NAMES["test"])


def in_own_shape(row: dict[str, Any], where: str) -> dict[str, Any]:
    """Return the row with the keys of `jsonl:PATH`.

    Raises:
        DataError: it has no statement, or no function's name can be found in it.
    """
    made = {key: _first(row, names) for key, names in NAMES.items()}
    made["test"] = next(row[name] for name in NAMES["test"] if _is_code(row.get(name)))
    prompt = row.get("prompt") or row.get("complete_prompt")
    reference = made.pop("reference")
    made["entry_point"] = _entry_point(made["entry_point"], made["test"], reference, where)
    if not isinstance(made["statement"], str) or not made["statement"].strip():
        named = ", ".join(NAMES["statement"])
        raise DataError(where, "statement", f"missing; or give one of {named}")
    if isinstance(prompt, str):
        made |= _of_prompt(prompt, made, reference)
    elif isinstance(reference, str):
        made["references"] = [reference]
    made["id"] = None if made["id"] is None else str(made["id"])
    if isinstance(made["id"], str):
        made["id"] = made["id"].replace("/", "-")
    if isinstance(made["tags"], str):
        made["tags"] = [made["tags"]]
    return {key: value for key, value in made.items() if value is not None}


def _first(row: dict[str, Any], names: tuple[str, ...]) -> Any:
    return next((row[name] for name in names if row.get(name) not in (None, "")), None)


def _is_code(value: Any) -> bool:
    """Return whether a value is tests that are code, and not something else of that name."""
    if isinstance(value, list) and value:
        texts = cast("list[object]", value)
        return all(isinstance(each, str) and "assert" in each for each in texts)
    return isinstance(value, str) and ("assert" in value or "def check(" in value)


def _entry_point(name: Any, test: Any, reference: Any, where: str) -> str:
    """Return the function's name: of `Solution().name` or, by default, the one the tests call."""
    if isinstance(name, str) and name.strip():
        return re.sub(r"\(.*\)$", "", name.strip()).rpartition(".")[2]
    text = test if isinstance(test, str) else "\n".join(test)
    defined = re.findall(r"^(?:def|class) (\w+)", str(reference or ""), re.MULTILINE)
    called = [each for each in defined if re.search(rf"\b{each}\(", text)]
    if not called:
        what = "missing; or give a reference that defines the function that the tests call"
        raise DataError(where, "entry_point", what)
    return called[-1]


def _of_prompt(prompt: str, made: dict[str, Any], reference: Any) -> dict[str, Any]:
    """Return what a prompt with code defines: starter code, code before it, reference."""
    tree = parse_or_none(prompt)
    if tree is None:
        return {"references": [reference]} if isinstance(reference, str) else {}
    body, name = tree.body, made["entry_point"]
    defines = [each for each in body if _defines(each, name)]
    before = ast.unparse(ast.Module([each for each in body if each not in defines], []))
    more: dict[str, Any] = {"preamble_code": before}
    if defines:
        more |= {"starter_code": made["starter_code"] or prompt}
        more |= {"test_setup": "\n".join(filter(None, (before, made["test_setup"])))}
    if isinstance(reference, str):
        whole = re.search(
            rf"^\s*(?:async )?(?:def|class) {re.escape(name)}\b", reference, re.MULTILINE
        )
        more["references"] = [reference if whole or not defines else prompt + reference]
    return more


def _defines(statement: ast.stmt, name: str) -> bool:
    return isinstance(statement, ast.FunctionDef | ast.ClassDef) and statement.name == name
