"""LiveCodeBench's problems that take several answers, judged in a real sandbox."""

from collections.abc import Callable
from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest
from for_each import for_each

from harness.grading.jobs import Options
from harness.grading.judge import judge
from harness.grading.stop import Stop
from harness.grading.verdict import Grade, Verdict
from harness.kinds.checkers.by_problem import checked_names
from harness.problem import Problem
from harness.sandbox.worker import Worker
from harness.sources.livecodebench.livecodebench import load

LISTED = "lcb_codegen_public1055/test_public_only.jsonl.gz"
FULL = "lcb_codegen_full184/test_small.jsonl"


@pytest.fixture
def grade(worker: Worker) -> Callable[..., Grade]:
    def grade(problem: Problem, code: str, **options: Any) -> Grade:
        task = Options(**options).task(problem, dedent(code), problem.tests.all())
        return judge(worker, task)

    return grade


@pytest.fixture(scope="module")
def listed(test_data: Path) -> dict[str, Problem]:
    """By question id or slug."""
    problems = load(str(test_data / LISTED)).problems
    return {name: each for each in problems for name in (each.native_id, *each.aliases)}


class TestReading:
    """What a row becomes."""

    def test_a_listed_problem_has_a_checker_and_nothing_against_it(
        self, lcb_row: Callable[..., Any], write_rows: Callable[..., Path]
    ) -> None:
        rows = lcb_row(), lcb_row(question_id="abc343_a"), lcb_row(question_id="abc327_b")
        plain, checked, one_answer = load(str(write_rows(*rows))).problems
        assert (plain.checker, one_answer.checker) == (None, None)
        assert (checked.known_issues, one_answer.known_issues) == ((), ("many_answers",))
        assert checked.checker is not None
        assert checked.checker.code not in checked.view().model_dump_json()

    def test_the_content_hash_covers_the_checker(
        self,
        lcb_row: Callable[..., Any],
        write_rows: Callable[..., Path],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        path = write_rows(lcb_row(), lcb_row(question_id="abc343_a"))
        plain, checked = load(str(path)).problems
        assert plain.content_hash != checked.content_hash
        changed = checked.checker.model_copy(update={"code": "def check(*_): return True"})
        monkeypatch.setattr("harness.kinds.checkers.by_problem.checker_of", lambda *_: changed)
        assert load(str(path)).problems[1].content_hash != checked.content_hash

    @for_each("isolate", [False, True])
    def test_a_row_is_judged_by_its_checker(
        self,
        isolate: bool,
        lcb_row: Callable[..., Any],
        write_rows: Callable[..., Path],
        pickled: Callable[[object], str],
        grade: Callable[..., Grade],
    ) -> None:
        public = '[{"input": "2 5\\n", "output": "3\\n", "testtype": "stdin"}]'
        hidden = pickled([{"input": "0 0\n", "output": "1\n", "testtype": "stdin"}])
        row = lcb_row(question_id="abc343_a", public_test_cases=public, private_test_cases=hidden)
        (problem,) = load(str(write_rows(row))).problems
        assert grade(problem, "print(9)", isolate=isolate).solved
        for wrong in ("print(7)", "print(0)", "print('9' * 10 ** 6)", "print('sNaN')", "print()"):
            grade_of_wrong = grade(problem, wrong, isolate=isolate)
            assert grade_of_wrong.verdict is Verdict.WRONG_ANSWER, wrong
        assert not grade(problem, "print(9)", isolate=isolate, rule="lcb").solved


def test_a_hidden_test_that_equals_a_public_one_is_public(
    lcb_row: Callable[..., Any],
    write_rows: Callable[..., Path],
    pickled: Callable[[object], str],
    grade: Callable[..., Grade],
) -> None:
    public = '[{"input": "2 5\\n", "output": "7\\n", "testtype": "stdin"}]'
    same = {"input": "2 5", "output": "7", "testtype": "stdin"}
    other = {"input": "1 2\n", "output": "3\n", "testtype": "stdin"}
    rows = [
        lcb_row(question_id=name, public_test_cases=public, private_test_cases=pickled(hidden))
        for name, hidden in (("alone", [same]), ("both", [same, other]))
    ]
    alone, both = load(str(write_rows(*rows))).problems
    graded = grade(alone, "print(7)")
    assert (graded.public_total, graded.public_passed, graded.hidden_total) == (2, 2, 0)
    graded = grade(both, "print(7)")
    assert (graded.public_total, graded.public_passed) == (2, 2)
    assert (graded.hidden_total, graded.hidden_passed) == (1, 0)


ANOTHER_ANSWER = {
    "abc311_c": """
        n, *a = map(int, open(0).read().split())
        v = n
        for _ in range(n):
            v = a[v - 1]
        walk = [v]
        while a[walk[-1] - 1] != v:
            walk.append(a[walk[-1] - 1])
        print(len(walk) + BAD)
        print(*walk)
        """,
    "abc326_d": """
        from itertools import permutations
        n, r, c = int(input()), input(), input()
        lines = sorted({"".join(p) for p in permutations("ABC" + "." * (n - 3))})
        def search(rows):
            for j in range(n):
                column = [row[j] for row in rows if row[j] != "."]
                if len(set(column)) < len(column) or column and column[0] != c[j]:
                    return None
            if len(rows) == n:
                full = all(set("ABC") <= {row[j] for row in rows} for j in range(n))
                return rows if full else None
            for line in lines:
                if line.lstrip(".")[0] == r[len(rows)]:
                    if found := search(rows + [line]):
                        return found
        found = search([])
        if found and BAD:
            found = found[::-1]
        print("\\n".join(["Yes", *found]) if found else "No")
        """,
    "abc333_e": """
        n = int(input())
        events = [tuple(map(int, input().split())) for _ in range(n)]
        need, picks = [0] * (n + 1), []
        for kind, potion in reversed(events):
            if kind == 2:
                need[potion] += 1
            else:
                picks.append(int(need[potion] > 0))
                need[potion] -= picks[-1]
        picks.reverse()
        def most(picks):
            it, held, top = iter(picks), 0, 0
            for kind, _ in events:
                held += next(it) if kind == 1 else -1
                top = max(top, held)
            return top
        if any(need):
            print(-1)
        else:
            best = most(picks)
            for i in range(len(picks)):
                if not picks[i]:
                    picks[i] = 1
                    if most(picks) > best and not BAD:
                        picks[i] = 0
            print(best)
            print(*picks)
        """,
    "abc343_a": """
        a, b = map(int, input().split())
        print(a + b if BAD else max({*range(10)} - {a + b, 9 * (a == 0)}))
        """,
    "abc343_e": """
        from itertools import product
        v1, v2, v3 = map(int, input().split())
        def shared(*cubes):
            volume = 1
            for c in zip(*cubes):
                volume *= max(0, min(c) + 7 - max(c))
            return volume
        def search():
            if v1 + 2 * v2 + 3 * v3 != 1029:
                return None
            a = (0, 0, 0)
            for b in product(range(8), repeat=3):
                for c in product(range(-7, 8), repeat=3):
                    three = shared(a, b, c)
                    if three == v3 and shared(a, b) + shared(a, c) + shared(b, c) - 3 * three == v2:
                        return a + b + c
        found = search()
        print("Yes" if found else "No")
        if found:
            print(*(x + (101 if BAD else 1) for x in found))
        """,
    "abc362_c": """
        n = int(input())
        ranges = [tuple(map(int, input().split())) for _ in range(n)]
        x = [low for low, _ in ranges]
        for i in reversed(range(n)):
            x[i] += min(ranges[i][1] - x[i], max(0, -sum(x)))
        if sum(x) == 0:
            x[0] += BAD
            print("Yes")
            print(*x)
        else:
            print("No")
        """,
    "arc185_c": """
        from itertools import combinations
        n, x, *a = map(int, open(0).read().split())
        found = [t for t in combinations(range(n), 3) if sum(a[i] for i in t) == x]
        print(*(i + (not BAD) for i in found[-1])) if found else print(-1)
        """,
    "find-the-peaks": """
        class Solution:
            def findPeaks(self, m):
                peaks = [i for i in range(1, len(m) - 1) if m[i - 1] < m[i] > m[i + 1]]
                return peaks[::-1] + peaks[:BAD]
        """,
    "find-words-containing-character": """
        class Solution:
            def findWordsContaining(self, words, x):
                found = [i for i, word in enumerate(words) if x in word]
                return found[::-1] + found[:BAD]
        """,
    "generate-binary-strings-without-adjacent-zeros": """
        class Solution:
            def validStrings(self, n):
                every = [bin(k)[3:] for k in range(2 ** n, 2 ** (n + 1))]
                return [s for s in every[::-1] if "00" not in s] + every[:BAD]
        """,
}
"""Programs that are right, and wrong once BAD is true."""

ANOTHER_ANSWER |= {
    "abc315_e": """
        import sys
        sys.setrecursionlimit(10**6)
        n, *rows = open(0).read().strip().split("\\n")
        need = [[int(x) - 1 for x in row.split()[1:]] for row in rows]
        seen, order = set(), []
        def visit(v):
            seen.add(v)
            for w in sorted(need[v], reverse=True):
                if w not in seen:
                    visit(w)
            order.append(v + 1)
        visit(0)
        order.pop()
        print(*(order[::-1] if BAD and len(order) > 1 else order))
        """,
    "abc363_f": """
        n = int(input())
        def search(n):
            if "0" not in str(n) and str(n) == str(n)[::-1]:
                return str(n)
            for d in range(2, 10**5):
                if "0" not in str(d) and n % (d * int(str(d)[::-1])) == 0:
                    inner = search(n // (d * int(str(d)[::-1])))
                    if inner:
                        return f"{d}*{inner}*{str(d)[::-1]}"
                if d * d > n:
                    return None
        print(str(n) if BAD else search(n) or -1)
        """,
    "abc366_g": """
        n, m = map(int, input().split())
        rows = [0] * n
        for _ in range(m):
            a, b = map(int, input().split())
            rows[a - 1] |= 1 << b - 1
            rows[b - 1] |= 1 << a - 1
        pivots = []
        for column in range(n):
            at = next((i for i in range(len(pivots), n) if rows[i] >> column & 1), None)
            if at is None:
                continue
            rows[len(pivots)], rows[at] = rows[at], rows[len(pivots)]
            for i in range(n):
                if i != len(pivots) and rows[i] >> column & 1:
                    rows[i] ^= rows[len(pivots)]
            pivots.append(column)
        x = [0] * n
        free = [c for c in range(n) if c not in pivots]
        for k, c in enumerate(free):
            x[c] |= 1 << k + 7
            for i, p in enumerate(pivots):
                if rows[i] >> c & 1:
                    x[p] ^= 1 << k + 7
        if all(x):
            x[0] += BAD
            print("Yes")
            print(*x)
        else:
            print("No")
        """,
    "abc373_g": """
        n = int(input())
        points = [complex(*map(int, input().split())) for _ in range(2 * n)]
        p, q = points[:n], points[n:]
        r = list(range(n))[::-1]
        while not BAD:
            for i in range(n):
                for j in range(i):
                    now = abs(p[i] - q[r[i]]) + abs(p[j] - q[r[j]])
                    if abs(p[i] - q[r[j]]) + abs(p[j] - q[r[i]]) < now - 1e-9:
                        r[i], r[j] = r[j], r[i]
                        break
                else:
                    continue
                break
            else:
                break
        print(*(i + 1 for i in r))
        """,
    "arc181_c": """
        n = int(input())
        p = [int(x) - 1 for x in input().split()]
        q = [int(x) - 1 for x in input().split()]
        grid = [["0"] * n for _ in range(n)]
        for i in range(n):
            for j in range(n):
                if i + j >= n - 1 + 2 * BAD:
                    grid[p[i]][q[j]] = "1"
        for row in grid:
            print(*row, sep="")
        """,
    "arc188_c": """
        n, m = map(int, input().split())
        said = [tuple(map(int, input().split())) for _ in range(m)]
        from itertools import product
        for confused in product((1, 0), repeat=n):
            for liar in product((0, 1), repeat=n):
                if all(liar[a - 1] ^ liar[b - 1] ^ confused[a - 1] == c for a, b, c in said):
                    print("".join(map(str, confused)) + "0" * BAD)
                    raise SystemExit
        print(-1)
        """,
    "arc191_c": """
        for _ in range(int(input())):
            n = int(input())
            print(n + 1 + BAD, n * n)
        """,
    "arc195_c": """
        for case in [tuple(map(int, input().split())) for _ in range(int(input()))]:
            if case == (2, 3):
                print("Yes\\nB 12 13\\nR 13 12\\nB 12 12\\nB 13 13\\nR 12 14")
            elif case == (4, 0):
                print("Yes\\nR 5 5\\nR 5 6\\nR 6 6\\nR 6", 5 + BAD)
            else:
                print("No")
        """,
    "double-modular-exponentiation": """
        class Solution:
            def getGoodIndices(self, variables, target):
                good = [i for i, (a, b, c, m) in enumerate(variables)
                        if pow(pow(a, b, 10), c, m) == target]
                return good[::-1] + good[:BAD]
        """,
    "separate-squares-i": """
        class Solution:
            def separateSquares(self, squares):
                half = sum(s * s for _, _, s in squares) / 2
                low, high = 0.0, 3e9
                for _ in range(100):
                    y = (low + high) / 2
                    below = sum(s * min(s, max(0, y - b)) for _, b, s in squares)
                    low, high = (low, y) if below >= half else (y, high)
                return high + 5e-6 + BAD
        """,
    "arc192_a": """
        n, *a = map(int, open(0).read().split())
        edges = sum((x == 1) and y for x, y in zip(a, a))
        known = {"12 0 1 0 1 1 1 1 0 1 1 1 0": 1, "3 0 0 0": 0}
        good = known.get(" ".join(map(str, [n, *a])), 1)
        print(("yEs" if good else "nO") + "!" * BAD)
        """,
}

ONE_ANSWER_TO_EACH_EXAMPLE = {"abc326_d", "arc185_c"}


@for_each("name", ANOTHER_ANSWER)
def test_real_rows_take_another_answer_and_no_wrong_one(
    name: str, listed: dict[str, Problem], grade: Callable[..., Grade]
) -> None:
    problem, code = listed[name], dedent(ANOTHER_ANSWER[name])
    assert problem.known_issues == ()
    assert grade(problem, code.replace("BAD", "0")).solved
    assert grade(problem, code.replace("BAD", "0"), stop=Stop.NEVER).solved_by_rule is (
        name in ONE_ANSWER_TO_EACH_EXAMPLE
    )
    by_rule = grade(problem, code.replace("BAD", "0"), rule="lcb")
    assert by_rule.solved is (name in ONE_ANSWER_TO_EACH_EXAMPLE)
    assert grade(problem, code.replace("BAD", "1")).verdict is Verdict.WRONG_ANSWER


LOSES_TO_A_MONSTER = {"abc333_e": [2]}
ASKED = {name for name in checked_names() if name[:3] in {"abc", "arc"} or name[:4].isdigit()} | {
    *ANOTHER_ANSWER,
    "double-modular-exponentiation",
    "separate-squares-i",
}
"""Problems of LiveCodeBench that have a checker."""


@for_each("name", sorted(ASKED))
def test_answers_that_real_rows_hold_are_right_but_one(
    name: str, listed: dict[str, Problem], grade: Callable[..., Grade]
) -> None:
    problem = listed[name]
    known = {"".join(test.input.split()): test.output for test in problem.tests.all()}
    code = (
        f"import json, sys\nknown = {known!r}\n"
        "def answer(*given):\n"
        "    return json.loads(known[''.join(''.join(map(json.dumps, given)).split())])\n"
        f"{problem.entry_point or 'unused'} = answer\n"
        "if __name__ == '__main__': print(known[''.join(sys.stdin.read().split())])\n"
    )
    graded = grade(problem, code, stop=Stop.NEVER)
    wrong = [each.index for each in graded.tests if each.verdict is not Verdict.ACCEPTED]
    assert wrong == LOSES_TO_A_MONSTER.get(name, [])
    assert grade(problem, code, rule="lcb").solved


@for_each("slug", ["find-the-peaks", "find-words-containing-character"])
def test_hidden_tests_of_real_rows_are_judged_by_the_checker(
    slug: str, test_data: Path, grade: Callable[..., Grade]
) -> None:
    problems = load(str(test_data / FULL)).problems
    (problem,) = (each for each in problems if slug in each.aliases)
    code = dedent(ANOTHER_ANSWER[slug])
    right = grade(problem, code.replace("BAD", "0"))
    assert right.solved
    assert len(right.tests) > 10
    assert not grade(problem, code.replace("BAD", "0"), rule="lcb").solved
    assert not grade(problem, code.replace("BAD", "1")).solved


TOLERANCES = {
    "abc314_e": 1e-5,
    "abc315_f": 1e-5,
    "abc319_c": 1e-8,
    "abc324_f": 1e-9,
    "abc327_e": 1e-6,
    "abc350_e": 1e-6,
    "abc374_d": 1e-6,
    "abc375_b": 1e-6,
    "abc392_d": 1e-8,
}


@for_each("name", TOLERANCES)
def test_real_rows_take_a_number_that_is_near_enough(
    name: str, listed: dict[str, Problem], grade: Callable[..., Grade]
) -> None:
    problem = listed[name]
    known = {"".join(test.input.split()): test.output for test in problem.tests.all()}
    for far, right in ((0.9, True), (-0.9, True), (1.1, False)):
        code = (
            f"import sys\nvalue = float({known!r}[''.join(sys.stdin.read().split())])\n"
            f"print(f'{{value + {far * TOLERANCES[name]} * max(1, abs(value)):.15f}}')"
        )
        graded = grade(problem, code, stop=Stop.NEVER)
        assert (graded.solved, graded.solved_by_rule) == (right, False)
