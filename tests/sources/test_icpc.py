"""Contest packages, written here in the ICPC problem package format."""

from collections.abc import Callable, Iterator
from pathlib import Path
from textwrap import dedent

import pytest

from harness.errors import DataError, UsageError
from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.verdict import Verdict
from harness.problem import Problem
from harness.sandbox.worker import Worker
from harness.sources.icpc import load

VALIDATOR = """
    import sys
    with open(sys.argv[1]) as given, open(sys.argv[2]) as wanted:
        n = int(given.read())
        wanted.read()
    words = sys.stdin.read().split()
    if len(words) == 2 and sum(map(int, words)) == n:
        sys.exit(42)
    with open(sys.argv[3] + "/judgemessage.txt", "w") as message:
        message.write("the parts do not add up")
    sys.exit(43)
"""
Package = Callable[..., Path]


@pytest.fixture(scope="module")
def worker() -> Iterator[Worker]:
    worker = Worker()
    yield worker
    worker.stop()


@pytest.fixture
def package(tmp_path: Path) -> Package:
    """Writes a package: its settings and further files by their paths."""

    def write(settings: str = "name: Parts\n", /, folder: str = "parts", **files: str) -> Path:
        contents = {
            "problem.yaml": settings,
            "problem_statement/problem.en.tex": "Split $n$ in two.",
            "data/sample/1.in": "3\n",
            "data/sample/1.ans": "1 2\n",
            "data/secret/group/2.in": "5\n",
            "data/secret/group/2.ans": "2 3\n",
            "submissions/accepted/half.py": "n = int(input())\nprint(n // 2, n - n // 2)",
            "submissions/accepted/half.cc": "int main() {}",
        } | {name.replace("__", "/"): dedent(text) for name, text in files.items()}
        for name, text in contents.items():
            path = tmp_path / folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return tmp_path / folder

    return write


def only(folder: Path) -> Problem:
    (problem,) = load(str(folder)).problems
    return problem


def test_a_package_is_a_problem(package: Package) -> None:
    settings = "name: {sv: Delar, en: Parts}\nlimits: {time_limit: 1.5, memory: 512}\n"
    problem = only(package(settings))
    assert (problem.id, problem.title) == ("icpc/parts", "Parts")
    assert problem.statement == "Split $n$ in two."
    assert [(t.input, t.output, t.public) for t in problem.tests.all()] == [
        ("3\n", "1 2\n", True),
        ("5\n", "2 3\n", False),
    ]
    assert len(problem.programs()) == 1
    limits = Options().limits(problem)
    assert (limits.cpu_s, limits.memory_bytes) == (1.5, 512 << 20)
    assert Options(cpu_s=9).limits(problem).cpu_s == 9


def test_a_folder_of_packages(package: Package) -> None:
    folder = package().parent
    package("name: Other\n", folder="other")
    assert [problem.native_id for problem in load(str(folder)).problems] == ["other", "parts"]
    with pytest.raises(UsageError, match=r"has none: there is no problem\.yaml"):
        load(str(folder / "parts" / "data"))


@pytest.mark.parametrize(
    ("flags", "printed", "verdict"),
    [
        ("", "1   2", Verdict.ACCEPTED),
        ("", "1.0 2", Verdict.WRONG_ANSWER),
        ("", "1", Verdict.WRONG_ANSWER),
        ("", "1 2 3", Verdict.WRONG_ANSWER),
        ("space_change_sensitive", "1  2", Verdict.WRONG_ANSWER),
        ("float_tolerance 1e-3", "1.0 2", Verdict.ACCEPTED),
    ],
)
def test_the_default_validator(
    package: Package, worker: Worker, flags: str, printed: str, verdict: Verdict
) -> None:
    problem = only(package(f"name: Parts\nvalidator_flags: {flags}\n"))
    code = f"print({printed!r})"
    assert judge(worker, Options().task(problem, code, problem.tests.public)).verdict is verdict


@pytest.mark.parametrize(
    ("flags", "answer", "printed", "right"),
    [
        ("", "Yes", "yes", True),
        ("case_sensitive", "Yes", "yes", False),
        ("float_tolerance 1e-3", "1.5", "1.5005e0", True),
        ("float_absolute_tolerance 1e-3", "1000.0", "1000.5", False),
        ("float_relative_tolerance 1e-3", "1000.0", "1000.5", True),
        ("float_tolerance 1e-3", "1.5", "nan", False),
    ],
)
def test_its_flags(  # noqa: PLR0917 - a row of a table
    package: Package, worker: Worker, flags: str, answer: str, printed: str, right: bool
) -> None:
    folder = package(f"name: Parts\nvalidator_flags: {flags}\n")
    (folder / "data/sample/1.ans").write_text(f"{answer}\n")
    problem = only(folder)
    task = Options().task(problem, f"print({printed!r})", problem.tests.public)
    assert judge(worker, task).solved is right


def test_an_output_validator_in_python(package: Package, worker: Worker) -> None:
    folder = package(
        "name: Parts\nvalidation: custom\n", output_validators__sum__validate_py=VALIDATOR
    )
    path = folder / "output_validators" / "sum" / "validate_py"
    path.rename(path.with_name("validate.py"))
    problem = only(folder)
    tests = problem.tests.all()
    assert judge(worker, Options().task(problem, "print(0, input())", tests)).solved
    wrong = judge(worker, Options().task(problem, "print(1, input())", tests))
    assert wrong.verdict is Verdict.WRONG_ANSWER
    assert wrong.tests[0].difference is not None
    assert "the parts do not add up" in wrong.tests[0].difference.where


def test_accepted_submissions_pass(package: Package, worker: Worker) -> None:
    problem = only(package())
    for code in problem.programs():
        assert judge(worker, Options().task(problem, code, problem.tests.all())).solved


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("type: interactive\n", "interactive problems cannot be judged"),
        ("validation: custom interactive\n", "interactive problems cannot be judged"),
        ("validation: custom\n", "there is no output validator"),
        ("validator_flags: flot_tolerance 1\n", "has no flag 'flot_tolerance'"),
        ("validator_flags: float_tolerance x\n", "not followed by a number"),
        ("- a\n", "not a YAML mapping"),
    ],
)
def test_what_cannot_be_judged_is_said(package: Package, settings: str, said: str) -> None:
    folder = package(settings)
    with pytest.raises(DataError, match=said):
        load(str(folder))
    assert len(load(str(folder), skip_bad_rows=True).skipped) == 1


def test_a_validator_in_another_language_is_named(package: Package) -> None:
    folder = package()
    (folder / "output_validators").mkdir()
    (folder / "output_validators" / "check.cc").write_text("int main() {}")
    with pytest.raises(DataError, match=r"check\.cc is no Python: only output validators"):
        load(str(folder))


def test_nothing_outside_a_package_is_read(package: Package, tmp_path: Path) -> None:
    folder = package()
    (tmp_path / "secret.txt").write_text("secret")
    answer = folder / "data/sample/1.ans"
    answer.unlink()
    answer.symlink_to(tmp_path / "secret.txt")
    with pytest.raises(DataError, match="links out of the package"):
        load(str(folder))
