"""Submissions of a package, sorted by the verdict that the jury expects."""

import os
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from harness.errors import DataError
from harness.kinds.packages.reader.included_files import Included, without_included
from harness.kinds.packages.reader.package_folder import PackageFolder
from harness.kinds.packages.reader.package_programs import (
    CPP,
    PYTHON,
    PackageProgram,
    is_python_2,
    programs_in,
)
from harness.kinds.packages.reader.package_settings import PackageSettings
from harness.kinds.packages.reader.submission_rules import (
    FILE,
    Expectation,
    SubmissionRules,
)
from harness.kinds.packages.reader.validator_program import HEADERS
from harness.languages import PYTHON as PYTHON_3
from harness.problem import PARTIAL, Reference
from harness.python_source import parse_or_none
from harness.sources.files.folder import is_folder

FOLDER = "submissions"
WITH_RULES = {"2025-09-draft", "2025-09", "draft"}
"""Versions of the format that have rules for submissions."""
ACCEPTED = "accepted"
EXPECTED = {
    ACCEPTED: (ACCEPTED,),
    PARTIAL: ("wrong_answer", "time_limit", "runtime_error", "memory_limit"),
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
    package: PackageFolder, settings: PackageSettings, tests: Sequence[str], included: Included
) -> tuple[tuple[Reference, ...], tuple[Reference, ...]]:
    """Return the accepted submissions, and the others with the verdicts expected of them.

    Only programs of one file in Python or C++ are read; copies of included files may lie beside.
    A submission that may pass or fail, with any points, is left out.

    Args:
        package: the package.
        settings: its settings.
        tests: path of each test below `data`, without `.in`.
        included: the files that are compiled with every solution.

    Raises:
        DataError: a file cannot be read, or `submissions.yaml` says something that is not known.
    """
    rules = _rules(package, settings, tests)
    by_grader = settings.has_legacy_points
    accepted: list[Reference] = []
    rejected: list[Reference] = []
    for folder in _folders(package, rules):
        for program in programs_in(package, folder):
            name = program.path.relative_to(package.root / FOLDER).as_posix()
            expected = Expectation(EXPECTED.get(folder.name, ()))
            if rules is not None:
                expected = rules.of(name)
            if expected.points is not None and "scoring" not in settings.kinds:
                what = "points are expected, and the problem's type is not scoring"
                raise DataError(str(package.root / FOLDER / FILE), name, what)
            if included and program.language == PYTHON:  # the files for it are not added here
                continue
            own = without_included(program, included)
            for each in _read(package, own, settings, expected.language):
                tagged = _tagged(each.code) if rules is None else ()
                is_partial = by_grader and rules is None and folder.name == PARTIAL
                verdicts = tagged or ((PARTIAL,) if is_partial else expected.verdicts)
                read = each.model_copy(
                    update={
                        "points": expected.points,
                        "sets_limit": expected.sets_limit,
                        "by_grader": by_grader,
                    }
                )
                if verdicts == (ACCEPTED,):
                    accepted.append(read)
                elif ACCEPTED not in verdicts or expected.points is not None:
                    rejected.append(read.model_copy(update={"verdicts": verdicts}))
    return tuple(accepted), tuple(rejected)


def _rules(
    package: PackageFolder, settings: PackageSettings, tests: Sequence[str]
) -> SubmissionRules | None:
    """Return the rules of a package; None where it has none, or its format knows none."""
    if settings.version not in WITH_RULES or not os.path.lexists(package.root / FOLDER / FILE):
        return None
    return SubmissionRules(package, tests)


def _folders(package: PackageFolder, rules: SubmissionRules | None) -> list[Path]:
    """Return the folders of submissions, those that the format names first."""
    folders = [package.root / FOLDER / name for name in EXPECTED]
    if rules is not None:
        entries = package.entries(package.root / FOLDER)
        folders += [path for path in entries if path.name not in EXPECTED and is_folder(path)]
    return folders


def _read(
    package: PackageFolder, program: PackageProgram, settings: PackageSettings, declared: str
) -> Iterator[Reference]:
    language = declared or program.language
    headers = any(path.suffix in HEADERS for path in program.files)
    if language not in {PYTHON, CPP} or len(program.sources()) != 1 or headers:
        return
    name = program.path.relative_to(package.root / FOLDER).as_posix()
    code = package.program(program.sources()[0], settings.constants)
    if language == CPP:
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
