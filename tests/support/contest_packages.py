"""Contest packages, written here in the ICPC problem package format."""

from collections.abc import Callable
from pathlib import Path

from harness.kinds.packages.icpc import load
from harness.problem import Problem

FILES = {
    "problem_statement/problem.en.tex": "Split $n$ in two.",
    "data/sample/1.in": "3\n",
    "data/sample/1.ans": "1 2\n",
    "data/secret/group/2.in": "5\n",
    "data/secret/group/2.ans": "2 3\n",
    "submissions/accepted/half.py": "n = int(input())\nprint(n // 2, n - n // 2)",
    "submissions/accepted/half.cc": "int main() {}",
}
Package = Callable[..., Path]
"""`package(settings, {path: text}, folder=...)` writes a package and returns its folder."""


def write_package(
    folder: Path, settings: str = "name: Parts\n", more: dict[str, str] | None = None
) -> Path:
    """Write a package: its problem.yaml, the files above, and more."""
    for name, text in ({"problem.yaml": settings} | FILES | (more or {})).items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def only(folder: Path) -> Problem:
    """Return the problem of a package."""
    (problem,) = load(str(folder)).problems
    return problem
