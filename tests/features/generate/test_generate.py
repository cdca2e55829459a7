"""`harness fetch icpc:FOLDER --generate`: what it makes, and what it refuses."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from contest_packages import FILES, only, write_package
from program import Done, harness

from harness.errors import DataError
from harness.features.generate import generation
from harness.features.generate.staged_tests import StagedTests
from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.sandbox_retry import RetryingWorker
from harness.languages.cpp import compiler
from harness.languages.language import MissingCompilerError
from harness.sandbox.limits import Limits
from harness.sandbox.worker import Worker
from harness.sources.contests.package.package_folder import PackageFolder

GENERATOR = """
import random, sys
from lib import MOST
random.seed(int(sys.argv[1]))
print(random.randint(3, MOST))
"""
TESTS = """
solution: /submissions/accepted/half.py
generators:
  half: [half.py, lib.py]
data:
  secret:
    data:
      - half: {generate: 'half {seed}', count: 3}
      - large: single.py 100 {seed}
      - copied: {copy: manual/one}
      - given: {in: '8', ans: '4 4'}
"""
CHECK = "import sys\nsys.exit(42 if int(sys.stdin.readline()) > 2 else 43)"
PARTS = {
    "generators/generators.yaml": TESTS,
    "generators/half.py": GENERATOR,
    "generators/lib.py": "MOST = 1000",
    "generators/single.py": "import sys\nfrom lib import MOST\nprint(int(sys.argv[1]) + MOST)",
    "generators/manual/one.in": "6\n",
    "input_validators/check.py": CHECK,
    "submissions/accepted/half.py": FILES["submissions/accepted/half.py"],
    "output_validators/sum/validate.py": (
        "import sys\n"
        "n = int(open(sys.argv[1]).read())\n"
        "sys.exit(42 if sum(map(int, input().split())) == n else 43)"
    ),
}
LOOP = "while True: pass"
FORK = "import os\nwhile True: os.fork()"
HUGE = "import sys\nwhile True: sys.stdout.write('7' * 1000000)"


def require_compiler() -> None:
    """Skip the test where there is no compiler."""
    try:
        compiler()
    except MissingCompilerError as missing:
        pytest.skip(str(missing))


def put(folder: Path, more: dict[str, str] | None = None) -> Path:
    """Write a package with generators and no secret tests."""
    write_package(folder, "name: Parts\nvalidation: custom\n", PARTS | (more or {}))
    shutil.rmtree(folder / "data" / "secret")
    (folder / "submissions" / "accepted" / "half.cc").unlink()  # it needs a compiler
    return folder


def one(code: str, settings: str = "") -> dict[str, str]:
    """Return a package's files whose only test is made by a program."""
    text = f"{settings}data: {{secret: {{data: {{a: g.py}}}}}}"
    return {"generators/generators.yaml": text, "generators/g.py": code}


def generate(folder: Path, *flags: str) -> Done:
    return harness(folder.parent, "fetch", f"icpc:{folder}", "--generate", *flags)


def content(folder: Path) -> dict[str, bytes]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}


@pytest.fixture
def parts(tmp_path: Path) -> Path:
    return put(tmp_path / "parts")


def test_tests_are_written_where_the_reader_finds_them(parts: Path) -> None:
    before = content(parts)
    done = generate(parts)
    assert (done.returncode, done.stderr) == (0, "")
    assert "parts: 6 tests" in done.stdout
    made = {name: text for name, text in content(parts).items() if name not in before}
    assert sorted(made) == [
        f"data/secret/{name}{ending}"
        for name in ("1-half-1", "2-half-2", "3-half-3", "4-large", "5-copied", "6-given")
        for ending in (".ans", ".in")
    ]
    assert made["data/secret/6-given.in"] == b"8\n"
    assert made["data/secret/5-copied.ans"] == b"3 3\n"
    assert made["data/secret/4-large.in"] == b"1100\n"
    assert len({made[f"data/secret/{n}-half-{n}.in"] for n in (1, 2, 3)}) == 3
    assert len(only(parts).tests.load_hidden()) == 6


def test_the_same_bytes_are_made_again(parts: Path, tmp_path: Path) -> None:
    other = put(tmp_path / "other")
    generate(parts)
    generate(other)
    first = content(parts)
    assert content(other) == first
    again = generate(parts)
    assert "0 new files" in again.stdout
    assert content(parts) == first


def test_a_wrong_solution_that_passed_the_samples_is_rejected(parts: Path, worker: Worker) -> None:
    wrong = "n = int(input())\nprint(1, min(n - 1, 7))"

    def solved() -> bool:
        problem = only(parts)
        return judge(worker, Options().task(problem, wrong, problem.tests.all())).solved

    assert solved()
    generate(parts)
    assert not solved()


def test_another_test_in_its_place_is_never_replaced(parts: Path) -> None:
    place = parts / "data" / "secret" / "6-given.in"
    place.parent.mkdir()
    place.write_text("5\n")
    (place.with_suffix(".ans")).write_text("2 3\n")
    before = content(parts)
    done = generate(parts)
    assert done.returncode == 2
    assert "6-given.in: there is another file than the one generated" in done.stdout
    assert content(parts) == before


def test_an_answer_that_is_there_stays(parts: Path) -> None:
    generate(parts)
    place = parts / "data" / "secret" / "5-copied.ans"
    place.write_text("2 4\n")
    assert generate(parts).returncode == 0
    assert place.read_text() == "2 4\n"


def test_a_listed_test_without_generator_must_be_there(tmp_path: Path) -> None:
    more = {"generators/generators.yaml": "data: {secret: {data: {a: }}}"}
    parts = put(tmp_path / "parts", more)
    assert "there is no data/secret/a.in" in generate(parts).stdout
    (parts / "data" / "secret").mkdir()
    (parts / "data" / "secret" / "a.in").write_text("6\n")
    assert generate(parts).returncode == 0
    assert (parts / "data" / "secret" / "a.ans").read_text() == "3 3\n"


def test_settings_of_a_group_are_written(tmp_path: Path) -> None:
    text = "data: {secret: {testdata.yaml: {on_reject: continue}, data: {a: {in: '6'}}}}"
    parts = put(tmp_path / "parts", {"generators/generators.yaml": text})
    assert generate(parts).returncode == 0
    assert (parts / "data/secret/testdata.yaml").read_text() == "on_reject: continue\n"


def test_listed_files_in_a_folder_find_each_other(tmp_path: Path) -> None:
    text = "generators: {g: [in/g.py, in/lib.py]}\ndata: {secret: {data: {a: g}}}"
    more = {
        "generators/generators.yaml": text,
        "generators/in/g.py": "from lib import N\nprint(N)",
        "generators/in/lib.py": "N = 6",
    }
    assert generate(put(tmp_path / "parts", more)).returncode == 0


def test_a_generator_may_write_its_files(tmp_path: Path) -> None:
    code = "open('testcase.in', 'w').write('9\\n')\nopen('testcase.ans', 'w').write('0 9\\n')"
    parts = put(tmp_path / "parts", one(code))
    assert generate(parts).returncode == 0
    assert (parts / "data/secret/a.in").read_text() == "9\n"
    assert (parts / "data/secret/a.ans").read_text() == "0 9\n"


def test_a_generator_that_fails_is_tried_again_with_the_next_seed(tmp_path: Path) -> None:
    code = "import sys\nif int(sys.argv[1]) % 2: sys.exit('odd')\nprint(sys.argv[1])"
    text = "data: {secret: {data: {a: {generate: 'g.py {seed}', retries: 2}}}}"
    more = one(code) | {"generators/generators.yaml": text}
    assert generate(put(tmp_path / "parts", more)).returncode == 0


def test_a_solution_is_compiled_with_the_files_that_belong_to_every_one(tmp_path: Path) -> None:
    require_compiler()
    grader = """
#include "parts.h"
#include <cstdio>
int main() { int n; if (scanf("%d", &n)) printf("%d %d\\n", part(n), n - part(n)); }
"""
    more = {
        "include/cpp/grader.cpp": grader,
        "include/cpp/parts.h": "int part(int n);",
        "submissions/accepted/whole/grader.cpp": "int main() {}",
        "submissions/accepted/whole/parts.cc": "int part(int n) { return n / 2; }",
        "generators/generators.yaml": TESTS.replace("accepted/half.py", "accepted/whole"),
    }
    parts = put(tmp_path / "parts", more)
    assert generate(parts).returncode == 0
    assert content(parts)["data/secret/4-large.ans"] == b"550 550\n"


def test_a_cpp_generator_finds_headers_and_arguments(tmp_path: Path) -> None:
    require_compiler()
    code = """
#include "made.h"
#include <cstdlib>
#include <iostream>
int main(int count, char **words) { std::cout << count + atol(words[1]) + BASE << "\\n"; }
"""
    parts = put(
        tmp_path / "parts",
        {
            "generators/generators.yaml": "data: {secret: {data: {a: made 5, b: single.cpp 7}}}",
            "generators/made/made.cpp": code,
            "generators/made/made.h": "const int BASE = 100;",
            "generators/single.cpp": code,
            "generators/made.h": "const int BASE = 200;",
        },
    )
    assert generate(parts).returncode == 0
    assert (parts / "data/secret/a.in").read_text() == "107\n"
    assert (parts / "data/secret/b.in").read_text() == "209\n"


@pytest.mark.parametrize(
    ("more", "error"),
    [
        (one("import sys; sys.exit('no such graph')"), "exit code 1: no such graph"),
        (one("pass"), "prints nothing"),
        (
            one("print(2)"),
            "the input is wrong: the input validator check.py ends with exit code 43",
        ),
        (
            one("import sys\nsys.stdout.buffer.write(b'\\xff')")
            | {"input_validators/check.py": "exit(42)"},
            "not UTF-8",
        ),
        (one(FORK), "the generator g.py raises: PermissionError"),
        (one(HUGE), "writes more than 64 MiB"),
        (
            one("import socket\nsocket.create_connection(('1.1.1.1', 80))"),
            "raises: PermissionError",
        ),
        (one("print(open('/etc/passwd').read())"), "the generator g.py raises: "),
        (
            one("print(6)", "solution: /submissions/none.py\n"),
            "there is no program submissions/none.py",
        ),
        (one("print(6)", "solution: /../../x.py\n"), "leads out of"),
        (one("print(6)", "solution:\n"), "it has no answer"),
        (
            one("print(6)", "solution: /submissions/accepted/A.java\n")
            | {"submissions/accepted/A.java": "class A {}"},
            "is java; only Python 3 and C++ are run here",
        ),
        (
            one("print(6)") | {"submissions/accepted/half.py": "input()"},
            "the solution submissions/accepted/half.py prints nothing",
        ),
        ({"generators/generators.yaml": "data: {secret: {data: {a: none 1}}}"}, "no program"),
        ({"generators/generators.yaml": "data: {secret: {data: {a: ../x.py}}}"}, "leads out of"),
    ],
)
def test_what_cannot_be_made_is_one_line_and_leaves_nothing(
    tmp_path: Path, more: dict[str, str], error: str
) -> None:
    parts = put(tmp_path / "parts", more)
    before = content(parts)
    done = generate(parts)
    assert done.returncode == 2
    assert len(done.stdout.splitlines()) == 1
    assert error in done.stdout
    assert content(parts) == before
    assert [path.name for path in (parts / "data").iterdir()] == ["sample"]


def test_a_solution_that_loops_is_ended(
    tmp_path: Path, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generation, "MOST_S", 0.5)
    parts = put(tmp_path / "parts", one("print(6)") | {"submissions/accepted/half.py": LOOP})
    with pytest.raises(DataError, match=r"half\.py needs more than 0\.5 s of CPU time"):
        generation.generate_package(RetryingWorker(worker), PackageFolder(parts), lambda *_: None)


def test_a_generator_that_loops_is_ended(
    tmp_path: Path, worker: Worker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generation, "GENERATOR_LIMITS", Limits(cpu_s=0.5))
    parts = put(tmp_path / "parts", one(LOOP))
    with pytest.raises(DataError, match=r"the generator g\.py needs more than 0\.5 s of CPU time"):
        generation.generate_package(RetryingWorker(worker), PackageFolder(parts), lambda *_: None)
    assert [path.name for path in (parts / "data").iterdir()] == ["sample"]


@pytest.mark.parametrize("place", ["data/secret", "generators/g.py", "generators/manual"])
def test_links_out_of_the_package_are_not_followed(tmp_path: Path, place: str) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "one.in").write_text("6\n")
    text = "data: {secret: {data: {a: {copy: manual/one}, b: g.py}}}"
    parts = put(tmp_path / "parts", one("print(6)") | {"generators/generators.yaml": text})
    path = parts / place
    if path.is_dir():
        shutil.rmtree(path)
    path.unlink(missing_ok=True)
    path.symlink_to(outside / "g.py" if path.suffix else outside)
    done = generate(parts)
    assert done.returncode == 2
    assert "links out of" in done.stdout
    assert [each.name for each in outside.iterdir()] == ["one.in"]


def test_what_a_killed_process_staged_is_removed_by_the_next(parts: Path) -> None:
    killed = (
        "import os, sys; from pathlib import Path\n"
        "from harness.features.generate.staged_tests import StagedTests\n"
        "from harness.sources.contests.package.package_folder import PackageFolder\n"
        "StagedTests(PackageFolder(Path(sys.argv[1]))).add('secret/one.in', b'1')\n"
        "os.kill(os.getpid(), 9)"
    )
    subprocess.run([sys.executable, "-c", killed, str(parts)], check=False)
    (left,) = (parts / "data").glob(".generated-*")
    with StagedTests(PackageFolder(parts)):
        (own,) = (parts / "data").glob(".generated-*")
        assert own != left
        with StagedTests(PackageFolder(parts)):
            assert own.exists(), "its process lives"
    assert not list((parts / "data").glob(".generated-*"))


def test_other_packages_go_on_and_json_counts(tmp_path: Path) -> None:
    folder = tmp_path / "all"
    put(folder / "bad", one("pass"))
    put(folder / "good")
    write_package(folder / "plain")
    done = generate(folder, "--json")
    assert done.returncode == 2
    data = json.loads(done.stdout)
    assert [each["package"] for each in data["packages"]] == ["good"]
    assert [each["package"] for each in data["refused"]] == ["bad"]
    assert data["tests"] == 6


BOUND = "import sys\nsys.exit(42 if int(input()) <= int((sys.argv + ['0'])[1]) else 43)"
GROUPS = """
data:
  secret:
    testdata.yaml: {{input_validator_flags: {outer}}}
    data:
      small: {{testdata.yaml: {{input_validator_flags: {inner}}}, data: {{a: {{in: '4'}}}}}}
      large: {{data: {{a: {{in: '400'}}}}}}
"""


@pytest.mark.parametrize(
    ("outer", "inner"),
    [("500", "10"), ("{bound.py: '500'}", "{bound: 10}"), ("[500]", "['10', more]")],
)
def test_input_validators_have_the_arguments_of_the_test_s_group(
    tmp_path: Path, outer: str, inner: str
) -> None:
    text = GROUPS.format(outer=outer, inner=inner)
    files = {"generators/generators.yaml": text, "input_validators/bound.py": BOUND}
    done = generate(put(tmp_path / "parts", files))
    assert (done.returncode, done.stderr) == (0, "")
    assert "not checked" not in done.stdout


@pytest.mark.parametrize(
    ("outer", "inner", "path"),
    [("500", "3", "secret/small/a"), ("399", "10", "secret/large/a")],
)
def test_an_input_that_is_wrong_for_its_group_s_arguments_is_refused(
    tmp_path: Path, outer: str, inner: str, path: str
) -> None:
    text = GROUPS.format(outer=outer, inner=inner)
    files = {"generators/generators.yaml": text, "input_validators/bound.py": BOUND}
    done = generate(put(tmp_path / "parts", files))
    assert done.returncode == 2
    assert f"{path}: the input is wrong: the input validator bound.py ends" in done.stdout


def test_arguments_of_a_group_s_own_file_are_those_of_its_tests(tmp_path: Path) -> None:
    text = "data: {secret: {data: {a: {in: '40'}}}}"
    files = {"generators/generators.yaml": text, "input_validators/bound.py": BOUND}
    parts = put(tmp_path / "parts", files | {"data/testdata.yaml": "input_validator_flags: 39"})
    assert "the input is wrong" in generate(parts).stdout
    (parts / "data" / "testdata.yaml").write_text("input_validator_flags: 40")
    assert generate(parts).returncode == 0


def test_inputs_that_nobody_checks_are_told(tmp_path: Path) -> None:
    parts = put(tmp_path / "parts", {"input_validators/v.ctd": "INT(1, 5)"})
    why = "inputs not checked: input_validators/v.ctd is in no language that is known"
    assert why in generate(parts).stdout


def test_a_validator_s_header_may_be_elsewhere_in_the_folder_that_is_named(tmp_path: Path) -> None:
    main = '#include "shared.h"\nint main() { return CODE; }\n'
    parts = put(tmp_path / "contest" / "parts", {"input_validators/v/v.cpp": main})
    (parts / "input_validators" / "v" / "shared.h").symlink_to("../../../shared.h")
    (parts.parent / "shared.h").write_text("#define CODE 43\n")
    why = "inputs not checked: input_validators/v: links out of"
    assert why in generate(parts).stdout
    shutil.rmtree(parts / "data" / "secret")
    assert "the input is wrong" in generate(parts.parent).stdout
    (parts.parent / "shared.h").write_text("#define CODE 42\n")
    assert "not checked" not in generate(parts.parent).stdout


@pytest.mark.parametrize("spec", ["fixture", "livecodebench:x.jsonl"])
def test_other_benchmarks_are_refused(tmp_path: Path, spec: str) -> None:
    done = harness(tmp_path, "fetch", spec, "--generate")
    assert done.returncode == 2
    assert "--generate makes tests of contest packages" in done.stderr


def test_a_package_without_generators_is_refused(tmp_path: Path) -> None:
    done = generate(write_package(tmp_path / "plain"))
    assert done.returncode == 2
    assert "no package of" in done.stderr


def test_packages_that_lack_their_tests_name_the_command(parts: Path) -> None:
    listed = harness(parts.parent, "problems", f"icpc:{parts}")
    line = "1 package without hidden tests, but with generators: harness fetch icpc:"
    assert f"{line}{parts} --generate" in listed.stdout
    fetched = harness(parts.parent, "fetch", f"icpc:{parts}")
    assert fetched.returncode == 2
    assert "--generate makes the tests" in fetched.stderr
