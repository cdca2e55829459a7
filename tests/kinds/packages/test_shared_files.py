"""Files of validators that the packages of a contest share by links."""

from pathlib import Path

import pytest
from contest_packages import Package

from harness.errors import DataError
from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.verdict import Verdict
from harness.kinds.cpp.language import compiler
from harness.kinds.packages.icpc import load
from harness.languages.language import MissingCompilerError
from harness.sandbox.worker import Worker

try:
    compiler()
except MissingCompilerError as missing:
    pytest.skip(str(missing), allow_module_level=True)

SHARED = """
#include <cstdio>
static bool right(long n) {
    long one, other;
    return scanf("%ld %ld", &one, &other) == 2 && one + other == n;
}
"""
USES = """
#include "shared.h"
int main(int, char **arguments) {
    long n;
    fscanf(fopen(arguments[1], "r"), "%ld", &n);
    return right(n) ? 42 : 43;
}
"""


@pytest.fixture
def contest(package: Package) -> Path:
    """A folder of a package whose validator links to a header beside the package."""
    folder = package(
        "validation: custom\n", {"output_validators/v/v.cpp": USES}, folder="contest/parts"
    )
    headers = folder.parent / "headers"
    headers.mkdir()
    (headers / "shared.h").write_text(SHARED)
    (folder / "output_validators/v/shared.h").symlink_to("../../../headers/shared.h")
    return folder.parent


def test_a_validator_may_link_to_files_of_the_folder_that_is_named(
    contest: Path, worker: Worker
) -> None:
    (problem,) = load(str(contest)).problems
    for code, verdict in (
        ("n = int(input())\nprint(1, n - 1)", Verdict.ACCEPTED),
        ("print(input(), 1)", Verdict.WRONG_ANSWER),
    ):
        task = Options().task(problem, code, problem.tests.all())
        assert judge(worker, task).verdict is verdict


def test_the_hash_of_the_package_covers_them(contest: Path) -> None:
    (before,) = load(str(contest)).problems
    (contest / "headers/shared.h").write_text(f"{SHARED}\n")
    (after,) = load(str(contest)).problems
    assert before.content_hash != after.content_hash


def test_where_the_package_is_named_the_error_says_what_to_name(contest: Path) -> None:
    with pytest.raises(DataError, match=f"links out of .* name {contest}$"):
        load(str(contest / "parts"))


def test_a_link_out_of_the_folder_is_refused(contest: Path, tmp_path: Path) -> None:
    (tmp_path / "shared.h").write_text(SHARED)
    link = contest / "parts/output_validators/v/shared.h"
    link.unlink()
    link.symlink_to(tmp_path / "shared.h")
    with pytest.raises(DataError, match=r"links out of .* not followed"):
        load(str(contest))


@pytest.mark.parametrize(
    "name",
    [
        "data/secret/3.in",
        "problem_statement/problem.en.md",
        "submissions/accepted/more.py",
        "include/cpp/more.h",
    ],
)
def test_no_other_file_may_be_shared(contest: Path, name: str) -> None:
    (contest / "secret").write_text("1\n")
    link = contest / "parts" / name
    link.parent.mkdir(parents=True, exist_ok=True)
    if name.startswith("data"):
        (contest / "parts/data/secret/3.ans").write_text("1 0\n")
    (contest / "parts/include/cpp").mkdir(parents=True, exist_ok=True)
    link.symlink_to(contest / "secret")
    with pytest.raises(DataError, match=r"links out of .* which is not followed$"):
        load(str(contest))
