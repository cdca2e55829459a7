"""C++: solutions are compiled by the system's compiler to a program without shared libraries."""

import os
import re
import shlex
import shutil
import subprocess
from functools import cache
from pathlib import Path

from harness.kinds.cpp import functions
from harness.languages.functions import Function, ValueType
from harness.languages.language import (
    Compiler,
    FunctionForm,
    Language,
    MissingCompilerError,
)

SOURCE, BINARY = functions.SOURCE, "solution"
FLAGS = "-std=gnu++20 -O2"
COMPILERS = ("g++", "clang++")
# A static program starts in a fraction of the time, and needs no file.
ALWAYS = ("-static", "-pipe", "-fdiagnostics-color=never", "-DONLINE_JUDGE")
FOLDERS = ("/usr/bin", "/bin", "/usr/include", "/usr/libexec", "/usr/local/include")
TO_INSTALL = "install g++ and the static C library (Debian, Ubuntu: apt install g++)"
VERSION_S = 20
SOUND = """// {nonce}
#include <algorithm>
#include <iostream>
#include <string>
int main() {{
    std::string word;
    std::cin >> word;
    std::reverse(word.begin(), word.end());
    std::cout << word << '\\n';
}}
"""
FUNCTIONS = FunctionForm(
    functions.starter_of,
    functions.read_starter,
    functions.around,
    functions.USE,
    "class Solution {\npublic:\n    bool same(vector<string>& a) { return true; }\n};",
    Function("same", (("a", ValueType("string", 1)),), ValueType("bool")),
)
LONGEST = 256_000  # characters
_INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b", re.MULTILINE)
_DECLARES = re.compile(r"\bmain\s*+\(|\b(?:class|struct)\s++Solution\b")
_NEXT = re.compile(r"//|/\*|R\"[^()\\\s\"]{0,16}\(|[\"'(){}\[\]\\]")
_QUOTED = {quote: re.compile(rf"(?:[^{quote}\\\n]|\\.)*+{quote}") for quote in "\"'"}
_OPENING = {")": "(", "]": "[", "}": "{"}


@cache
def compiler() -> Compiler:
    """Return the compiler of this machine.

    Raises:
        MissingCompilerError: there is none.
    """
    path = next(filter(None, map(shutil.which, COMPILERS)), None)
    if path is None:
        raise MissingCompilerError(f"no C++ compiler ({' or '.join(COMPILERS)}): {TO_INSTALL}")
    real = os.path.realpath(path)
    try:
        done = subprocess.run(  # noqa: S603 - the user's own compiler
            [path, "--version"], capture_output=True, text=True, timeout=VERSION_S, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise MissingCompilerError(f"{path} cannot be run ({error}): {TO_INSTALL}") from error
    version = next(iter(done.stdout.splitlines()), "")[:200]

    def command(flags: str) -> list[str]:
        return [path, *shlex.split(flags), *ALWAYS, "-x", "c++", SOURCE, "-o", BINARY]

    own = Path(real).parent
    prefix = () if str(own) in FOLDERS else (str(own.parent), str(Path(path).parent.resolve()))
    return Compiler(real, version, (*FOLDERS, *prefix), command)


def may_be_cpp(text: str) -> bool:
    """Return whether a text has a program or a solution's class, and all that it opens is closed.

    A backslash stands only in literals, in comments and at the end of a line.
    """
    if len(text) > LONGEST or _DECLARES.search(text) is None:
        return False
    opened: list[str] = []
    at: int | None = 0
    while at is not None and (match := _NEXT.search(text, at)) is not None:
        mark = match[0]
        if mark in _OPENING.values():
            opened.append(mark)
        elif mark in _OPENING and (not opened or opened.pop() != _OPENING[mark]):
            return False
        at = _after(text, mark, match)
    return at is not None and not opened


def from_include(text: str) -> str:
    """Return the text from the first line with `#include` to the last closing brace."""
    begin = _INCLUDE.search(text)
    return "" if begin is None else text[begin.start() : text.rfind("}") + 1]


def _after(text: str, mark: str, match: re.Match[str]) -> int | None:
    """Return where the text goes on after a mark; None where that is never closed."""
    at, end = match.end(), -1
    if mark == "//":
        end = text.find("\n", at)
        return len(text) if end < 0 else end
    if mark == "/*":
        closing = "*/"
    elif mark[0] == "R":
        closing = f'){mark[2:-1]}"'
    elif mark == "\\":
        return at if text[at : at + 1] in {"\n", "\r"} else None
    elif mark == '"' or (mark == "'" and not _is_separator(text, at)):
        quoted = _QUOTED[mark].match(text, at)
        return None if quoted is None else quoted.end()
    else:
        return at
    end = text.find(closing, at)
    return None if end < 0 else end + len(closing)


def _is_separator(text: str, after: int) -> bool:
    """Whether a quote stands between the digits of a number."""
    before = re.search(r"\b[0-9][0-9A-Fa-fxX']*\Z", text[max(0, after - 40) : after - 1])
    return before is not None and text[after : after + 1].isalnum()


LANGUAGE = Language(
    name="cpp",
    title="C++",
    endings=(".cpp", ".cc", ".cxx", ".c++"),
    fences=("cpp", "c++", "cc", "cxx"),
    is_source=may_be_cpp,
    flags=FLAGS,
    source=SOURCE,
    example='#include <iostream>\nint main() { std::cout << "yes\\n"; }',
    sound=SOUND,
    placeholder="// your complete solution",
    functions=FUNCTIONS,
    compiler=compiler,
    marks=("int main", "#include"),
    bare=from_include,
)
