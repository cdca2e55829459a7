"""Hostile programs in C++, and hostile sources: none gains or leaves anything, at any level.

A program that gets away with what it tries says so, which is a wrong answer; where it is refused
it solves the problem, which is accepted.
"""

import secrets
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from levels import LEVELS, level_of
from processes import PATIENCE_S, descendants, resting

from harness.grading.judge import Task, judge
from harness.grading.verdict import Grade, Verdict
from harness.kinds.cpp.builder import MESSAGE_BYTES
from harness.kinds.cpp.language import compiler
from harness.languages.language import MissingCompilerError
from harness.problem import TestCase
from harness.sandbox.isolation import Level
from harness.sandbox.limits import MEBIBYTE, Limits
from harness.sandbox.program import Program
from harness.sandbox.strongest import strongest
from harness.sandbox.worker import Worker

try:
    compiler()
except MissingCompilerError as missing:
    pytest.skip(str(missing), allow_module_level=True)

FOLDER = Path(__file__).parent / "hostile_cpp"
LIMITS = Limits(cpu_s=0.5, memory_bytes=256 * MEBIBYTE, output_bytes=4 * MEBIBYTE, own_wall_s=2.0)
SHORT = replace(LIMITS, cpu_s=0.2, own_wall_s=0.6)
"""Limits of programs that run into one of time, which is all there is to wait for."""
COMPILE_S = 2.0
DOUBLE = '#include <cstdio>\nint main() { int n; scanf("%d", &n); printf("%d\\n", 2 * n); }\n'
HONEST = "import os\nn = int(input())\nprint(os.listdir() or 2 * n)"
TESTS = [TestCase(input=f"{n}\n", output=f"{2 * n}\n", public=n == 1) for n in (1, 20, 300)]
OUT_OF_MEMORY = {Verdict.RUNTIME_ERROR, Verdict.MEMORY_LIMIT}
PROGRAMS: dict[str, set[Verdict]] = {
    "calls": {Verdict.ACCEPTED},
    "clock": {Verdict.TIME_LIMIT},
    "descriptors": {Verdict.ACCEPTED},
    "error_stream": {Verdict.OUTPUT_LIMIT},
    "files": {Verdict.ACCEPTED},
    "fill": {Verdict.OUTPUT_LIMIT},
    "handlers": {Verdict.TIME_LIMIT},
    "holes": {Verdict.ACCEPTED},
    "interpreter": {Verdict.RUNTIME_ERROR, Verdict.WRONG_ANSWER},
    "leaves": {Verdict.ACCEPTED},
    "memory_mapped": OUT_OF_MEMORY,
    "old_entry": {Verdict.RUNTIME_ERROR},
    "overflow_caught": {Verdict.TIME_LIMIT, *OUT_OF_MEMORY},
    "own_code": {Verdict.ACCEPTED},
    "signals": {Verdict.TIME_LIMIT},
    "stack": OUT_OF_MEMORY,
    "static_data": OUT_OF_MEMORY,
    "surroundings": {Verdict.ACCEPTED},
    "suspended": {Verdict.TIME_LIMIT},
    "threads": {Verdict.TIME_LIMIT, *OUT_OF_MEMORY},
    "vfork": {Verdict.ACCEPTED},
    "x32": {Verdict.RUNTIME_ERROR},
}
HIDDEN_FILES = {"files"}
"""Programs that need a level at which files are hidden."""
SOURCES = {
    "unknown name": "int main() { return x; }",
    "itself": "#include __FILE__\nint main() {}",
    "no end": '#include "/dev/zero"\nint main() {}',
    "incbin": 'asm(".incbin \\"/etc/passwd\\"");\nint main() {}',
    "assembler include": 'asm(".include \\"/etc/passwd\\"");\nint main() {}',
    "include": "#include </etc/passwd>\nint main() {}",
    "line": '#line 1 "/etc/passwd"\nint main() { return x; }',
    "dependency": '#pragma GCC dependency "/etc/passwd"\nint main() { return x; }',
    "has_include": '#if __has_include("/etc/passwd")\nroot: x\n#else\n#error none\n#endif',
    "environment": '#include "/proc/self/environ"\nint main() { return x; }',
    "arguments": '#include "/proc/self/cmdline"\nint main() { return x; }',
    "linker": "int f();\nint main() { return f(); }",
    "data": "char huge[1ull << 32] = {1};\nint main() { return huge[5]; }",
    "zeroes": "#include <cstdlib>\nchar a[1ull << 34], b[1ull << 34];\nint main(int n, char**) "
    "{ for (long k = 0; k < 1l << 34; ++k) a[k] = b[k] = n; abort(); }",
    "templates": "template <int N, int M> struct T { static const long v = T<N - 1, 2 * M>::v"
    " + T<N - 1, 2 * M + 1>::v; };\n"
    "template <int M> struct T<0, M> { static const long v = M; };\n"
    "int main() { return T<28, 1>::v; }\n",
    "endless template": "template <class T> struct A { A<A<T>> a; };\nA<int> a;\nint main() {}",
    "constant": "constexpr long f() { long n = 0; for (;;) ++n; return n; }\n"
    "constexpr long n = f();\nint main() {}",
    "macros": "#define A X X X X X X X X X X\n#define X B B B B B B B B B B\n"
    "#define B C C C C C C C C C C\n#define C D D D D D D D D D D\n"
    "#define D E E E E E E E E E E\n#define E F F F F F F F F F F\n"
    "#define F G G G G G G G G G G\n#define G H H H H H H H H H H\n"
    "#define H +1\nint main() { return A; }",
    "pragmas": '#pragma GCC optimize("O3", "unroll-loops")\n#pragma GCC target("avx512f")\n'
    "#pragma GCC poison main\nint main() {}",
    "many errors": "int main() {" + "x;" * 100_000 + "}",
    "long error": f"int {'a' * 200_000}() {{ return {'b' * 200_000}; }}\nint main() {{}}",
    "not text": "\0\x01\udc80int main() {}",
    "no end of nesting": "int main() { return " + "(" * 200_000,
}
HIDDEN_SOURCES = {"incbin", "assembler include", "include", "line", "has_include", "dependency"}
"""Sources that need a level at which files are hidden."""
AT_EVERY_LEVEL = {"environment", "arguments", "pragmas", *HIDDEN_SOURCES}
"""Sources that ask for files; the others get the same answer at every level."""

AT_THE_LIMIT = {"macros", "templates", "many errors", "long error", "no end", "no end of nesting"}
"""Sources that take the compiler seconds."""


@pytest.fixture(scope="module", params=LEVELS)
def bench(request: pytest.FixtureRequest) -> Iterator[Worker]:
    """A worker in each sandbox of this machine, with its processes."""
    worker = Worker(level_of(request.param))
    new = f"// {secrets.token_hex(8)}\n{DOUBLE}"  # so that the compiler's sandbox is started
    assert _judge(worker, new).verdict is Verdict.ACCEPTED
    yield worker
    worker.stop()


def _judge(worker: Worker, code: str, language: str = "cpp", limits: Limits = LIMITS) -> Grade:
    program = Program(code, language=language, compile_s=COMPILE_S)
    return judge(worker, Task(program, TESTS, limits))


def _number_of_processes(worker: Worker) -> int:
    """The processes below this one, at rest and with the compiler's sandbox started."""
    builder = worker.compiler.builder
    server = None if builder is None else builder.server
    if server is None or server.process.poll() is not None:
        assert _judge(worker, f"int main() {{}} // {secrets.token_hex(8)}").tests
    assert worker.process_id is not None
    resting(worker.process_id)
    return len(descendants())


def _assert_nothing_is_left(worker: Worker, before: int) -> None:
    for code, language in ((DOUBLE, "cpp"), (HONEST, "python")):
        grade = _judge(worker, code, language)
        assert grade.verdict is Verdict.ACCEPTED, grade.tests
        assert grade.judged_again.retried == 0
    end = time.monotonic() + PATIENCE_S
    while (now := len(descendants())) > before:
        assert time.monotonic() < end, now
        time.sleep(0.02)  # what was killed takes a moment to go


def test_every_hostile_program_has_its_verdicts() -> None:
    assert {path.stem for path in FOLDER.glob("*.cpp")} == set(PROGRAMS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_hostile_program_gains_and_leaves_nothing(bench: Worker, name: str) -> None:
    if name in HIDDEN_FILES and bench.isolation.level is Level.SECCOMP:
        pytest.skip("this level hides no files")
    before = _number_of_processes(bench)
    limits = SHORT if Verdict.TIME_LIMIT in PROGRAMS[name] else LIMITS
    grade = _judge(bench, (FOLDER / f"{name}.cpp").read_text(), limits=limits)
    assert grade.verdict in PROGRAMS[name], grade.tests
    assert not [test for test in grade.tests if test.got.startswith("got ")]
    _assert_nothing_is_left(bench, before)


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.thorough] if name in AT_THE_LIMIT else [])
        for name in SOURCES
    ],
)
def test_a_source_that_cannot_be_compiled_gains_and_leaves_nothing(
    bench: Worker, name: str
) -> None:
    if name in HIDDEN_SOURCES and bench.isolation.level is Level.SECCOMP:
        pytest.skip("this level hides no files")
    if name not in AT_EVERY_LEVEL and bench.isolation != strongest().isolation:
        pytest.skip("the compiler refuses it at all levels alike")
    before = _number_of_processes(bench)
    grade = _judge(bench, SOURCES[name])
    assert grade.verdict is Verdict.COMPILE_ERROR
    (test,) = grade.tests
    assert test.index == 0
    assert test.error
    assert len(test.error) < MESSAGE_BYTES + 200
    assert "root:" not in test.error
    assert "PATH=" not in test.error
    _assert_nothing_is_left(bench, before)
