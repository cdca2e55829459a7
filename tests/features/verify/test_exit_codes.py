"""Exit codes of `harness verify` and `harness grade`: a wrong reference, a missed gate."""

from pathlib import Path

from contest_packages import write_package
from for_each import for_each
from json_lines import json_lines
from program import Done, harness

RIGHT, WRONG = "print(input())", "print(0)"
CPP = "#include <cstdio>\nint main() { for (int c; (c = getchar()) != EOF;) putchar(c); }\n"


def row(name: str, *references: str, **more: object) -> dict[str, object]:
    test = {"input": "1", "output": "1", "public": True}
    return {
        "id": f"own/{name}",
        "statement": "Echo.",
        "tests": [test],
        "references": references,
        **more,
    }


@for_each(
    ("rows", "flags", "code"),
    [
        ([row("a", RIGHT), row("b", RIGHT)], (), 0),
        ([row("a", RIGHT), row("b", RIGHT, WRONG)], (), 1),
        ([row("a", RIGHT), row("b", RIGHT, WRONG)], ("--fail-under", "66%"), 0),
        ([row("a", RIGHT), row("b", RIGHT, WRONG)], ("--fail-under", "67%"), 1),
        ([row("a"), row("b")], (), 3),
    ],
    ids=["all right", "one wrong", "few enough", "too many", "no reference"],
)
def test_verify_ends_with(
    tmp_path: Path, rows: list[dict[str, object]], flags: tuple[str, ...], code: int
) -> None:
    (tmp_path / "own.jsonl").write_text(json_lines(rows))
    done = harness(tmp_path, "verify", "jsonl:own.jsonl", *flags)
    assert done.returncode == code, done.stderr
    assert ("2 of 3 known solutions got the expected verdict" in done.stderr) is (code == 1)


def test_a_verdict_that_contradicts_the_jury_is_a_fault(tmp_path: Path) -> None:
    right = "n = int(input())\nprint(n // 2, n - n // 2)"
    folder = write_package(tmp_path / "parts", more={"submissions/wrong_answer/right.py": right})
    (folder / "submissions" / "accepted" / "half.cc").unlink()
    done = harness(tmp_path, "verify", "icpc:parts")
    assert done.returncode == 1, done.stderr
    assert "1 of 2 known solutions got the expected verdict" in done.stderr


def graded(folder: Path, solutions: list[dict[str, object]], *flags: str) -> Done:
    (folder / "own.jsonl").write_text(json_lines([row("a"), row("b", languages=["python"])]))
    (folder / "s.jsonl").write_text(json_lines(solutions))
    return harness(
        folder, "grade", "--problems", "jsonl:own.jsonl", "--solutions", "s.jsonl", *flags
    )


@for_each(
    ("flags", "code", "line"),
    [
        ((), 0, ""),
        (("--fail-under", "0.5"), 0, ""),
        (("--fail-under", "0.6"), 1, "--fail-under 60.0 %: missed, pass@1 is 50.0 %"),
        (("--agree-under", "50%"), 0, ""),
        (
            ("--agree-under", "1"),
            *(1, "--agree-under 100.0 %: missed, agreement with published verdicts is 50.0 %"),
        ),
        (("--agree-under", "2"), 2, "--agree-under 2: give a rate between 0 and 1"),
    ],
)
def test_grade_ends_with(tmp_path: Path, flags: tuple[str, ...], code: int, line: str) -> None:
    solutions: list[dict[str, object]] = [
        {"problem_id": "own/a", "code": RIGHT, "passed": True},
        {"problem_id": "own/b", "code": WRONG, "passed": True},
    ]
    done = graded(tmp_path, solutions, *flags)
    assert done.returncode == code, done.stderr
    assert line in done.stderr


def test_a_gate_on_published_verdicts_needs_some(tmp_path: Path) -> None:
    done = graded(tmp_path, [{"problem_id": "own/a", "code": RIGHT}], "--agree-under", "1")
    assert done.returncode == 2
    assert "no solution has a published verdict" in done.stderr


def test_a_problem_that_takes_no_cpp_is_left_out_with_a_line(tmp_path: Path) -> None:
    solutions: list[dict[str, object]] = [
        {"problem_id": f"own/{name}", "code": CPP, "language": "cpp"} for name in "ab"
    ]
    done = graded(tmp_path, solutions)
    assert done.returncode == 0, done.stderr
    assert (
        "1 problem left out, which takes no C++ solution: only Python may be used (1)"
        in done.stderr
    )
    done = graded(tmp_path, solutions[1:])
    assert done.returncode == 3, done.stderr
