"""The digest of a user's code: the same for the same code, another for any edit that matters."""

import functools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each

from harness.models.function import code_digest
from harness.models.scripted import ScriptedModel

BASE = """
import functools
import json
calls = 0
WORDS = {"a", "b", "c", "d", "e"}

def help_me(text):
    return [word for word in text if word in {"a", "b", "c", "d", "e"}]

def unused(text):
    return 1

class Own:
    name = "own"
    def ask(self, text):
        return 1
    def __call__(self, p):
        return self.ask(p)

def solve(p, style="short"):
    global calls
    calls += 1
    return json.dumps(help_me(p["id"]) + [style, lambda: 1][:1])

def build(prompt, cache):
    count = 0
    @functools.wraps(solve)
    def inner(p):
        nonlocal count
        count += 1
        return prompt + str(cache)
    return inner
"""


def digest(name: str = "solve", source: str = BASE) -> object:
    scope: dict[str, Any] = {"__name__": "mine"}
    exec(compile(source, "mine.py", "exec"), scope)
    return code_digest(eval(name, scope))


def edited(old: str, new: str) -> str:
    assert old in BASE
    return BASE.replace(old, new)


SAME = [
    ("solve", edited("def solve", "# a remark\n\n\ndef solve")),
    ("solve", edited("calls = 0", "calls = 7")),
    ("solve", edited("    return 1\n\nclass", "    return 2\n\nclass")),
    ("solve", edited("import json", "import json, os")),
]
OTHER = [
    ("solve", edited("[:1]", "[:2]")),
    ("solve", edited("lambda: 1", "lambda: 2")),
    ("solve", edited('"short"', '"long"')),
    ("solve", edited("word in {", "word not in {")),
    ("solve", edited('"d", "e"}]', '"d", "f"}]')),
    ("solve", edited("dumps", "loads")),
    ("Own()", edited("        return 1", "        return 2")),
    ("Own().ask", edited("        return 1", "        return 2")),
    ("Own", edited("self.ask(p)", "self.ask(0)")),
    ("functools.partial(solve, style='x')", edited("[:1]", "[:2]")),
    ("functools.cache(solve)", edited("[:1]", "[:2]")),
    ("build('x', {})", edited("+ str", "+ repr")),
]


@for_each(("name", "source"), SAME)
def test_remarks_and_other_parts_of_the_file_do_not_count(name: str, source: str) -> None:
    assert digest(name, source) == digest(name) is not None


@for_each(("name", "source"), OTHER)
def test_an_edit_of_user_code_changes_its_digest(name: str, source: str) -> None:
    assert digest(name, source) != digest(name) is not None


def test_values_that_are_bound() -> None:
    one = digest("functools.partial(solve, style='x')")
    assert one == digest("functools.partial(solve, style='x')")
    assert one != digest("functools.partial(solve, style='y')")
    built = digest("build('x', {})")
    assert built == digest("build('x', {1: 2})"), "a cache fills as the run proceeds"
    assert built != digest("build('y', {})")


def test_what_a_function_counts_itself_is_no_change() -> None:
    def counting() -> Callable[[object], str]:
        count = 0

        def solve(_: object) -> str:
            nonlocal count
            count += 1
            return "x"

        return solve

    function = counting()
    before = code_digest(function)
    for _ in range(100):  # the interpreter specialises the code of a busy function
        function({})
    assert code_digest(function) == before is not None


@pytest.mark.thorough
def test_the_code_digest_is_the_same_in_another_process(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(BASE)
    line = "import mine; from harness.models.function import code_digest as d; "
    digests = {
        subprocess.run(
            [sys.executable, "-c", f"{line}print(d(mine.solve))"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONHASHSEED": seed},
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(digests) == 1
    assert "sha256" in digests.pop()


def test_a_wrapper_of_a_library_does_not_count() -> None:
    scope: dict[str, Any] = {"__name__": "library", "functools": functools}
    source = "def w(f):\n @functools.wraps(f)\n def g(p): return f(p)\n return g"

    def wrapped(source: str) -> object:
        exec(source, scope)
        own: dict[str, Any] = {"__name__": "mine"}
        exec(BASE, own)
        return code_digest(scope["w"](own["solve"]))

    assert wrapped(source) == wrapped(source.replace("f(p)", "(f(p))[:]")) is not None


@for_each("thing", [len, str.upper, ScriptedModel(["x"])])
def test_code_that_is_not_the_users_has_none(thing: object) -> None:
    assert code_digest(thing) is None
