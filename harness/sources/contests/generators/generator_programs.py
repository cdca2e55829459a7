"""Sources of the programs that make tests: generators, solutions, input validators."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from harness.errors import DataError
from harness.languages import PYTHON as PYTHON_3
from harness.python_source import parse_or_none
from harness.sources.contests.package.included_files import included_files, without_included
from harness.sources.contests.package.package_folder import MOST_PROGRAM_BYTES, PackageFolder
from harness.sources.contests.package.package_programs import (
    CPP,
    LANGUAGES,
    PYTHON,
    SCRIPTS,
    PackageProgram,
    is_python_2,
    programs_in,
)
from harness.sources.contests.package.validator_program import HEADERS, cpp_sources
from harness.sources.files.folder import is_folder

FOLDER = "generators"
_MAINS = ("__main__", "main")
_LANGUAGES = "Python 3 and C++ are run here"


@dataclass(frozen=True, slots=True)
class ProgramSource:
    """A program that can be run.

    Attributes:
        path: its file or folder.
        language: `python` or `cpp`.
        code: source of its main file.
        files: name and text of each further source or header.
        data: name and content of each file that it finds in its folder when it runs.
    """

    path: Path
    language: str
    code: str
    files: tuple[tuple[str, str], ...] = ()
    data: tuple[tuple[str, bytes], ...] = ()


def path_inside(text: str, folder: Path, where: str) -> Path:
    """Return the path of a name in a folder. Raises DataError for one that leads out of it."""
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in text:
        raise DataError(where, None, f"{text!r:.80} leads out of {folder.name}/")
    return folder / path


def named_program(
    package: PackageFolder,
    name: str,
    listed: Mapping[str, Sequence[str]],
    where: str,
    constants: Mapping[str, str],
) -> ProgramSource:
    """Return the generator of a name: one of the file's list, else a file or folder.

    Raises:
        DataError: there is none, or it cannot be run here.
    """
    root = package.root / FOLDER
    if name not in listed:
        return program_at(package, path_inside(name, root, where), where, constants)
    paths = [path_inside(each, root, where) for each in listed[name]]
    folders = {each.parent for each in paths}
    folder = folders.pop() if len(folders) == 1 else root  # its files find each other by name
    return _source(package, PackageProgram(folder, tuple(paths)), where, constants, main=paths[0])


def program_at(
    package: PackageFolder, path: Path, where: str, constants: Mapping[str, str]
) -> ProgramSource:
    """Return the program that is a file or folder.

    A generator that is a file finds headers or modules beside it.

    Raises:
        DataError: there is none, or it cannot be run here.
    """
    if not os.path.lexists(path):
        raise DataError(where, None, f"there is no program {_shown(package, path)}")
    if is_folder(path):
        return _source(package, PackageProgram(path, tuple(package.files(path))), where, constants)
    beside = [
        each
        for each in package.entries(package.root / FOLDER)
        if each.suffix in (HEADERS if LANGUAGES.get(path.suffix) == CPP else (".py",))
        if each.parent == path.parent and each != path and not is_folder(each)
    ]
    program = PackageProgram(path.parent, (path, *beside))
    return _source(package, program, where, constants, main=path)


def solution_at(
    package: PackageFolder, path: Path, where: str, constants: Mapping[str, str]
) -> ProgramSource:
    """Return the submission that is a file or folder, with the files that belong to every one.

    Raises:
        DataError: there is none, or it cannot be run here.
    """
    if not is_folder(path) and LANGUAGES.get(path.suffix) != CPP:
        return program_at(package, path, where, constants)
    files = tuple(package.files(path)) if is_folder(path) else (path,)
    program = PackageProgram(path, files)
    included = included_files(package, constants) if program.language == CPP else ()
    if not included:
        return program_at(package, path, where, constants)
    source = _source(package, without_included(program, included), where, constants)
    return replace(source, files=tuple({**dict(source.files), **dict(included)}.items()))


def first_accepted(package: PackageFolder) -> Path | None:
    """Return the first accepted submission in Python or C++; None without one."""
    for program in programs_in(package, package.root / "submissions" / "accepted"):
        if program.language in {PYTHON, CPP}:
            return program.path
    return None


def _source(
    package: PackageFolder,
    program: PackageProgram,
    where: str,
    constants: Mapping[str, str],
    *,
    main: Path | None = None,
) -> ProgramSource:
    path = main or program.path
    scripts = SCRIPTS & {each.name for each in program.files}
    language = LANGUAGES.get(main.suffix) if main else program.language
    if language not in {PYTHON, CPP} or scripts:
        what = f"is {language}" if language and not scripts else "is in no language that is known"
        raise DataError(where, None, f"{_shown(package, path)} {what}; only {_LANGUAGES}")
    sources = [each for each in program.files if LANGUAGES.get(each.suffix) == language]
    others = [each for each in program.files if each not in sources]
    others = [each for each in others if language != CPP or each.suffix not in HEADERS]
    data = tuple((_name(each, program), _bytes(package, each, where)) for each in others)
    if language == CPP:
        code, files = cpp_sources(package, program, constants, where)
        return ProgramSource(path, CPP, code, files, data)
    main = main or _main(sources, where)
    texts = {each: package.program(each, constants) for each in sources}
    if is_python_2(texts[main]) or parse_or_none(texts[main]) is None:
        raise DataError(where, None, f"{_shown(package, main)} is not Python 3")
    modules = tuple((_name(each, program), text) for each, text in texts.items() if each != main)
    return ProgramSource(path, PYTHON_3, texts[main], modules, data)


def _main(sources: Sequence[Path], where: str) -> Path:
    mains = [each for name in _MAINS for each in sources if each.stem == name] or [*sources]
    if len(mains) > 1 and mains[0].stem not in _MAINS:
        names = ", ".join(each.name for each in mains)
        raise DataError(where, None, f"which file is started? {names:.100}")
    return mains[0]


def _name(path: Path, program: PackageProgram) -> str:
    return path.name if path == program.path else path.relative_to(program.path).as_posix()


def _bytes(package: PackageFolder, path: Path, where: str) -> bytes:
    data = package.read(path, MOST_PROGRAM_BYTES)
    if data is None:
        raise DataError(where, None, f"there is no file {_shown(package, path)}")
    return data


def _shown(package: PackageFolder, path: Path) -> str:
    return path.relative_to(package.root).as_posix()
