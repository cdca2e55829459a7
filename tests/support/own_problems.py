"""A user's own problems, as rows of `jsonl:PATH`."""

from typing import Any

from harness.problem import Problem, TestSuite

ECHO: dict[str, Any] = {
    "id": "own/echo",
    "statement": "Print the input.",
    "tests": [
        {"input": "1\n", "output": "1\n", "public": True},
        {"input": "2\n", "output": "2\n", "public": False},
        {"input": "0.5\n", "output": "0.5\n", "public": False},
    ],
    "references": ["print(input())", "print(1)"],
}
DOUBLE: dict[str, Any] = {
    "id": "double",
    "statement": "Double it.",
    "entry_point": "double",
    "tests": [{"input": "1", "output": "2", "public": True}],
    "references": ["def double(n): return 2 * n"],
}
UNTESTED = {"id": 7, "question": "?", "solutions": '["print()"]', "input_output": ""}
"""A row of APPS, which has problems without tests."""
TESTED = {
    "id": 8,
    "question": "Print the input.",
    "solutions": '["print(input())"]',
    "input_output": '{"inputs": ["1\\n"], "outputs": ["1\\n"]}',
}
"""A row of APPS with a test."""


def without_tests(problem: Problem) -> Problem:
    """Return a problem named jsonl/untested that is like another but for its tests."""
    return problem.model_copy(update={"id": "jsonl/untested", "tests": TestSuite(())})
