"""Match submitted solutions to problems and extract their code."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.agent.extraction.code import Extract, Extraction
from harness.agent.extraction.upstream import asserted_by_lcb
from harness.errors import UsageError
from harness.features.grade.solution import Published, Solution
from harness.problem import Kind, Problem
from harness.run.plan.problem_kinds import rules_of
from harness.sources.problem_names import Names

CODE = "code"
"""In place of a rule of extraction: a text is the solution itself."""


@dataclass(frozen=True, slots=True)
class MatchedSolution:
    """A solution and the problem that it is meant for.

    Attributes:
        index: among the problem's solutions, in the file's order, from 0.
        code: or the answer, where the problem asks for a value.
        extraction: the rule that found the code in the model's words; empty where code was given.
    """

    problem: Problem
    index: int
    code: str
    extraction: str
    published: Published | None


def match(
    solutions: Sequence[Solution], problems: Sequence[Problem], extract: str
) -> tuple[list[MatchedSolution], list[str]]:
    """Find each solution's problem, by full id, native id, slug or place, and its code or answer.

    Args:
        solutions: of one file.
        problems: that they may be of.
        extract: a name of `ProblemKind.extractors`.

    Returns:
        The solutions that have one, in the file's order, and the names of the others.

    Raises:
        UsageError: they are of several kinds of problems, there is no such extraction for theirs,
            or problems without names are more or fewer than there are.
    """
    find = _finder(solutions, problems)
    found: list[tuple[Solution, Problem]] = []
    unmatched: list[str] = []
    for solution in solutions:
        candidates = find(solution)
        if len(candidates) == 1:
            found.append((solution, candidates[0]))
        else:
            unmatched.append(solution.name)
    rules = rules_of(problem for _, problem in found)
    search = rules.extractor(extract)
    matched: list[MatchedSolution] = []
    counts: Counter[str] = Counter()
    for solution, problem in found:
        extraction = _extraction(solution, problem, search)
        code, rule = extraction.code, extraction.rule
        matched.append(MatchedSolution(problem, counts[problem.id], code, rule, solution.published))
        counts[problem.id] += 1
    return matched, unmatched


def _extraction(solution: Solution, problem: Problem, search: Extract) -> Extraction:
    """What was handed in; by no rule where the file has it by itself."""
    code = solution.code
    if code is None:
        return search(solution.output, problem.entry_point)
    if solution.completion:
        return Extraction(code=_completed(problem, code), rule="")
    if problem.kind is Kind.TEST_OUTPUT_PREDICTION:  # in LiveCodeBench's files an assertion
        code = asserted_by_lcb(code)
    return Extraction(code=code, rule="")


def _completed(problem: Problem, code: str) -> str:
    """A completion after the problem's prompt, unless it has the function by itself."""
    name = re.escape(problem.entry_point or "")
    if not name or re.search(rf"^(async +)?(def|class) +{name}\b", code, re.MULTILINE):
        return code
    return problem.starter_code + code


def _finder(
    solutions: Sequence[Solution], problems: Sequence[Problem]
) -> Callable[[Solution], Sequence[Problem]]:
    """How the problems that a solution may be of are found."""
    places = {solution.place for solution in solutions}
    if places == {None}:
        names = Names(problems)
        return lambda solution: names.candidates(solution.name)
    if None in places:
        raise UsageError("some solutions are named and others are in a list without names")
    rules_of(problems)
    if len(places) != len(problems):
        raise UsageError(
            f"the file is a list of {len(places)} lists without names, and there are "
            f"{len(problems)} problems: it must have one for each, in the order of their ids"
        )
    ordered = sorted(problems, key=_lcb_order)
    return lambda solution: ordered[solution.place or 0 : (solution.place or 0) + 1]


def _lcb_order(problem: Problem) -> tuple[str, int]:
    """LiveCodeBench's order: a question's id as text, then a test's or sample's as a number."""
    head, _, tail = problem.native_id.rpartition("_")
    if problem.kind is Kind.CODE_GENERATION or not tail.isdecimal():
        return problem.native_id, 0
    return head, int(tail)
