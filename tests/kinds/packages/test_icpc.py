"""Contest packages: what is read, how it is judged, and what is refused."""

from textwrap import dedent

import pytest
from contest_packages import Package, only

from harness.errors import DataError, UsageError
from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.verdict import Verdict
from harness.kinds.packages.icpc import load
from harness.sandbox.worker import Worker

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
def test_the_default_validator_compares_tokens(
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
        ("float_tolerance 1e-3", "1.5", "\u0661.\u0665", False),
        ("float_tolerance 1e-3", "10", "1_0", False),
        ("", "a b", "a\xa0b", False),
        ("", "É", "é", False),
    ],
)
def test_flags_of_the_default_validator(  # noqa: PLR0917 - a row of a table
    package: Package, worker: Worker, flags: str, answer: str, printed: str, right: bool
) -> None:
    folder = package(f"name: Parts\nvalidator_flags: {flags}\n")
    (folder / "data/sample/1.ans").write_text(f"{answer}\n")
    problem = only(folder)
    task = Options().task(problem, f"print({printed!r})", problem.tests.public)
    assert judge(worker, task).solved is right


@pytest.mark.parametrize("act", ["exit(1)", "exit('a word')", "raise SystemExit(255)"])
@pytest.mark.parametrize("isolate", [False, True])
def test_an_exit_code_is_a_runtime_error_though_the_output_is_right(
    package: Package, worker: Worker, act: str, isolate: bool
) -> None:
    problem = only(
        package("name: Parts\n", {"data/sample/2.in": "3\n", "data/sample/2.ans": "1 2\n"})
    )
    for end, verdict in ((act, Verdict.RUNTIME_ERROR), ("exit()", Verdict.ACCEPTED)):
        code = f"print('1 2', flush=True)\n{end}"
        task = Options(isolate=isolate).task(problem, code, problem.tests.public)
        assert judge(worker, task).verdict is verdict


def test_an_output_validator_in_python(package: Package, worker: Worker) -> None:
    more = {"output_validators/sum/validate.py": dedent(VALIDATOR)}
    problem = only(package("name: Parts\nvalidation: custom\n", more))
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
    ("settings", "message"),
    [
        ("type: submit-answer\n", "submit-answer problems cannot be judged"),
        ("type: interactive\n", "interactive, and there is no output validator"),
        ("validation: custom interactive\n", "interactive, and there is no output validator"),
        ("validation: custom\n", "there is no output validator"),
        ("validator_flags: flot_tolerance 1\n", "has no flag 'flot_tolerance'"),
        ("validator_flags: float_tolerance x\n", "not followed by a number"),
        ("validator_flags: float_tolerance nan\n", "not followed by a number"),
        ("validator_flags: float_tolerance -1\n", "not followed by a number"),
        ("validator_flags: float_tolerance .inf\n", "not followed by a number"),
        ("validator_flags: float_tolerance 1 float_tolerance 2\n", "given twice"),
        ("validator_flags: float_tolerance 1 float_absolute_tolerance 2\n", "beside a relative"),
        ("- a\n", "not a YAML mapping"),
    ],
)
def test_what_cannot_be_judged_is_said(package: Package, settings: str, message: str) -> None:
    folder = package(settings)
    with pytest.raises(DataError, match=message):
        load(str(folder))
    assert len(load(str(folder), skip_bad_rows=True).skipped) == 1


def test_a_validator_in_another_language_is_named(package: Package) -> None:
    folder = package("validation: custom\n", {"output_validators/check.java": "class A {}"})
    with pytest.raises(DataError, match=r"check\.java is neither Python nor C\+\+"):
        load(str(folder))


def test_flags_of_a_group_hold_for_its_tests_alone(package: Package, worker: Worker) -> None:
    flags = {"data/secret/group/testdata.yaml": "output_validator_flags: float_tolerance 0.1"}
    problem = only(package("name: Parts\n", flags))
    code = "n = int(input())\nprint(*{3: ('1', '2.0'), 5: ('2', '3.0')}[n])"
    grade = judge(worker, Options(isolate=True).task(problem, code, problem.tests.all()))
    assert [test.verdict for test in grade.tests] == [Verdict.WRONG_ANSWER, Verdict.ACCEPTED]


class TestOfFolders:
    def test_the_message_names_the_flag_that_leaves_a_package_out(self, package: Package) -> None:
        folder = package().parent
        package("type: interactive\n", folder="other")
        with pytest.raises(DataError, match="--set skip_bad_rows=true leaves it out"):
            load(str(folder))
        loaded = load(str(folder), skip_bad_rows=True)
        assert [problem.native_id for problem in loaded.problems] == ["parts"]
        assert len(loaded.skipped) == 1

    def test_the_error_of_a_single_package_does_not_advise_skipping(self, package: Package) -> None:
        with pytest.raises(DataError) as caught:
            load(str(package("type: interactive\n")))
        assert "--set skip_bad_rows" not in str(caught.value)

    def test_two_names_of_one_folder_are_two_problems(self, package: Package) -> None:
        folder = package()
        (folder.parent / "linked").symlink_to(folder)
        names = [problem.id for problem in load(str(folder.parent)).problems]
        assert names == ["icpc/linked", "icpc/parts"]


class TestSubmissions:
    @pytest.mark.parametrize(
        ("files", "programs"),
        [
            ({"a/main.py": "print(1)"}, 2),
            ({"a/main.py": "import b", "a/b.py": "x = 1"}, 1),
            ({"a/main.py": "print(1)", "a/Main.java": "class Main {}"}, 1),
            ({"a/main.py": "print(1)", "a/notes.txt": "a note"}, 2),
            ({"old.py": "#!/usr/bin/env python2\nprint(3 / 2)"}, 1),
            ({"old.py": "print 1"}, 1),
            ({"old.py2": "print(1)"}, 1),
        ],
    )
    def test_one_python_file_is_a_reference(
        self, package: Package, files: dict[str, str], programs: int
    ) -> None:
        more = {f"submissions/accepted/{name}": text for name, text in files.items()}
        assert len(only(package("name: a\n", more)).programs()) == programs


def test_secret_tests_are_those_that_were_loaded(package: Package) -> None:
    folder = package()
    problem = only(folder)
    (folder / "data/secret/group/2.ans").write_text("1 4\n")
    with pytest.raises(DataError, match="no longer the file that was loaded"):
        problem.tests.load_hidden()


def test_the_limit_of_output_holds(package: Package, worker: Worker) -> None:
    problem = only(package("limits: {output: 1}\n"))
    task = Options().task(problem, "print('1 2' + ' ' * (1 << 20))", problem.tests.public)
    assert judge(worker, task).verdict is Verdict.OUTPUT_LIMIT
