"""What gets a wrong solution accepted elsewhere, and here does not.

The expected output is a word that nobody could guess; a solution that is accepted has found it.
"""

import secrets
from collections.abc import Callable
from textwrap import dedent

import pytest

from harness.grading.verdict import Grade, Verdict

GradeIt = Callable[..., Grade]

FUNCTIONS = {
    "an object equal to everything": """
        class Yes:
            def __eq__(self, other): return True
            def __ne__(self, other): return False
            def __hash__(self): return 0
            def __len__(self): return 1
            def __iter__(self): return iter([self])
            def __repr__(self): return 'Yes'
        def f(n): return Yes()
        """,
    "a string equal to everything": """
        class Yes(str):
            def __eq__(self, other): return True
            def __ne__(self, other): return False
            def __hash__(self): return 0
        def f(n): return Yes()
        """,
    "a list equal to everything": """
        class Yes(list):
            def __eq__(self, other): return True
            def __ne__(self, other): return False
        def f(n): return Yes()
        """,
    "the runner's encoder replaced": """
        import sys
        def f(n):
            frame = sys._getframe()
            while frame:
                values = frame.f_globals.get('values')
                if values is not None:
                    values.encode = lambda *_: b'true'
                frame = frame.f_back
            return True
        """,
    "json replaced": """
        import json, sys
        json.dumps = json.loads = lambda *a, **k: '{"status": "ok"}'
        sys.modules['json'] = None
        def f(n): return True
        """,
    "built-ins replaced": """
        import builtins
        builtins.isinstance = lambda *_: True
        builtins.type = lambda *_: bool
        builtins.all = builtins.any = lambda *_: True
        def f(n): return True
        """,
    "the end of the process before the result": """
        import os
        def f(n): os._exit(0)
        """,
    "an exit before the result": """
        def f(n): exit(0)
        """,
    "an exit as the module is loaded": """
        import os
        os._exit(0)
        """,
    "a result written by hand": """
        import os
        def f(n):
            for fd in range(3, 30):
                try:
                    if 'result' in os.readlink(f'/proc/self/fd/{fd}'):
                        os.write(fd, b'{"o":"x"}')
                except OSError: pass
            os._exit(0)
        """,
    "a report of success forged": """
        import os, stat, time
        def f(n):
            for fd in range(3, 30):
                try:
                    if stat.S_ISSOCK(os.fstat(fd).st_mode):
                        os.write(fd, b'D{"status": "ok"}')
                except OSError: pass
            os._exit(0)
        """,
}

SEARCH = """
import gc, os, re, sys
PATTERN = re.compile(rb'wanted:' + rb'[0-9a-f]{32}')
def texts(items):
    return ' '.join(item for item in items if type(item) is str).encode('utf-8', 'replace')
def search():
    for frame in sys._current_frames().values():
        while frame:
            yield texts([*frame.f_locals.values(), *frame.f_globals.values()])
            frame = frame.f_back
    for item in gc.get_objects():
        if type(item) is dict: yield texts([*item, *item.values()])
        elif type(item) in (list, tuple, set): yield texts(item)
    yield repr([os.listdir(), dict(os.environ)]).encode()
    for name in os.listdir('/proc/self/fd'):
        try:
            if name != '0': yield os.pread(int(name), 10 ** 6, 0)
        except OSError: pass
    with open('/proc/self/maps') as maps, open('/proc/self/mem', 'rb', 0) as memory:
        for line in maps:
            span, access, *_ = line.split()
            if 'r' in access and '[v' not in line:
                start, end = (int(x, 16) for x in span.split('-'))
                if end - start < 1 << 26:
                    try:
                        memory.seek(start)
                        yield memory.read(end - start)
                    except (OSError, ValueError): pass
def found():
    for data in search():
        match = PATTERN.search(data)
        if match: return match[0].decode()
    return 'nothing'
"""


@pytest.fixture
def secret() -> str:
    return f"wanted:{secrets.token_hex(16)}"


@pytest.mark.parametrize("code", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_is_not_accepted_for(code: str, secret: str, grade: GradeIt) -> None:
    wanted = f'"{secret}"'
    result = grade(code, [("1", wanted), ("2", wanted)], entry_point="f")
    assert result.verdict in {Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR}
    assert result.public_passed == result.hidden_passed == 0


PROGRAMS = {
    "the end of the process before any output": "import os\nos._exit(0)",
    "an exit before any output": "exit(0)",
    "stdout closed": "import os\nos.close(1)",
    "words that judges say": "print('accepted')\nprint('{\"status\": \"ok\"}')",
}


@pytest.mark.parametrize("code", PROGRAMS.values(), ids=PROGRAMS)
def test_a_program_is_not_accepted_for(code: str, secret: str, grade: GradeIt) -> None:
    result = grade(code, [("1", secret), ("2", secret)])
    assert result.verdict in {Verdict.WRONG_ANSWER, Verdict.RUNTIME_ERROR}
    assert result.public_passed == result.hidden_passed == 0


def test_a_search_finds_what_is_in_the_process(grade: GradeIt) -> None:
    """The search of the next test is one that would find it."""
    hidden = "wanted:" + "a" * 32
    code = f"kept = {hidden[::-1]!r}[::-1]\n{SEARCH}\nprint(found())"
    assert grade(code, [("", hidden)]).solved


def test_the_expected_output_is_nowhere_in_the_process(secret: str, grade: GradeIt) -> None:
    tests = [("1", secret), ("2", secret)]
    program = grade(f"{SEARCH}\nprint(found())", tests)
    assert [test.got for test in program.tests] == ["nothing\n"] * 2
    function = grade(
        f"{SEARCH}\ndef f(n): return found()",
        [(given, f'"{wanted}"') for given, wanted in tests],
        entry_point="f",
    )
    assert [test.got for test in function.tests] == ['"nothing"'] * 2


def test_forged_reports_do_not_pass_later_tests(secret: str, grade: GradeIt) -> None:
    """A program that knows one answer claims to have finished, over and over."""
    code = """
        import os, stat
        print('2', flush=True)
        for fd in range(3, 30):
            try:
                if stat.S_ISSOCK(os.fstat(fd).st_mode):
                    for _ in range(10): os.write(fd, b'D{"status": "ok"}')
            except OSError: pass
        """
    result = grade(dedent(code), [("1", "2"), ("2", secret), ("3", secret)])
    assert not result.solved
    assert result.hidden_passed == 0


def test_the_input_of_a_later_test_is_nowhere_in_the_process(secret: str, grade: GradeIt) -> None:
    code = f"{SEARCH}\nprint(found())"
    result = grade(code, [("first", "nothing"), (secret, secret)])
    assert result.solved  # the input at hand is found, so the search is one that would
    assert result.confirmed == (0, 0)
