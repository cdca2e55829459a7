"""Contest packages: `icpc:PATH`, a folder in the ICPC or Kattis format.

Source: the format's specifications `legacy`, `legacy-icpc` and `2023-07`. It reads `problem.yaml`,
the statement, the sample and secret data, the flags of the default output validator, an output
validator in Python, the limits, and the accepted submissions in Python, which are references.
"""

import hashlib
import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, cast

from harness.errors import DataError, UsageError
from harness.markdown import html_text
from harness.problem import Checker, Problem, Reference, TestCase, TestSuite
from harness.python_source import parse_or_none
from harness.sources.contests.checker_programs import FlagError, token_checker, validator
from harness.sources.files.download import Watch, quiet
from harness.sources.files.lines import DataFile
from harness.sources.files.rows import Loaded, add_parts

SETTINGS = "problem.yaml"
MOST_BYTES = 1 << 26
MOST_SETTINGS_BYTES = 1 << 20
_STATEMENTS = ("problem_statement", "statement")
_SUFFIXES = (".md", ".html", ".tex")
_PYTHON = (".py", ".py3")
_FLAG_KEYS = ("output_validator_flags", "output_validator_args")
_GROUPS = ("testdata.yaml", "test_group.yaml")


def load(where: str | None, *, skip_bad_rows: bool = False, watch: Watch = quiet) -> Loaded:
    """Load the problem of a package, or those of a folder's packages, sorted by name.

    Raises:
        UsageError: no folder is given, or no package is there.
        DataError: a package cannot be read or judged.
    """
    del watch
    if where is None:
        raise UsageError("icpc needs a folder: give --benchmark icpc:PATH")
    root = Path(where)
    problems: list[Problem] = []
    skipped: list[DataError] = []
    files: list[DataFile] = []
    for folder in _packages(root):
        try:
            problem, size = _Package(folder).problem()
        except DataError as error:
            if not skip_bad_rows:
                raise
            error.__context__ = None
            skipped.append(error.with_traceback(None))
            continue
        problems.append(problem)
        files.append(DataFile.of(folder, str(folder), problem.content_hash, size))
    return Loaded(tuple(problems), tuple(skipped), tuple(files))


def _packages(root: Path) -> list[Path]:
    if (root / SETTINGS).is_file():
        return [root]
    try:
        found = sorted(each.parent for each in root.glob(f"*/{SETTINGS}"))
    except OSError as error:
        raise UsageError(f"{root} cannot be listed: {error.strerror}") from None
    if not found:
        raise UsageError(f"{root} is no problem package and has none: there is no {SETTINGS}")
    return found


class _Package:
    """Reader of one package.

    Args:
        folder: folder of the package.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.real = folder.resolve()
        self.settings = self._yaml(folder / SETTINGS)
        self.digest = hashlib.sha256()
        self.size = 0

    def problem(self) -> tuple[Problem, int]:
        """Return the problem, and the number of bytes read."""
        self._check_type()
        name = self.real.name
        checker = self._checker()
        public = tuple(self._tests("sample", public=True))
        places = self._places("secret")
        for place in places:
            self._read(place)
            self._read(place.with_suffix(".ans"))
        if not (public or places):
            raise DataError(str(self.folder), "data", "it has no test")
        said = self.settings.get("limits")
        limits = cast("dict[str, Any]", said) if isinstance(said, dict) else {}
        seconds = _positive(limits.get("time_limit")) or self._time_limit()
        memory = _positive(limits.get("memory"))
        references = self._submissions("accepted")
        digest = self.digest.copy()
        digest.update(checker.code.encode())
        hidden = partial(_read_tests, tuple(places))
        problem = Problem(
            id=f"icpc/{name}",
            source="icpc",
            title=self._title() or name,
            statement=self._statement(),
            platform=str(self.settings.get("source") or "icpc").lower()[:60],
            difficulty=None,
            difficulty_word="",
            tests=TestSuite(public=public, load_hidden=hidden),
            checker=checker,
            cpu_s=seconds,
            memory_bytes=int(memory) << 20 if memory else None,
            load_references=partial(tuple[Reference, ...], references),
            content_hash=digest.hexdigest(),
        )
        return problem, self.size

    def _check_type(self) -> None:
        words = self.settings.get("type") or ""
        kinds = set(words.split() if isinstance(words, str) else map(str, words))
        validation = str(self.settings.get("validation") or "").split()
        for kind in ("interactive", "multi-pass", "submit-answer"):
            if kind in kinds or kind in validation:
                what = f"{kind} problems cannot be judged here; leave it out"
                raise DataError(str(self.folder / SETTINGS), "type", what)

    def _title(self) -> str:
        name = self.settings.get("name")
        if isinstance(name, dict):
            names = cast("dict[str, Any]", name)
            return str(names.get("en") or next(iter(names.values()), ""))
        return str(name or "")

    def _statement(self) -> str:
        for name in _STATEMENTS:
            files = sorted((self.folder / name).glob("problem*"))
            found = [each for each in files if each.suffix in _SUFFIXES]
            found.sort(key=lambda each: _SUFFIXES.index(each.suffix))
            found.sort(key=lambda each: each.stem not in {"problem.en", "problem"})
            if found:
                text = self._text(found[0])
                return html_text(text) if found[0].suffix == ".html" else text
        raise DataError(str(self.folder), "statement", "there is no problem.*.md, .html or .tex")

    def _places(self, name: str) -> list[Path]:
        folder = self.folder / "data" / name
        return sorted(
            (each for each in folder.rglob("*.in") if each.is_file()),
            key=lambda each: each.relative_to(folder).as_posix(),
        )

    def _tests(self, name: str, *, public: bool) -> Iterator[TestCase]:
        for place in self._places(name):
            answer = place.with_suffix(".ans")
            yield TestCase(input=self._text(place), output=self._text(answer), public=public)

    def _checker(self) -> Checker:
        flags = self._flags()
        programs = [
            each
            for folder in ("output_validators", "output_validator")
            for each in sorted((self.folder / folder).rglob("*"))
            if each.is_file() and not each.name.startswith(".")
        ]
        if programs:
            return self._own_validator(programs, flags)
        where = str(self.folder / SETTINGS)
        if str(self.settings.get("validation") or "").startswith("custom"):
            raise DataError(where, "validation", "custom, and there is no output validator")
        try:
            return Checker(kind="check", code=token_checker(flags))
        except FlagError as error:
            raise DataError(where, "validator_flags", str(error)) from None

    def _own_validator(self, files: list[Path], flags: list[str]) -> Checker:
        where = str(files[0].parent)
        python = [each for each in files if each.suffix in _PYTHON]
        others = [each for each in files if each.suffix not in {*_PYTHON, ".md", ".txt", ".yaml"}]
        if others or not python:
            what = f"{(others or files)[0].name} is no Python: only output validators in Python run"
            raise DataError(where, "output_validators", f"{what} here, in the checker's sandbox")
        if len({each.parent for each in python}) > 1:
            raise DataError(where, "output_validators", "there are several, and one can be run")
        names = {"__main__", "main", "validate", "validator", "run"}
        mains = [each for each in python if each.stem in names] or python
        if len(python) > 1 and len(mains) > 1:
            mains = [each for each in mains if each.stem == "__main__"] or mains[:1]
        sources = {each: self._python(each) for each in python}
        main = mains[0]
        modules = {each.stem: text for each, text in sources.items() if each is not main}
        return Checker(kind="check", code=validator(sources[main], main.name, modules, flags))

    def _python(self, path: Path) -> str:
        source = self._text(path)
        if parse_or_none(source) is None:
            raise DataError(str(path), None, "not Python 3")
        return source

    def _flags(self) -> list[str]:
        """Return the output validator's flags, which must be the same for all tests."""
        found: dict[tuple[str, ...], Path] = {}
        base = _words(self.settings.get("validator_flags"))
        for path in sorted((self.folder / "data").rglob("*.yaml")):
            settings = self._yaml(path)
            for key in _FLAG_KEYS:
                if key in settings:
                    found.setdefault(tuple(_words(settings[key])), path)
        if base:
            found.setdefault(tuple(base), self.folder / SETTINGS)
        if len(found) > 1:
            where = str(next(reversed(found.values())))
            what = "groups of tests with flags of their own cannot be judged here"
            raise DataError(where, _FLAG_KEYS[0], what)
        return list(next(iter(found), ()))

    def _time_limit(self) -> float | None:
        path = self.folder / ".timelimit"
        return _positive(self._text(path).strip()) if path.is_file() else None

    def _submissions(self, kind: str) -> tuple[Reference, ...]:
        found: list[Reference] = []
        for path in sorted((self.folder / "submissions" / kind).rglob("*")):
            if path.suffix in _PYTHON and path.is_file():
                code = self._text(path)
                language = "python" if parse_or_none(code) else "python2"
                found.append(Reference(code=code, language=language))
        return tuple(found)

    def _yaml(self, path: Path) -> dict[str, Any]:
        import yaml

        data = self._bytes(path, MOST_SETTINGS_BYTES)
        try:
            value: object = yaml.safe_load(data.decode())
        except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
            what = " ".join(str(error).split())[:200]
            raise DataError(str(path), None, f"not YAML: {what}") from None
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise DataError(str(path), None, "not a YAML mapping")
        return cast("dict[str, Any]", value)

    def _text(self, path: Path) -> str:
        return _decoded(path, self._read(path))

    def _read(self, path: Path) -> bytes:
        data = self._bytes(path, MOST_BYTES)
        add_parts(self.digest, path.relative_to(self.folder).as_posix().encode(), data)
        self.size += len(data)
        return data

    def _bytes(self, path: Path, most: int) -> bytes:
        if not path.resolve().is_relative_to(self.real):
            raise DataError(str(path), None, "it links out of the package")
        return _bytes(path, most)


def _read_tests(places: tuple[Path, ...]) -> tuple[TestCase, ...]:
    """Read the secret tests, when they are needed. Raises DataError."""

    def text(path: Path) -> str:
        return _decoded(path, _bytes(path, MOST_BYTES))

    return tuple(
        TestCase(input=text(place), output=text(place.with_suffix(".ans")), public=False)
        for place in places
    )


def _bytes(path: Path, most: int) -> bytes:
    try:
        if path.stat().st_size > most:
            raise DataError(str(path), None, f"larger than {most >> 20} MiB")
        return path.read_bytes()
    except OSError as error:
        raise DataError(str(path), None, f"cannot be read: {error.strerror}") from None


def _decoded(path: Path, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise DataError(str(path), None, f"not UTF-8, at byte {error.start}") from None


def _words(flags: object) -> list[str]:
    if isinstance(flags, list):
        return [str(each) for each in cast("list[object]", flags)]
    return shlex.split(str(flags)) if flags else []


def _positive(value: object) -> float | None:
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if 0 < number < float("inf") else None
