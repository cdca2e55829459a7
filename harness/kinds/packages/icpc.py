"""Contest packages: `icpc:PATH`, a folder in the ICPC or Kattis format, or a folder of them.

`harness.kinds.packages.reader` reads a package. Here it becomes a problem, or is refused for
what cannot be judged.
"""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from harness.errors import DataError, UsageError
from harness.excerpts import shorten
from harness.html_text import html_text
from harness.judged_by import Checker, CheckerProgram
from harness.kinds.packages.checker_programs import FlagError, token_checker, validator
from harness.kinds.packages.reader.constants import with_constants
from harness.kinds.packages.reader.included_files import (
    Included,
    included_files,
    refuse_files_for_python,
    statement_of_included,
)
from harness.kinds.packages.reader.package_folder import MOST_BYTES, PackageFolder
from harness.kinds.packages.reader.package_programs import (
    CPP,
    PackageProgram,
    output_validators,
)
from harness.kinds.packages.reader.package_settings import PackageSettings, read_settings
from harness.kinds.packages.reader.python_program import python_sources, python_validator
from harness.kinds.packages.reader.submission_rules import test_names
from harness.kinds.packages.reader.submissions import read_submissions
from harness.kinds.packages.reader.test_data import (
    PackageTest,
    TestData,
    read_test_data,
)
from harness.kinds.packages.reader.test_groups import read_scoring, refuse_lenient_groups
from harness.kinds.packages.reader.validator_program import FIELD, compiled_validator
from harness.languages import LanguageName
from harness.problem import Problem, Reference, TestCase, TestSuite
from harness.scoring import Scoring
from harness.sources import limits
from harness.sources.files.content_hash import add_parts
from harness.sources.files.download import Watch, quiet
from harness.sources.files.folder import decoded, read_whole
from harness.sources.files.lines import DataFile
from harness.sources.files.rows import Loaded
from harness.text import fenced

SETTINGS = "problem.yaml"
TIME_LIMIT, DOMJUDGE = ".timelimit", "domjudge-problem.ini"
_DOMJUDGE_LIMIT = re.compile(r"^\s*timelimit\s*=\s*['\"]?([^'\"\s;#]+)", re.MULTILINE)
_NOT_JUDGED = ("submit-answer",)
INTERACTIVE, MULTI_PASS, SCORING = "interactive", "multi-pass", "scoring"
_STATEMENTS = ("problem_statement", "statement")
_SUFFIXES = (".md", ".html", ".tex")
MOST_DIALOGUES = 5
LONGEST_DIALOGUE = 4_000
EXPLAINED = (
    "A line that begins with `<` is read by your program, one that begins with `>` is printed by "
    "it; the mark and a blank after it are not part of the line. `---` stands between two runs of "
    "the program."
)


def load(where: str | None, *, skip_bad_rows: bool = False, watch: Watch = quiet) -> Loaded:
    """Load the problem of a package, or those of a folder's packages, sorted by name.

    Raises:
        UsageError: no folder is given, or no package is there.
        DataError: a package cannot be read or judged.
    """
    if where is None:
        raise UsageError("icpc needs a folder: give --benchmark icpc:PATH")
    problems: list[Problem] = []
    skipped: list[DataError] = []
    files: list[DataFile] = []
    packages = packages_in(where)
    for number, package in enumerate(packages):
        folder = package.root
        watch(f"reading {folder.name}", number, len(packages))
        try:
            problem = _problem(package)
        except DataError as error:
            if not skip_bad_rows:
                raise _named(error, len(packages)) from None
            error.__context__ = None
            skipped.append(error.with_traceback(None))
            continue
        problems.append(problem)
        files.append(DataFile.of(folder, str(folder), problem.content_hash, package.size))
    return Loaded(tuple(problems), tuple(skipped), tuple(files))


def _named(error: DataError, packages: int) -> DataError:
    """Return the error of a package, naming the flag that leaves it out if others are left."""
    if packages == 1:
        return error
    return DataError(
        error.where, error.field, f"{error.what}; --set skip_bad_rows=true leaves it out"
    )


def packages_in(where: str) -> list[PackageFolder]:
    """Return packages: that of the folder given, or those in it, by name.

    Raises:
        UsageError: there is none.
    """
    try:
        root = Path(where).expanduser()
        if _is_package(root):
            return [PackageFolder(root)]
        packages = sorted(filter(_is_package, root.iterdir()))
    except (OSError, ValueError, RuntimeError) as error:  # RuntimeError: `~` of an unknown user
        cause = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{where!r:.200} cannot be listed: {cause}") from None
    if not packages:
        raise UsageError(f"{root} is not a problem package and has none: there is no {SETTINGS}")
    return [PackageFolder(folder, root) for folder in packages]


def _is_package(folder: Path) -> bool:
    """Return whether a folder has settings; one that is closed has, so that reading it says so."""
    try:
        (folder / SETTINGS).lstat()
    except PermissionError:
        return folder.is_dir()
    except OSError:  # such as a link to itself
        return False
    return True


def _problem(package: PackageFolder) -> Problem:
    """Return the problem of a package. Raises DataError."""
    root = package.root
    place = root / SETTINGS
    settings = read_settings(package.mapping(place), str(place))
    _check_settings(settings, str(place))
    _check_static(package)
    included = _included(package, settings)
    data = read_test_data(package, settings)
    _check_tests(data, settings, str(root))
    scoring = _scoring(package, settings, data)
    checker = _checker(package, settings, data)
    public = tuple(_test(package, test, public=True) for test in data.sample)
    hidden = _SecretTests(tuple(_read_place(package, test) for test in data.secret))
    digest = sha256(package.sha256.digest())
    add_parts(digest, checker.code.encode(), *_parts_of(checker.program), b"exit code counts")
    if scoring is not None:
        add_parts(digest, scoring.model_dump_json(exclude_none=True).encode())
    tests = test_names(package, (test.input for test in data.sample + data.secret))
    for name, text in included:
        add_parts(digest, b"included", name.encode(), text.encode("utf-8", "surrogatepass"))
    accepted, rejected = read_submissions(package, settings, tests, included)
    name = _name(root)
    return Problem(
        id=f"icpc/{name}",
        source="icpc",
        title=settings.title or name,
        statement="".join(
            (
                _statement(package, settings),
                statement_of_included(included),
                statement_of_dialogues(package, data.interactions),
            )
        ),
        platform=(settings.source or "icpc").lower()[:60],
        difficulty=None,
        difficulty_word="",
        tests=TestSuite(public=public, load_hidden=hidden, row_bytes=hidden.size),
        checker=checker,
        scoring=scoring,
        exit_code_counts=True,
        cpu_s=settings.limits.cpu_s or time_limit(package),
        languages=("cpp",) if included else _allowed(settings.languages),
        included=included,
        limit_rule=settings.limit_rule,
        memory_bytes=settings.limits.memory_bytes,
        output_bytes=settings.limits.output_bytes,
        load_references=partial(tuple[Reference, ...], accepted),
        load_rejected=partial(tuple[Reference, ...], rejected),
        content_hash=digest.hexdigest(),
    )


def _scoring(package: PackageFolder, settings: PackageSettings, data: TestData) -> Scoring | None:
    if SCORING in settings.kinds:
        return read_scoring(package, settings, data)
    refuse_lenient_groups(package, data)
    return None


def _name(root: Path) -> str:
    name = root.absolute().name
    if name in {"", ".."}:
        name = root.resolve().name
    try:
        name.encode()
    except UnicodeEncodeError:
        where = os.fsencode(root).decode("utf-8", "backslashreplace")
        raise DataError(where, None, "its name is not UTF-8") from None
    return name


def _check_settings(settings: PackageSettings, where: str) -> None:
    for kind in _NOT_JUDGED:
        if kind in settings.kinds:
            raise DataError(where, "type", f"{kind} problems cannot be judged here; leave it out")
    languages = settings.languages
    if languages is not None and not _allowed(languages):
        used = ", ".join(sorted(languages))
        what = f"only {used} may be used, and solutions here are Python or C++"
        raise DataError(where, "languages", what)


def _allowed(languages: Iterable[str] | None) -> tuple[LanguageName, ...]:
    """Return the languages of solutions here that are among a package's; empty for all."""
    if languages is None:
        return ()
    named: tuple[LanguageName, ...] = ("python", "cpp")
    codes = {name.removesuffix("numpy") for name in languages}
    return tuple(each for each in named if {each, f"{each}3"} & codes)


def _included(package: PackageFolder, settings: PackageSettings) -> Included:
    """Return the files that are compiled with every solution. Raises DataError."""
    if _allowed(settings.languages) == ("python",):
        refuse_files_for_python(package)
        return ()
    return included_files(package, settings.constants)


def _check_static(package: PackageFolder) -> None:
    if package.entries(folder := package.root / "static_validator"):
        raise DataError(str(folder), None, "static validators are not run here")


def _check_tests(data: TestData, settings: PackageSettings, where: str) -> None:
    tests = data.sample + data.secret
    if not tests:
        raise DataError(where, "data", "it has no test")
    if data.interactions and not settings.kinds & {INTERACTIVE, MULTI_PASS}:
        what = "a dialogue, and the problem's type is not interactive"
        raise DataError(str(data.interactions[0]), None, what)
    for test in tests:
        if test.arguments:
            what = "solutions get no command-line arguments here"
            raise DataError(str(test.input), "args", what)
        if test.files is not None:
            raise DataError(str(test.files), None, "solutions can open no files here")


def _parts_of(program: CheckerProgram | None) -> list[bytes]:
    if program is None:
        return []
    texts = [program.source, *(text for file in program.files for text in file)]
    texts += [f"{program.interactive} {program.passes}"] if program.has_passes else []
    return [text.encode("utf-8", "surrogatepass") for text in texts]


def _test(package: PackageFolder, test: PackageTest, *, public: bool) -> TestCase:
    return TestCase(
        input=package.string(test.input),
        output=package.string(test.answer),
        public=public,
        flags=test.validator_flags,
    )


class _ReadFile(NamedTuple):
    """File that was read, to be read again: its path and the hash of its content."""

    path: Path
    sha256: bytes

    def text(self) -> str:
        """Return its text. Raises DataError where it is no longer the file that was read."""
        data = read_whole(self.path, MOST_BYTES)
        if data is None or sha256(data).digest() != self.sha256:
            raise DataError(str(self.path), None, "no longer the file that was loaded")
        return decoded(self.path, data)


@dataclass(frozen=True, slots=True)
class _SecretTests:
    """Reads a package's secret tests when they are needed.

    Attributes:
        files: input and answer of each, their size in bytes, and the validator's arguments.
    """

    files: tuple[tuple[_ReadFile, _ReadFile, int, tuple[str, ...]], ...]

    @property
    def size(self) -> int:
        """Bytes of all tests."""
        return sum(size for _, _, size, _ in self.files)

    def __call__(self) -> tuple[TestCase, ...]:
        return tuple(
            TestCase(input=given.text(), output=answer.text(), public=False, flags=flags)
            for given, answer, _, flags in self.files
        )


def _read_place(
    package: PackageFolder, test: PackageTest
) -> tuple[_ReadFile, _ReadFile, int, tuple[str, ...]]:
    """Read a secret test, so that what is wrong with it is known before anything is asked."""
    size = 0
    places: list[_ReadFile] = []
    for path in (test.input, test.answer):
        data = package.bytes(path)
        decoded(path, data)
        size += len(data)
        places.append(_ReadFile(path.absolute(), sha256(data).digest()))
    return places[0], places[1], size, test.validator_flags


def _statement(package: PackageFolder, settings: PackageSettings) -> str:
    for name in _STATEMENTS:
        entries = package.entries(package.root / name)
        limits = [
            each for each in entries if each.name.startswith("problem") and each.suffix in _SUFFIXES
        ]
        limits.sort(key=lambda each: _SUFFIXES.index(each.suffix))
        limits.sort(key=lambda each: each.stem not in {"problem.en", "problem"})
        if limits:
            text = with_constants(package.string(limits[0]), settings.constants)
            return html_text(text) if limits[0].suffix == ".html" else text
    raise DataError(str(package.root), "statement", "there is no problem.*.md, .html or .tex")


def time_limit(package: PackageFolder) -> float | None:
    """Return the seconds that a package's own file says; None without one. Raises DataError."""
    path = package.root / TIME_LIMIT
    if os.path.lexists(path):
        return limits.seconds(package.string(path).strip(), str(path), "time limit")
    path = package.root / DOMJUDGE
    match = _DOMJUDGE_LIMIT.search(package.string(path)) if os.path.lexists(path) else None
    return None if match is None else limits.seconds(match[1], str(path), "timelimit")


def _checker(package: PackageFolder, settings: PackageSettings, data: TestData) -> Checker:
    programs = output_validators(package)
    where = str(package.root / SETTINGS)
    talks = sorted(settings.kinds & {INTERACTIVE, MULTI_PASS})
    if talks and not programs:
        raise DataError(where, "type", f"{talks[0]}, and there is no output validator")
    if settings.is_custom is True and not programs:
        raise DataError(where, "validation", "custom, and there is no output validator")
    if settings.is_custom is False and programs:
        what = f"default, and there is an output validator: {programs[0].path}"
        raise DataError(where, "validation", what)
    flags = list(dict.fromkeys(test.validator_flags for test in data.sample + data.secret))
    if programs:
        return _own_validator(package, settings, programs, flags)
    try:
        return Checker(kind="check", code=token_checker(flags), takes_flags=len(flags) > 1)
    except FlagError as error:
        raise DataError(where, "validator_flags", str(error)) from None


def _own_validator(
    package: PackageFolder,
    settings: PackageSettings,
    programs: list[PackageProgram],
    flags: list[tuple[str, ...]],
) -> Checker:
    own, (program, *others) = settings.validator_limits, programs
    if others:
        if settings.kinds & {INTERACTIVE, MULTI_PASS, SCORING}:
            what = "several; an interactive, multi-pass or scoring problem can have one here"
            raise DataError(str(program.path), FIELD, what)
        first, *rest = (_program(package, settings, each) for each in programs)
        others = tuple(each.model_copy(update={"partial": "right"}) for each in rest)
        return _as_program(first.model_copy(update={"others": others}), settings)
    if program.language == CPP:
        return _as_program(_program(package, settings, program), settings)
    main, sources = python_sources(package, program, settings.constants, FIELD)
    gives_points = SCORING in settings.kinds and any("score" in text for text in sources.values())
    if gives_points or settings.kinds & {INTERACTIVE, MULTI_PASS}:
        return _as_program(python_validator(main, sources, own), settings)
    modules = {each.stem: text for each, text in sources.items() if each != main}
    code = validator(sources[main], main.name, modules, flags)
    return Checker(kind="check", code=code, takes_flags=len(flags) > 1)


def _program(
    package: PackageFolder, settings: PackageSettings, program: PackageProgram
) -> CheckerProgram:
    """Return an output validator as a program of its own. Raises DataError."""
    constants, own = settings.constants, settings.validator_limits
    if program.language == CPP:
        return compiled_validator(package, program, constants, own)
    return python_validator(*python_sources(package, program, constants, FIELD), own)


def _as_program(program: CheckerProgram, settings: PackageSettings) -> Checker:
    """Return the checker that runs a program as the problem's kind asks for."""
    passes = settings.validator_limits.passes if MULTI_PASS in settings.kinds else 0
    shape = {
        "interactive": INTERACTIVE in settings.kinds,
        "passes": passes,
        "partial": "counts" if SCORING in settings.kinds else "right",
    }
    return Checker(kind="program", program=program.model_copy(update=shape))


def statement_of_dialogues(package: PackageFolder, paths: Sequence[Path]) -> str:
    """Return what a statement says of sample dialogues; empty without one. Raises DataError."""
    samples = package.root / "data" / "sample"
    own = sorted((path for path in paths if path.is_relative_to(samples)), key=_by_number)
    texts = [text for path in own if (text := package.string(path).strip("\n"))]
    parts = [EXPLAINED] if texts else []
    for number, text in enumerate(texts[:MOST_DIALOGUES], 1):
        parts.append(f"## Sample dialogue {number}\n\n{fenced(shorten(text, LONGEST_DIALOGUE))}")
    return "".join(f"\n\n{part}" for part in parts)


def _by_number(path: Path) -> list[tuple[int, str]]:
    """Return a key that sorts names by their numbers: 2 before 10."""
    return [(int(each or 0), rest) for each, rest in re.findall(r"(\d{0,18})(\D*)", path.name)]
