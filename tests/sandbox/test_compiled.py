"""C++ programs: verdicts, compile errors, limits, and programs that try to get out."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.grading.judge import judge
from harness.grading.task import Task
from harness.grading.verdict import Grade, Verdict
from harness.languages.cpp import compiler
from harness.languages.language import MissingCompilerError
from harness.problem import TestCase
from harness.sandbox.binaries import Binaries
from harness.sandbox.isolation import CANDIDATES, Isolation, Level
from harness.sandbox.limits import MEBIBYTE, Limits
from harness.sandbox.program import Program
from harness.sandbox.strongest import probe_isolation
from harness.sandbox.worker import Worker

try:
    compiler()
except MissingCompilerError as missing:
    pytest.skip(str(missing), allow_module_level=True)

FOLDER = Path(__file__).parent / "hostile_cpp"
LIMITS = Limits(cpu_s=1.0, memory_bytes=256 * MEBIBYTE, output_bytes=4 * MEBIBYTE)
DOUBLE = "#include <iostream>\nint main() { int n; std::cin >> n; std::cout << 2 * n << '\\n'; }\n"
TESTS = [TestCase(input=f"{n}\n", output=f"{2 * n}\n", public=n == 1) for n in (1, 20, 300)]
Judge = Callable[..., Grade]


@pytest.fixture(scope="module", params=CANDIDATES, ids=str)
def bench(request: pytest.FixtureRequest) -> Iterator[Worker]:
    """A worker in each sandbox of this machine."""
    isolation: Isolation = request.param
    found = probe_isolation(isolation)
    if not found.holds:
        pytest.skip(found.broken)
    worker = Worker(isolation)
    yield worker
    worker.stop()


def _judge(worker: Worker, code: str, tests: list[TestCase] = TESTS) -> Grade:
    return judge(worker, Task(Program(code, language="cpp"), tests, LIMITS))


def _hostile(name: str) -> str:
    return (FOLDER / f"{name}.cpp").read_text()


def test_a_right_program_is_accepted_on_every_test(bench: Worker) -> None:
    grade = _judge(bench, DOUBLE)
    assert grade.verdict is Verdict.ACCEPTED
    assert [test.peak_bytes is not None for test in grade.tests] == [True] * 3


@pytest.mark.parametrize(
    ("name", "verdicts"),
    [
        ("calls", {Verdict.ACCEPTED}),
        ("vfork", {Verdict.ACCEPTED}),
        ("old_entry", {Verdict.RUNTIME_ERROR}),
        ("x32", {Verdict.RUNTIME_ERROR}),
        ("stack", {Verdict.RUNTIME_ERROR, Verdict.MEMORY_LIMIT}),
        ("signals", {Verdict.TIME_LIMIT}),
        ("static_data", {Verdict.RUNTIME_ERROR, Verdict.MEMORY_LIMIT}),
        ("fill", {Verdict.OUTPUT_LIMIT}),
    ],
)
def test_a_hostile_program_gains_nothing(bench: Worker, name: str, verdicts: set[Verdict]) -> None:
    grade = _judge(bench, _hostile(name))
    assert grade.verdict in verdicts, grade.tests
    assert _judge(bench, DOUBLE).verdict is Verdict.ACCEPTED


def test_a_program_sees_no_file_of_the_machine_nor_of_an_earlier_test(bench: Worker) -> None:
    if bench.isolation.level is Level.SECCOMP:
        pytest.skip("this level hides no files")
    grade = _judge(bench, _hostile("files"))
    assert grade.verdict is Verdict.ACCEPTED, grade.tests


@pytest.mark.parametrize(
    "code",
    [
        "int main() { return x; }",
        "#include __FILE__\nint main() {}",
        '#include "/dev/zero"\nint main() {}',
        'asm(".incbin \\"/etc/passwd\\"");\nint main() {}',
        "#include </etc/passwd>\nint main() {}",
        '#include "/proc/self/environ"\nint main() {}',
        "int f();\nint main() { return f(); }",
        "char huge[1ull << 32] = {1};\nint main() { return huge[5]; }",
    ],
)
def test_a_source_that_cannot_be_compiled_leaks_nothing(bench: Worker, code: str) -> None:
    if bench.isolation.level is Level.SECCOMP and "/etc/passwd" in code:
        pytest.skip("this level hides no files")
    grade = _judge(bench, code)
    assert grade.verdict is Verdict.COMPILE_ERROR
    (test,) = grade.tests
    assert test.index == 0
    assert test.error
    assert "root:" not in test.error
    assert "PATH=" not in test.error


def test_templates_without_end_are_a_compile_error_in_bounded_time(bench: Worker) -> None:
    code = (
        "template <int N, int M> struct T { static const long v = T<N - 1, 2 * M>::v"
        " + T<N - 1, 2 * M + 1>::v; };\n"
        "template <int M> struct T<0, M> { static const long v = M; };\n"
        "int main() { return T<28, 1>::v; }\n"
    )
    grade = _judge(bench, code)
    assert grade.verdict is Verdict.COMPILE_ERROR
    assert _judge(bench, DOUBLE).verdict is Verdict.ACCEPTED


@pytest.mark.parametrize(
    ("code", "verdict", "error"),
    [
        ("int main() { return 3; }", Verdict.RUNTIME_ERROR, "exit code 3"),
        ("#include <cstdlib>\nint main() { abort(); }", Verdict.RUNTIME_ERROR, "signal 6"),
        ("int main() { for (;;) {} }", Verdict.TIME_LIMIT, ""),
        ("int main() {}", Verdict.WRONG_ANSWER, ""),
        (
            "#include <vector>\nint main() { for (std::vector<long> v;;) v.push_back(1); }",
            Verdict.MEMORY_LIMIT,
            "",
        ),
    ],
)
def test_endings_have_the_verdicts_of_python(
    shared_worker: Worker, code: str, verdict: Verdict, error: str
) -> None:
    grade = _judge(shared_worker, code)
    assert grade.verdict is verdict
    assert error in grade.tests[0].error


def test_a_compiled_program_is_kept_for_its_user_alone(tmp_path: Path) -> None:
    binaries = Binaries(tmp_path / "kept")
    binaries.keep("a", b"program")
    assert binaries.find("a") == b"program"
    (tmp_path / "kept" / "a").chmod(0o644)
    assert binaries.find("a") is None
    (tmp_path / "kept" / "a").chmod(0o600)
    (tmp_path / "kept" / "a").write_bytes(bytes(32) + b"changed")
    assert binaries.find("a") is None
    (tmp_path / "kept").chmod(0o777)
    binaries.keep("b", b"program")
    assert binaries.find("b") is None


def test_a_second_run_of_a_program_does_not_compile_it_again(shared_worker: Worker) -> None:
    code = f"// {time.time_ns()}\n{DOUBLE}"
    assert _judge(shared_worker, code).verdict is Verdict.ACCEPTED
    builder = shared_worker._builder
    assert builder is not None
    assert builder.server is not None
    builder.end()
    assert _judge(shared_worker, code).verdict is Verdict.ACCEPTED
    assert builder.server is None, "the compiler's sandbox was not started again"
