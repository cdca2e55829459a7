"""A user's own problems, as rows of `jsonl:PATH`."""

from typing import Any

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
UNTESTED: dict[str, Any] = {
    "id": "untested",
    "statement": "?",
    "tests": [],
    "references": ["print()"],
}
