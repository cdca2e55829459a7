"""Make the judge programs of data sets into `check` functions.

A program reads files and writes a verdict. Here it runs in the checker's sandbox, where its files
are texts in memory: no disk is read or written.
"""

import math
from collections.abc import Mapping, Sequence

_RUN = '''
import builtins as _builtins, io as _io, os as _os, sys as _sys, types as _types


class _Kept(_io.StringIO):
    """A file that is written; its text outlives its end."""

    def close(self):
        self.text = self.getvalue()
        super().close()


class _Files:
    """What the program's `open` finds."""

    def __init__(self, texts):
        self.texts = texts
        self.written = {}
        self.real = _builtins.open

    def open(self, name, mode="r", *rest, **named):
        if not isinstance(name, (str, _os.PathLike)):
            return self.real(name, mode, *rest, **named)
        name = _os.fspath(name)
        if set(mode) & set("wax+"):
            kept = self.written[name] = _Kept()
            return kept
        if name not in self.texts:
            return self.real(name, mode, *rest, **named)
        data = self.texts[name].encode("utf-8", "surrogateescape")
        file = _io.BytesIO(data)
        return file if "b" in mode else _io.TextIOWrapper(file, "utf-8", "surrogateescape")

    def text(self, ending):
        for name, kept in self.written.items():
            if name.endswith(ending):
                return getattr(kept, "text", None) or ("" if kept.closed else kept.getvalue())
        return ""


def _run_program(texts, arguments, stdin):
    """Run the program; its exit code, its files and what it printed."""
    files = _Files(texts)
    kept = (_sys.argv, _sys.stdin, _sys.stdout, _sys.stderr, _builtins.open, _io.open)
    _sys.argv = [_MAIN, *arguments]
    _sys.stdin = _io.TextIOWrapper(
        _io.BytesIO(stdin.encode("utf-8", "surrogateescape")), "utf-8", "surrogateescape")
    _sys.stdout, _sys.stderr = printed, said = _io.StringIO(), _io.StringIO()
    _builtins.open = _io.open = files.open
    code = 0
    try:
        for name, source in _MODULES.items():
            module = _sys.modules[name] = _types.ModuleType(name)
            exec(compile(source, name + ".py", "exec"), module.__dict__)
        exec(compile(_SOURCE, _MAIN, "exec"), {"__name__": "__main__", "__file__": _MAIN})
    except SystemExit as error:
        code = error.code if isinstance(error.code, int) else int(error.code is not None)
    finally:
        _sys.argv, _sys.stdin, _sys.stdout, _sys.stderr, _builtins.open, _io.open = kept
    return code, files, printed.getvalue()
'''
_VALIDATOR = """

def check(input, expected, answer):
    flags = _FLAGS
    if flags is None:
        input, flags = input
    texts = {"/data/test.in": input, "/data/test.ans": str(expected)}
    arguments = ["/data/test.in", "/data/test.ans", "/feedback/", *flags]
    code, files, _ = _run_program(texts, arguments, str(answer))
    if code == 42:
        return True
    if code != 43:
        raise RuntimeError(f"the output validator ended with exit code {code}, not with 42 or 43")
    return files.text("judgemessage.txt").strip()[:300] or False
"""
_SCORE = """

def check(input, expected, answer):
    texts = {"input.txt": input, "expected.txt": str(expected), "answer.txt": str(answer)}
    code, _, printed = _run_program(texts, ["input.txt", "expected.txt", "answer.txt"], "")
    words = printed.split()
    if code or not words:
        raise RuntimeError(f"the checker ended with exit code {code} and printed {printed[:100]!r}")
    return float(words[-1]) >= 1
"""
_TOKENS = r"""
import re as _re

_TOKEN = _re.compile(r"[^ \t\n\v\f\r]+")
_PIECE = _re.compile(r"[^ \t\n\v\f\r]+|[ \t\n\v\f\r]")
_FLOAT = _re.compile(r"[+-]?(?:[0-9]*\.[0-9]+|[0-9]+\.?)(?:[Ee][+-]?[0-9]+)?")
_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}


def check(input, expected, answer):
    answer = str(answer)
    case, spaces, *tolerances = _SETTINGS[" ".join(input[1])] if len(_SETTINGS) > 1 else _ONLY
    equal = lambda want, got: _equal(want, got, case, *tolerances)
    if spaces:
        return _compare(_PIECE.findall(expected), _PIECE.findall(answer), "piece", equal)
    return _compare(_TOKEN.findall(expected), _TOKEN.findall(answer), "token", equal)


def _compare(wanted, given, word, equal):
    for number, (want, got) in enumerate(zip(wanted, given), 1):
        if not equal(want, got):
            return f"{word} {number}: expected {want[:60]!r}, got {got[:60]!r}"
    if len(given) < len(wanted):
        return f"only {len(given)} of {len(wanted)} {word}s"
    return f"{len(given) - len(wanted)} {word}s too many" if len(given) > len(wanted) else True


def _equal(want, got, case, absolute, relative):
    if want == got or not case and want.translate(_LOWER) == got.translate(_LOWER):
        return True
    if absolute is None and relative is None:
        return False
    one, other = _number(want), _number(got)
    if one is None or other is None:
        return False
    error = abs(one - other)
    return error <= (absolute or 0) or error <= (relative or 0) * abs(one)


def _number(text):
    value = float(text) if _FLOAT.fullmatch(text) else float("inf")
    return None if value in (float("inf"), -float("inf")) else value
"""
_ALONE = {"case_sensitive", "space_change_sensitive"}
_WITH_NUMBER = {"float_tolerance", "float_relative_tolerance", "float_absolute_tolerance"}


class FlagError(ValueError):
    """A flag is not one of the default output validator."""


def validator(
    source: str, main: str, modules: Mapping[str, str], flags: Sequence[Sequence[str]]
) -> str:
    """Return the checker of a contest package's output validator in Python.

    The validator is called with the paths of input, answer and feedback and reads the output on
    stdin; exit code 42 accepts, 43 rejects.

    Args:
        source: source of its main file.
        main: name of that file.
        modules: source of each further module.
        flags: its further arguments; of several lists, each test brings its own.
    """
    only = list(flags[0]) if len(flags) == 1 else None
    names = f"_SOURCE = {source!r}\n_MAIN = {main!r}\n_MODULES = {dict(modules)!r}\n"
    return f"{_RUN}{names}_FLAGS = {only!r}\n{_VALIDATOR}"


def score_checker(source: str) -> str:
    """Return the checker of a program that prints a score of 1 for right answers.

    A higher score is right as well. The program is called with the paths of input, expected
    output and answer.
    """
    return f"{_RUN}_SOURCE = {source!r}\n_MAIN = 'checker.py'\n_MODULES = {{}}\n{_SCORE}"


def token_checker(flags: Sequence[Sequence[str]]) -> str:
    """Return the default checker of contest packages: token by token.

    Source: the problem package format, "default output validator". As in its reference
    implementation, and against its text, a tolerance holds for whole numbers too.

    Args:
        flags: flags of that validator; without any, upper and lower case are the same and numbers
            are compared as text. Of several lists, each test brings its own.

    Raises:
        FlagError: it has no such flag, or its number is missing.
    """
    settings = {" ".join(each): _settings(each) for each in flags}
    return f"_SETTINGS = {settings!r}\n_ONLY = {_settings(flags[0])!r}\n{_TOKENS}"


def _settings(flags: Sequence[str]) -> tuple[bool, bool, float | None, float | None]:
    """Return whether case and spaces count, the absolute and the relative tolerance."""
    alone: set[str] = set()
    numbers: dict[str, float] = {}
    arguments = iter(flags)
    for flag in arguments:
        if flag in _ALONE:
            alone.add(flag)
        elif flag in _WITH_NUMBER:
            if flag in numbers:
                raise FlagError(f"{flag} is given twice")
            numbers[flag] = _tolerance(flag, next(arguments, ""))
        else:
            known = ", ".join(sorted(_ALONE | _WITH_NUMBER))
            raise FlagError(f"the default validator has no flag {flag!r:.60}; known: {known}")
    both = numbers.get("float_tolerance")
    if both is not None and len(numbers) > 1:
        raise FlagError("float_tolerance is given beside a relative or absolute one")
    absolute = numbers.get("float_absolute_tolerance", both)
    relative = numbers.get("float_relative_tolerance", both)
    return "case_sensitive" in alone, "space_change_sensitive" in alone, absolute, relative


def _tolerance(flag: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 0 <= value < math.inf:
        raise FlagError(f"{flag} is not followed by a number of at least 0, but by {text!r:.60}")
    return value
