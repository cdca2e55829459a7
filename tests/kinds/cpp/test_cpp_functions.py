"""Functions in C++: types, what a solution may write beside its result, and verdicts."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from _pytest.mark import ParameterSet

from harness.grading.judge import judge
from harness.grading.stop import Stop
from harness.grading.task import Task
from harness.grading.verdict import Grade, Verdict
from harness.kinds.cpp.language import compiler
from harness.languages.functions import NoFunctionError
from harness.languages.language import MissingCompilerError
from harness.languages.starters import function_of, starter_in
from harness.problem import Problem
from harness.run.plan.languages import refusal
from harness.sandbox.limits import MEBIBYTE, Limits
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker
from harness.sources.files.lines import Line
from harness.sources.jsonl import parse_row

try:
    compiler()
except MissingCompilerError as missing:
    pytest.skip(str(missing), allow_module_level=True)

LIMITS = Limits(cpu_s=0.5, memory_bytes=256 * MEBIBYTE, output_bytes=4 * MEBIBYTE)


def problem(head: str, *tests: tuple[list[Any], Any], **more: Any) -> Problem:
    """Return a problem of the method `f` with the annotations of `head`."""
    row: dict[str, Any] = {
        "id": "own/f",
        "statement": "Do it.",
        "entry_point": "f",
        "starter_code": f"class Solution:\n    def f(self, {head}:\n        ",
        "tests": [
            {"input": "\n".join(map(json.dumps, given)), "output": json.dumps(wanted)}
            for given, wanted in tests
        ],
    }
    raw = json.dumps(row | more).encode()
    return parse_row(Line(Path("rows"), "rows", 1, None, raw), source="own")


def graded(worker: Worker, asked: Problem, code: str) -> Grade:
    """Judge a solution in C++ on all tests, whatever the first ones say."""
    tests, program = asked.tests.all(), Program.of(asked, code, "cpp")
    task = Task(program, tests, LIMITS, checker=asked.checker, stop=Stop.NEVER)
    return judge(worker, task)


def passed(grade: Grade) -> list[bool]:
    return [test.passed for test in grade.tests]


SUM = problem("a: List[int]) -> int", ([[1, 2, 3]], 6), ([[]], 0), ([[1 << 40, -5]], (1 << 40) - 5))
TEXTS = problem(
    "a: List[List[str]], b: bool) -> List[str]",
    ([[["x", 'é"\n'], []], True], ["x", 'é"\n']),
    ([[], False], []),
)
IN_PLACE = problem("a: List[int]) -> None", ([[1, 2]], [2, 1]))


def method(head: str, body: str) -> str:
    """Return a solution with one method."""
    return f"class Solution {{\npublic:\n    {head} {{ {body} }}\n}};\n"


def again(*values: object) -> ParameterSet:
    """Return a case of a kind that the quick half has already; each takes a compiler's time."""
    return pytest.param(*values, marks=pytest.mark.thorough)


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        again(SUM, method("long long f(vector<long long>& a)", "return accumulate(all, 0LL);")
            .replace("all", "a.begin(), a.end()")),
        (SUM, "#define int long long\n"
              + method("int f(vector<int> a)",
                       'int s = 0; for (int x : a) { s += x; cout << "6\\n"; } return s;')
              + "signed main() { return 0; }\n"),
        again(SUM, method("long long f(const vector<long long>& a, int i = 0)",
                     "return i == (int)a.size() ? 0 : a[i] + f(a, i + 1);")),
        (TEXTS, method("vector<string> f(vector<vector<string>>& a, bool b)",
                       "vector<string> r; for (auto& l : a) for (auto& s : l) r.push_back(s); "
                       "if (b == a.empty()) r.clear(); return r;")),
        (IN_PLACE, method("void f(vector<int>& a)", "reverse(a.begin(), a.end());")),
    ],
)  # fmt: skip
def test_a_right_solution_is_accepted(worker: Worker, asked: Problem, code: str) -> None:
    grade = graded(worker, asked, code)
    assert grade.verdict is Verdict.ACCEPTED, grade.tests


FAKE = (
    'for (int d = 1; d < 20; ++d) for (auto t : {string("6"), string(32, \'a\') + "\\n6\\n" + '
    "string(32, 'a')}) if (write(d, t.data(), t.size())) {} "
)


WRONG = [
    ("return 5;", Verdict.WRONG_ANSWER),
    ('cout << 6; puts("6"); return 5;', Verdict.WRONG_ANSWER),
    (f"{FAKE} return 5;", Verdict.WRONG_ANSWER),
    (f"{FAKE} exit(0);", Verdict.RUNTIME_ERROR),
    (f"{FAKE} _exit(0);", Verdict.RUNTIME_ERROR),
    ("exit(0);", Verdict.RUNTIME_ERROR),
    ("throw 6;", Verdict.RUNTIME_ERROR),
    ("return a.at(99);", Verdict.RUNTIME_ERROR),
    ("return *(volatile int*)0;", Verdict.RUNTIME_ERROR),
    ("for (volatile int i = 0;; i = i + 1) {}", Verdict.TIME_LIMIT),
]
"""What a solution does that should return 6, in a test for each."""


def test_no_wrong_solution_is_accepted(worker: Worker) -> None:
    asked = problem("a: List[int]) -> int", *(([[number]], 6) for number, _ in enumerate(WRONG)))
    cases = "\n".join(f"case {number}: {{ {body} }}" for number, (body, _) in enumerate(WRONG))
    body = f"switch (a[0]) {{ {cases} }} return 5;"
    code = "#include <unistd.h>\n" + method("long long f(vector<long long>& a)", body)
    grade = graded(worker, asked, code)
    assert [test.verdict for test in grade.tests] == [verdict for _, verdict in WRONG]


NUMBERS = [
    ("x * n", {"input": "2.5\n2", "output": "5.0"}, True),
    ("x * n", {"input": "1e300\n1", "output": "1e300"}, True),
    ("NAN", {"input": "1.0\n3", "output": "1.0"}, False),
    ("INFINITY", {"input": "1.0\n4", "output": "1.0"}, False),
    ("-INFINITY", {"input": "1.0\n5", "output": "1.0"}, False),
    ("x / n", {"input": "1.0\n6", "output": "0.166666", "tolerance": 1e-5}, True),
    ("x / n + 2e-5", {"input": "1.0\n7", "output": "0.142857", "tolerance": 1e-5}, False),
    ("NAN", {"input": "1.0\n8", "output": "0.125", "tolerance": 1e-5}, False),
    ("x / n + 1e-9", {"input": "1.0\n16", "output": "0.0625"}, False),
]
"""What a solution returns in which test, and whether it passes."""


def test_a_number_is_right_within_the_tolerance_of_its_test(worker: Worker) -> None:
    asked = problem("x: float, n: int) -> float", tests=[test for _, test, _ in NUMBERS])
    cases = "\n".join(
        f"case {number}: return {value};"
        for value, test, _ in NUMBERS
        if (number := int(test["input"].split()[1])) > 1
    )
    body = f"switch (n) {{ {cases} }} return x * n;"
    grade = graded(worker, asked, method("double f(double x, int n)", body))
    assert passed(grade) == [right for _, _, right in NUMBERS]
    assert {test.verdict for test in grade.tests} == {Verdict.ACCEPTED, Verdict.WRONG_ANSWER}


def test_a_narrower_type_than_the_starter_code_says_fails_on_large_numbers(
    worker: Worker,
) -> None:
    """It has another argument, with a default, by which it calls itself."""
    body = "return i == (int)a.size() ? 0 : a[i] + f(a, i + 1);"
    grade = graded(worker, SUM, method("int f(vector<int>& a, int i = 0)", body))
    assert passed(grade) == [True, True, False]
    assert "argument 1: 1099511627776 does not fit" in grade.tests[-1].stderr


SMALL = problem("a: List[int]) -> int", ([[1, 2, 3]], 6), ([[]], 0))
WITH_TEXT = problem(
    "s: str, a: List[int], k: int) -> int", (["ab", [1, 2], 3], 8), (["", [], 5], 5)
)


@pytest.mark.parametrize(
    ("asked", "head", "body"),
    [
        again(SMALL, "int f(vector<int>&& a, string s = {}, vector<int> more = {})",
              "return accumulate(a.begin(), a.end(), 0) + a.empty() + more.size();"),
        (WITH_TEXT, "int f(string_view s, const vector<int>& a, optional<long long> k, int i = 0)",
         "return s.size() + accumulate(a.begin(), a.end(), i) + *k - a.empty();"),
    ],
)  # fmt: skip
def test_a_function_that_the_call_of_the_starter_code_fits_is_judged(
    worker: Worker, asked: Problem, head: str, body: str
) -> None:
    """It is right in the first test, not in the second, whose list is empty."""
    grade = graded(worker, asked, method(head, body))
    verdicts = [test.verdict for test in grade.tests]
    assert verdicts == [Verdict.ACCEPTED, Verdict.WRONG_ANSWER], grade.tests


@pytest.mark.parametrize(
    "head",
    [
        "int f(vector<int>& a, int i)",
        again("int f()"),
        again("int f(span<const string> a)"),
    ],
)
def test_a_function_that_the_call_does_not_fit_cannot_be_compiled(
    worker: Worker, head: str
) -> None:
    grade = graded(worker, SMALL, method(head, "return 6;"))
    assert grade.verdict is Verdict.COMPILE_ERROR
    assert "driver:" in grade.tests[0].error


def test_a_span_of_a_narrower_type_fails_on_large_numbers(worker: Worker) -> None:
    code = method("int f(span<const int> a)", "return accumulate(a.begin(), a.end(), 0);")
    grade = graded(worker, SUM, code)
    assert passed(grade) == [True, True, False]
    assert "argument 1: 1099511627776 does not fit" in grade.tests[-1].stderr


def test_a_compile_error_names_lines_of_the_solution_and_of_the_driver_apart(
    worker: Worker,
) -> None:
    asked = problem("a: int) -> int", ([1], 1))
    grade = graded(worker, asked, method("list<int> f(int a)", "return {};"))
    assert grade.verdict is Verdict.COMPILE_ERROR
    error = grade.tests[0].error
    assert "driver:" in error
    lines = [int(each) for each in re.findall(r"solution\.cpp:(\d+)", error)]
    assert all(line < 10 for line in lines), error


def test_a_test_that_no_cpp_value_holds_is_no_fault_of_the_solution(
    worker: Worker,
) -> None:
    asked = problem("a: int) -> int", ([1], 1), ([1 << 70], 1))
    grade = graded(worker, asked, method("int f(int a)", "return 1;"))
    assert grade.verdict is Verdict.CHECKER_ERROR
    what = "1180591620717411303424 is not of the type"
    assert f"test 2 fits no cpp solution: argument a: {what}" in grade.tests[0].error


def test_a_value_that_no_cpp_type_holds_is_named() -> None:
    function = function_of(problem("a: List[List[int]], b: str) -> int", ([[], ""], 1)), "cpp")
    long = 1 << 70
    what = "is not of the type that the starter code says"
    assert function.fault(f'[[1], [2, {long}]]\n"x"', "1", compared=True) == (
        f"argument a: {long} {what}"
    )
    assert function.fault("[]\n7", "1", compared=True) == f"argument b: 7 {what}"
    assert function.fault('[]\n"x"', f"{long}", compared=True) == (
        f"the expected result {long} {what}"
    )
    long_text = function.fault(f'[]\n["{"x" * 999}"]', "1", compared=True)
    assert len(long_text) < 150
    assert "left out" in long_text


@pytest.mark.parametrize(
    ("head", "reason"),
    [
        ("a: Optional[TreeNode]) -> int", "Optional[TreeNode]"),
        ("a: Dict[str, int]) -> int", "Dict[str, int]"),
        ("a) -> int", "no types"),
        ("a: int, *more: int) -> int", "varies"),
    ],
)
def test_other_types_are_refused_in_words(head: str, reason: str) -> None:
    assert reason in refusal(problem(head, ([1], 1)), "cpp")


def test_the_starter_code_follows_from_the_annotations() -> None:
    asked = problem("new: List[List[str]], k: int) -> List[bool]", ([[], 1], []))
    assert starter_in(asked, "cpp") == (
        "class Solution {\npublic:\n    vector<bool> f(vector<vector<string>>& new_, "
        "long long k) {\n        \n    }\n};\n"
    )


def test_a_row_may_have_its_own_starter_code(worker: Worker) -> None:
    own = "int f(const std::vector<char>& letters, int64_t k);  // free"
    with pytest.raises(NoFunctionError, match="int64_t"):
        function_of(problem("", ([["a"], 1], 1), starter_code="", starters={"cpp": own}), "cpp")
    own = own.replace("int64_t", "long long")
    asked = problem("", ([["a", "b"], 1], 3), starter_code="", starters={"cpp": own})
    assert starter_in(asked, "cpp") == own
    code = "int f(const vector<char>& s, long long k) { return s.size() + k; }"
    assert graded(worker, asked, code).verdict is Verdict.ACCEPTED
    nothing = {"cpp": "class Solution { public: void f(vector<int>& a) {} };"}
    with pytest.raises(NoFunctionError, match="returns nothing"):
        function_of(problem("", ([[1]], [1]), starter_code="", starters=nothing), "cpp")
