"""C++: solutions are compiled by the system's compiler to a program without shared libraries."""

import os
import shlex
import shutil
import subprocess
from functools import cache
from pathlib import Path

from harness.kinds.cpp import functions
from harness.kinds.cpp.source_text import from_include, may_be_cpp
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
