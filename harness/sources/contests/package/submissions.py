"""Submissions of a package, sorted by the verdict that the jury expects."""

import re
from collections.abc import Iterator, Mapping

from harness.languages import PYTHON as PYTHON_3
from harness.problem import Reference
from harness.python_source import parse_or_none
from harness.sources.contests.package.package_folder import PackageFolder
from harness.sources.contests.package.package_programs import (
    CPP,
    PYTHON,
    PackageProgram,
    is_python_2,
    programs_in,
)

ACCEPTED = "accepted"
EXPECTED = {
    ACCEPTED: (ACCEPTED,),
    "partially_accepted": ("wrong_answer", "time_limit", "runtime_error", "memory_limit"),
    "wrong_answer": ("wrong_answer",),
    "time_limit_exceeded": ("time_limit",),
    "run_time_error": ("runtime_error", "memory_limit"),
    "runtime_error": ("runtime_error", "memory_limit"),
    "memory_limit_exceeded": ("memory_limit", "runtime_error"),
    "output_limit_exceeded": ("output_limit",),
    "brute_force": ("time_limit", "runtime_error", "memory_limit"),
    "rejected": ("wrong_answer", "time_limit", "runtime_error", "memory_limit", "output_limit"),
}
"""Verdicts that each folder of submissions allows; other folders promise nothing."""
_TAG = re.compile(r"@EXPECTED_RESULTS@\s*:\s*([A-Z_\-, ]+)")
_OF_TAG = {
    "CORRECT": (ACCEPTED,),
    "ACCEPTED": (ACCEPTED,),
    "WRONGANSWER": ("wrong_answer",),
    "TIMELIMIT": ("time_limit",),
    "TIMELIMITEXCEEDED": ("time_limit",),
    "RUNERROR": EXPECTED["run_time_error"],
    "RUNTIMEERROR": EXPECTED["run_time_error"],
    "NOOUTPUT": ("wrong_answer",),
    "OUTPUTLIMIT": ("output_limit",),
}


def read_submissions(
    package: PackageFolder, constants: Mapping[str, str]
) -> tuple[tuple[Reference, ...], tuple[Reference, ...]]:
    """Return the accepted submissions, and the others with the verdicts expected of them.

    Only programs of one file in Python or C++ are read.

    Raises:
        DataError: a file cannot be read.
    """
    accepted: list[Reference] = []
    rejected: list[Reference] = []
    for folder, verdicts in EXPECTED.items():
        for program in programs_in(package, package.root / "submissions" / folder):
            for each in _read(package, program, constants):
                expected = _tagged(each.code) or verdicts
                if expected == (ACCEPTED,):
                    accepted.append(each)
                else:
                    rejected.append(each.model_copy(update={"verdicts": expected}))
    return tuple(accepted), tuple(rejected)


def _read(
    package: PackageFolder, program: PackageProgram, constants: Mapping[str, str]
) -> Iterator[Reference]:
    if program.language not in {PYTHON, CPP} or len(program.sources()) != 1:
        return
    name = program.path.relative_to(package.root / "submissions").as_posix()
    code = package.program(program.sources()[0], constants)
    if program.language == CPP:
        yield Reference(code=code, language=CPP, name=name)
        return
    old = is_python_2(code) or parse_or_none(code) is None
    yield Reference(code=code, language="python2" if old else PYTHON_3, name=name)


def _tagged(code: str) -> tuple[str, ...]:
    """Return the verdicts that a comment of the source names; empty for none."""
    match = _TAG.search(code)
    if match is None:
        return ()
    words = [re.sub(r"[_\- ]", "", word) for word in match[1].split(",")]
    named = (verdict for word in words for verdict in _OF_TAG.get(word, ()))
    return tuple(dict.fromkeys(named))
