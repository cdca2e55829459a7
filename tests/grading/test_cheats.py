"""What gets a wrong solution accepted elsewhere, and here does not.

The expected output is a word that nobody could guess; a solution that is accepted has found it.
"""

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


class TestSearches:
    """What a program would find that no layer stopped from looking."""

    def test_a_search_finds_what_is_in_the_process(
        self, search: str, grade_unguarded: GradeIt
    ) -> None:
        """The search of the other tests is one that would find it."""
        hidden = "wanted:" + "a" * 32
        code = f"kept = {hidden[::-1]!r}[::-1]\n{search}\nprint(found())"
        assert grade_unguarded(code, [("", hidden)]).solved

    def test_a_search_finds_no_expected_output(
        self, secret: str, search: str, grade_unguarded: GradeIt
    ) -> None:
        tests = [("1", secret), ("2", secret)]
        program = grade_unguarded(f"{search}\nprint(found())", tests)
        assert [test.got for test in program.tests] == ["nothing\n"] * 2
        function = grade_unguarded(
            f"{search}\ndef f(n): return found()",
            [(given, f'"{wanted}"') for given, wanted in tests],
            entry_point="f",
        )
        assert [test.got for test in function.tests] == ['"nothing"'] * 2

    def test_a_search_finds_no_input_of_a_later_test(
        self, secret: str, search: str, grade_unguarded: GradeIt
    ) -> None:
        result = grade_unguarded(
            f"{search}\nprint(found())", [("first", "nothing"), (secret, secret)]
        )
        assert result.solved  # the input at hand is found, so the search is one that would
        assert result.judged_again.confirmed == (0, 0)

    @pytest.mark.parametrize("end", ["print(kept)", "raise ValueError(kept)", "exit(kept)"])
    def test_nothing_of_an_earlier_solution(
        self, end: str, secret: str, search: str, grade_unguarded: GradeIt
    ) -> None:
        """Its code, its input, its output and its errors went past the fork server."""
        for _ in range(3):
            grade_unguarded(f"kept = {secret!r} + input()\n{end}", [(secret, secret)] * 3)
        assert grade_unguarded(f"{search}\nprint(found())", [("", "nothing")] * 3).solved
