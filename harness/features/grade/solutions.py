"""Solutions read from a file: matched to problems, their code extracted and judged."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from harness.agent.extraction.code import Extract, Extraction
from harness.agent.extraction.fences import extract_fenced
from harness.errors import DataError, UsageError
from harness.figures import count
from harness.frozen import Frozen
from harness.grading.jobs import Job, Judged, Options, judge_all
from harness.grading.verdict import Grade, Verdict
from harness.kinds.questions.extraction import asserted_by_lcb
from harness.kinds.questions.judge import judge_answer
from harness.languages import PYTHON
from harness.languages.known import LANGUAGES
from harness.models.protocol import Usage
from harness.problem import Kind, Problem
from harness.run.plan.judging_options import judging_of
from harness.run.plan.problem_kinds import rules_of
from harness.run.settings.spec import RunSpec
from harness.sandbox.executor import Executor
from harness.sources.problem_names import Names
from harness.text import first_few

CODE = "code"
"""In place of an extraction rule: a text is the solution itself."""


class Published(Frozen):
    """Published verdict on a solution.

    Attributes:
        verdict: the verdict as a word of this project; None if only passed or failed was published.
        note: the published reason.
    """

    passed: bool
    verdict: Verdict | None = None
    note: str = ""

    @classmethod
    def in_row(cls, row: Mapping[str, Any], where: str) -> "Published | None":
        """Return a row's `verdict`, a known word, or `passed`, perhaps a number of `total` tests.

        Raises:
            DataError: a field has another value.
        """
        match row:
            case {"verdict": str(word)}:
                if word not in set(Verdict):
                    known = ", ".join(Verdict)
                    raise DataError(where, "verdict", f"{word!r:.60} is not one of {known}")
                return cls(passed=word == Verdict.ACCEPTED, verdict=Verdict(word))
            case {"passed": bool(passed)}:
                return cls(passed=passed)
            case {"passed": int(passed), "total": int(total)}:
                return cls(passed=passed == total, note=f"{passed} of {total} tests")
            case {"passed": passed} if passed is not None:
                what = "neither true nor false, nor a number of tests with a total"
                raise DataError(where, "passed", f"{passed!r:.60} is {what}")
            case _:
                return None


@dataclass(frozen=True, slots=True)
class Solution:
    """One solution of a file.

    Attributes:
        name: name of its problem, as the file has it; empty if the file uses `place`.
        code: the program, or the answer to a value question; None if only `output` is given.
        output: the model's text.
        place: index of its problem among all problems, in LiveCodeBench's order, from 0.
        completion: whether the code continues the problem's prompt.
        language: name of its language, see `harness.languages`.
        usage: tokens that it cost; None if unknown.
        calls: requests that it took; 0 if unknown.
    """

    name: str
    code: str | None
    output: str = ""
    published: Published | None = None
    place: int | None = None
    completion: bool = False
    language: str = PYTHON
    usage: Usage | None = None
    calls: int = 0


@dataclass(frozen=True, slots=True)
class MatchedSolution:
    """A solution and its problem.

    Attributes:
        index: number of the solution among those of its problem, in the file's order, from 0.
        code: the program, or the answer to a value question.
        extraction: name of the rule that found the code; empty if the file gave code.
        language: name of its language.
        usage, calls: as in `Solution`.
    """

    problem: Problem
    index: int
    code: str
    extraction: str
    published: Published | None
    language: str = PYTHON
    usage: Usage | None = None
    calls: int = 0


def match(
    solutions: Sequence[Solution], problems: Sequence[Problem], extract: str
) -> tuple[list[MatchedSolution], list[str]]:
    """Find the problem and the code or answer of each solution.

    A problem is found by full id, native id, slug or place.

    Args:
        solutions: the solutions of one file.
        problems: the problems to search.
        extract: a name of `ProblemKind.extractors`.

    Returns:
        The solutions that have one problem, in the file's order, and the names of the others.

    Raises:
        UsageError: the problems are of several kinds, their kind has no such extraction rule, or a
            list without names has more or fewer items than there are problems.
    """
    find = _finder(solutions, problems)
    pairs: list[tuple[Solution, Problem]] = []
    unmatched: list[str] = []
    for solution in solutions:
        candidates = find(solution)
        if len(candidates) == 1:
            pairs.append((solution, candidates[0]))
        else:
            unmatched.append(solution.name)
    rules = rules_of(problem for _, problem in pairs)
    search = rules.extractor(extract)
    matched: list[MatchedSolution] = []
    counts: Counter[str] = Counter()
    for solution, problem in pairs:
        extraction = _extraction(solution, problem, search)
        code, rule = extraction.code, extraction.rule
        facts = solution.published, solution.language, solution.usage, solution.calls
        matched.append(MatchedSolution(problem, counts[problem.id], code, rule, *facts))
        counts[problem.id] += 1
    return matched, unmatched


def _extraction(solution: Solution, problem: Problem, search: Extract) -> Extraction:
    """Return the solution's code; the rule's name is empty if the file gives code."""
    code = solution.code
    if code is None and solution.language != PYTHON:
        return extract_fenced(solution.output, language=LANGUAGES[solution.language])
    if code is None:
        return search(solution.output, problem.entry_point)
    if solution.completion:
        return Extraction(code=_completed(problem, code), rule="")
    if problem.kind is Kind.TEST_OUTPUT_PREDICTION:  # LiveCodeBench's files hold an assertion
        code = asserted_by_lcb(code)
    return Extraction(code=code, rule="")


def _completed(problem: Problem, code: str) -> str:
    """Append a completion to the starter code, unless it defines the function."""
    name = re.escape(problem.entry_point or "")
    if not name or re.search(rf"^(async +)?(def|class) +{name}\b", code, re.MULTILINE):
        return code
    return problem.starter_code + code


def _finder(
    solutions: Sequence[Solution], problems: Sequence[Problem]
) -> Callable[[Solution], Sequence[Problem]]:
    """Return a function that gives the candidate problems of a solution."""
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
    """Return LiveCodeBench's sort key: question id as text, test id as a number."""
    head, _, tail = problem.native_id.rpartition("_")
    if problem.kind is Kind.CODE_GENERATION or not tail.isdecimal():
        return problem.native_id, 0
    return head, int(tail)


def jobs_of(matched: Sequence[MatchedSolution]) -> list[Job]:
    """Return a job for each solution, numbered as matched and grouped by problem."""
    order = {name: place for place, name in enumerate(dict.fromkeys(m.problem.id for m in matched))}
    jobs = [
        Job(number, each.problem, each.code, language=each.language)
        for number, each in enumerate(matched)
    ]
    return sorted(jobs, key=lambda job: order[job.problem.id])


def judged_answers(jobs: Iterable[Job]) -> Iterator[Judged]:
    """Judge answers to problems that ask for a value; no sandbox is needed."""
    for job in jobs:
        try:
            grade = judge_answer(job.problem, str(job.code))
        except DataError as error:
            yield Judged(job.number, Grade(verdict=Verdict.CHECKER_ERROR), str(error))
        else:
            yield Judged(job.number, grade, grade.checker_error)


def options_of(spec: RunSpec, caller: str) -> Options:
    """Return how a spec has solutions of loaded problems judged.

    Raises:
        UsageError: the time limit follows references, which needs a benchmark's name.
    """
    if isinstance(spec.test_timeout, str):
        raise UsageError(
            f"{caller}: test_timeout {spec.test_timeout!r} needs a benchmark by its "
            "name; with loaded problems give seconds"
        )
    return judging_of(spec)


async def judge_matched(
    pool: Executor,
    matched: Sequence[MatchedSolution],
    options: Options,
    keep: Callable[[Judged], None],
) -> None:
    """Judge programs, or compare answers, of problems of one kind.

    Args:
        pool: the workers.
        matched: the solutions.
        options: limits and rules.
        keep: receives each verdict; its number is the place in `matched`.
    """
    if rules_of(each.problem for each in matched).runs_code:
        await judge_all(pool, jobs_of(matched), options, keep)
        return
    for judged in judged_answers(jobs_of(matched)):
        keep(judged)


def unmatched_words(names: Sequence[str]) -> str:
    """Say which names of problems match none or several."""
    are, match = ("is", "matches") if len(names) == 1 else ("are", "match")
    problems = count(len(names), "problem")
    return f"{problems} {are} not in --problems (or {match} several): {first_few(names)}"
