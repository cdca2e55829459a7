"""Example values for every template of a set, to check it and to show what a model may be sent."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from harness.problem import ProblemView, shows_output

CPU_S = "6"
_CODE = "def solve(x):\n    return x + 1\n"
_REPORT = "1 of 2 public tests passed."
_CALL = {"name": "run_code", "description": "Run a program.", "arguments": {"type": "object"}}
_FAILED: Mapping[str, Any] = {
    "number": 2,
    "words": "wrong answer",
    "verdict": "wrong_answer",
    "seconds": None,
    "input": "3",
    "is_call": False,
    "shows_output": True,
    "expected": "6",
    "got": "5",
    "difference": {"where": "line 1", "expected": "6", "got": "5"},
    "error": "",
    "stdout": "",
    "stderr": "",
}
_TALKED: Mapping[str, Any] = {
    "shows_output": False,
    "got": "> 5\n< higher",
    "difference": {"where": "6 was wanted", "expected": "", "got": ""},
}
_NO_REPORT: dict[str, Any] = {"report": ""}
_RAN: dict[str, Any] = {
    "ending": "finished",
    "code": 1,
    "seconds": "0.01",
    "stdout": "5",
    "stderr": "",
    "error": "",
}
_OCCASIONS: Mapping[str, Sequence[tuple[str, Mapping[str, Any]]]] = {
    "report": (),
    "describe": tuple(
        (f"{tool} {argument}".strip(), {"tool": tool, "argument": argument})
        for tool, arguments in {
            "read_problem": (),
            "write_solution": ("code",),
            "run_tests": (),
            "write_answer": ("answer",),
            "run_code": ("code", "stdin"),
            "submit": (),
            "report_problem": ("reason",),
        }.items()
        for argument in ("", *arguments)
    ),
    "again": (
        ("a program that failed", {}),
        (
            "a program that passed, where the model goes on",
            {"solved": True, "report": "All 2 public tests passed."},
        ),
        ("the same program again", {**_NO_REPORT, "same": True}),
        ("an answer without a program", _NO_REPORT),
        ("an answer that was cut off", {**_NO_REPORT, "cut_off": True}),
        ("an answer that was withheld", {**_NO_REPORT, "filtered": True}),
        ("a call of a further tool", {**_NO_REPORT, "results": "Result of run_code:\n\n5"}),
    ),
    "repair": (
        ("a program that failed", {}),
        ("one that failed again, after an answer without a program", {"round": 2, "new": False}),
        ("no program yet", {"code": "", "feedback": ""}),
        ("a program that was not run", {"feedback": ""}),
    ),
    "check": (
        ("the public tests have passed", {"report": "", "opening": ""}),
        ("the public tests have passed, in a new conversation", {"report": ""}),
        ("a case contradicts the program", {"opening": ""}),
    ),
    "own_tests": (
        ("a test of the model's own failed", {}),
        ("does not compile", {"compile_error": "SyntaxError"}),
    ),
    "problem": (
        ("with all public tests", {}),
        ("where the statement has them", {"in_statement": [1], "shown": []}),
    ),
    "reminder": (
        ("a message without a call", {}),
        ("a program in a message", {"new_code": True}),
        ("a message that was cut off", {"cut_off": True}),
        ("a message that was withheld", {"filtered": True}),
        ("nothing handed in", {"handed_in": False, "passed": None, "total": None}),
        ("not tested", {"passed": None, "total": None}),
        ("no public tests", {"tests": False}),
    ),
    "result": tuple(
        (event, {"event": event, **values})
        for event, values in (
            ("saved", {"number": 1, "lines": 2, "tests": True, "function": ""}),
            ("saved", {"number": 1, "lines": 1, "tests": False, "function": "solve"}),
            ("saved", {"number": 1, "lines": 2, "tests": False, "function": ""}),
            ("same", {"number": 1}),
            ("unchanged", {}),
            ("failed", {"function": ""}),
            ("failed", {"function": "solve"}),
            ("no_solution", {}),
            ("no_tests", {}),
            ("no_code", {}),
            ("too_long", {"longest": "256,000"}),
            ("cannot_run", {}),
            ("ran", _RAN),
            ("ran", {**_RAN, "ending": "exit", "stdout": ""}),
            ("ran", {**_RAN, "ending": "signal", "stderr": "y", "error": "z"}),
            ("submitted", {}),
            ("nothing_to_submit", {}),
            ("reported", {}),
            ("no_reason", {}),
            ("answer", {"number": 1}),
            ("no_answer", {}),
            ("no_literal", {"error": "a name", "json": True}),
            ("unknown_tool", {"name": "shell", "known": ["write_solution"]}),
            ("not_json", {"tool": "write_solution", "error": "line 1", "example": {"code": "#"}}),
            ("misfit", {"tool": "run_code", "error": "stdin: a string", "example": {"code": "#"}}),
            ("left_out", {"result": "Saved.", "tool": "run_tests", "names": ["path"]}),
            ("cut_off", {"tool": "write_solution", "error": ""}),
            ("cut_off", {"tool": "", "error": "There is no tool."}),
            ("again", {"error": "No JSON.", "tool": "write_solution", "example": {"code": "#"}}),
            ("again", {"error": "No tool.", "tool": "", "example": None}),
            ("test_it", {}),
            ("time_up", {}),
            ("call_limit", {"limit": 5}),
            ("message_limit", {"limit": 32}),
            ("ended", {}),
            ("left", {"result": "Saved.", "tokens": 1000, "dollars": 0.5}),
            ("left", {"result": "Saved.", "tokens": None, "dollars": None}),
            ("in_text", {"tool": "run_code", "result": "5"}),
        )
    ),
}

_VALUES: Mapping[str, Sequence[tuple[str, Mapping[str, Any]]]] = {
    "again": (
        ("an answer without a value", _NO_REPORT),
        ("an answer that was cut off", {**_NO_REPORT, "cut_off": True}),
        ("an answer that was withheld", {**_NO_REPORT, "filtered": True}),
    ),
    "repair": (("a value handed in", {"code": "3", "feedback": ""}),),
    "problem": (("", {}),),
}
"""The same where a value is asked for."""


class Example(NamedTuple):
    """Values of a template, and when it is sent with such ones."""

    title: str
    values: Mapping[str, Any]


def examples(part: str, problem: ProblemView, tools: Sequence[str] = ()) -> Iterator[Example]:
    """Yield values for a template, one for each of its occasions.

    Args:
        part: name of the template.
        problem: the problem of the conversation.
        tools: names of the native tools; none in text.
    """
    common = _common(problem, tools)
    occasions = {**_OCCASIONS, **_VALUES} if problem.call else _OCCASIONS
    for title, own in occasions.get(part, (("", {}),)):
        yield Example(title, {**common, **own})
    if part == "report":
        for title, values in _reports(problem):
            yield Example(title, {**common, **values})


def _common(problem: ProblemView, tools: Sequence[str]) -> dict[str, Any]:
    return {
        "problem": problem,
        "further_tests": problem.public_tests,
        "cpu_limit_s": CPU_S,
        "max_turns": 10,
        "tools": tools,
        "calls": (_CALL,),
        "tool": "write_solution",
        "argument": "",
        "code": _CODE,
        "feedback": _REPORT,
        "new": True,
        "round": 1,
        "opening": f"# {problem.title}",
        "reflections": ["The last element was left out."],
        "plans": 3,
        "example": "Add two numbers.",
        "algorithm": "Arithmetic.",
        "plan": "1. Read the numbers. 2. Print their sum.",
        "flags": "",
        "memory": "2 GiB",
        "use": "imported",
        "starter": problem.starter_code,
        "in_statement": [],
        "left": 0,
        "shown": [
            {
                "number": number,
                "input": test.input.strip("\n"),
                "output": test.output.strip("\n"),
                "shows_output": shows_output(problem.judge, test),
            }
            for number, test in enumerate(problem.public_tests, 1)
        ],
        "report": _REPORT,
        "solved": False,
        "results": "",
        "same": False,
        "passed": 1,
        "total": 2,
        "cut_off": False,
        "filtered": False,
        "new_code": False,
        "handed_in": True,
        "tests": bool(problem.public_tests),
        "turns": 3,
        "compile_error": "",
        "failed": [
            {"verdict": "wrong answer", "input": "3", "expected": "6", "got": "5", "error": ""}
        ],
    }


def _reports(problem: ProblemView) -> Iterator[tuple[str, dict[str, Any]]]:
    talks = problem.judge == "dialogue"
    failed: Mapping[str, Any] = {**_FAILED, **_TALKED} if talks else _FAILED
    base: dict[str, Any] = {
        "passed": 1,
        "total": 3,
        "score": None,
        "error": "",
        "full": [failed],
        "others": [],
        "passed_numbers": [1],
        "not_run": [],
        "talks": talks,
        "memory": "2 GiB",
    }
    slow = {"number": 3, "words": "time limit exceeded"}
    late = {**failed, **slow, "number": 2, "verdict": "time_limit", "seconds": "6.01"}
    late |= {"got": "", "difference": None}
    large = {**late, "words": "memory limit exceeded", "verdict": "memory_limit", "seconds": None}
    broken = {**late, "words": "runtime error", "verdict": "runtime_error", "seconds": None}
    broken |= {"error": "ValueError", "stdout": "x", "stderr": "y", "is_call": True}
    at_fault = {**broken, "number": 3, "words": "checker error", "verdict": "checker_error"}
    yield "a wrong answer", {**base, "verdict": "wrong_answer", "others": [slow]}
    yield "too slow", {**base, "verdict": "time_limit", "full": [late], "not_run": [3]}
    yield (
        "too large",
        {**base, "verdict": "memory_limit", "full": [large], "not_run": [3, 4], "total": 4},
    )
    yield "an error", {**base, "verdict": "runtime_error", "full": [broken, at_fault]}
    yield "does not compile", {**base, "verdict": "compile_error", "error": "SyntaxError"}
    yield "points", {**base, "verdict": "wrong_answer", "score": "40 of 100 points"}
    yield "passed", {**base, "verdict": "accepted", "passed": 3, "full": []}
