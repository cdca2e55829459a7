"""LiveCodeBench's output files of a run, for its tools and other readers of them.

Fields and numeric codes follow `lcb_runner`
(https://github.com/LiveCodeBench/LiveCodeBench: `runner/main.py`, `evaluation/testing_util.py`,
`evaluation/compute_code_generation_metrics.py`):

- `Scenario.codegeneration_<n>_<temperature>.json`: the problems, sorted by id, each with the
  model's answers (`output_list`) and the code in them (`code_list`);
- `…_eval.json`: pass@k, in total and by problem; each test's result, up to the first that failed;
  and metadata of each solution;
- `…_eval_all.json`: the first file with the verdicts added.

A solution submitted through a tool does not appear in an answer's text. Its output is then a code
block with the solution, from which upstream extracts it again.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.agent.events import Event, Graded
from harness.errors import UsageError
from harness.features.export.conversations import said_in, transcript_of
from harness.grading.verdict import TestResult, Verdict
from harness.languages import PYTHON
from harness.problem import Kind, Problem
from harness.run.store.results import SampleResult
from harness.run.store.transcripts import Transcripts
from harness.run.summary.loaded_run import Run

LONGEST = 300
"""Most characters of a text in the metadata, as upstream."""
WRONG, TOO_SLOW, FAILED = -2, -3, -4
KS = (1, 5, 10, 20, 40, 50, 75, 100, 125, 150, 200, 500, 1000)
"""Values of k for pass@k, used up to the smallest number of samples."""


class _UpstreamSample(NamedTuple):
    """A sample with upstream's fields."""

    output: str
    code: str
    passed: bool
    tests: list[int | bool]
    metadata: str
    graded: bool


class LiveCodeBenchFiles:
    """The three files of a run.

    Args:
        run: the run to export.
        problems: problems by id; must include every problem with results.

    Raises:
        UsageError: a problem is missing, or does not ask for a program.
        RunDirectoryError: a transcript cannot be read.
    """

    def __init__(self, run: Run, problems: Mapping[str, Problem]) -> None:
        self._run = run
        by_problem: dict[str, list[SampleResult]] = {}
        for result in run.results:
            by_problem.setdefault(result.problem_id, []).append(result)
        fence = str(run.spec.get("language") or PYTHON)
        known = [(_known(problems, problem), results) for problem, results in by_problem.items()]
        self._items: list[tuple[Problem, list[_UpstreamSample]]] = []
        transcripts = Transcripts(run.path)
        for problem, results in sorted(known, key=lambda each: each[0].native_id):
            ordered = sorted(results, key=lambda result: result.index)
            samples = [_sample(problem, result, transcripts, fence) for result in ordered]
            self._items.append((problem, samples))

    @property
    def name(self) -> str:
        """Upstream's name of the first file, without suffix.

        Without the temperature if the run set none.
        """
        spec = self._run.spec
        temperature = spec.get("temperature")
        given = "" if temperature is None else f"_{temperature}"
        return f"Scenario.codegeneration_{spec['samples_per_problem']}{given}"

    def outputs(self) -> list[dict[str, Any]]:
        """Return the contents of the first file: problems, answers and code."""
        return [_outputs(problem, samples) for problem, samples in self._items]

    def evaluated(self) -> list[dict[str, Any]]:
        """Return the contents of `_eval_all.json`: answers, code and verdicts."""
        return [
            {**_outputs(problem, samples), **_verdicts(samples)} for problem, samples in self._items
        ]

    def metrics(self) -> list[Any]:
        """Return the contents of `_eval.json`, by position of the graded problem."""
        graded = [samples for _, samples in self._items if all(each.graded for each in samples)]
        least = min(map(len, graded), default=0)
        detail = {
            f"pass@{k}": {str(place): _pass_at(k, samples) for place, samples in enumerate(graded)}
            for k in KS
            if k <= least
        }
        rates = {name: math.fsum(by.values()) / len(by) for name, by in detail.items()}
        results = {
            str(place): [each.tests for each in samples] for place, samples in enumerate(graded)
        }
        return [{**rates, "detail": detail}, results, [[s.metadata for s in g] for g in graded]]

    def write(self, folder: Path) -> list[Path]:
        """Write the three files to a folder under upstream's names. Raises OSError."""
        folder.mkdir(parents=True, exist_ok=True)
        files = {"": self.outputs(), "_eval": self.metrics(), "_eval_all": self.evaluated()}
        written: list[Path] = []
        for end, value in files.items():
            path = folder / f"{self.name}{end}.json"
            path.write_text(as_text(value), encoding="utf-8", errors="backslashreplace")
            written.append(path)
        return written


def as_text(value: object) -> str:
    """Format JSON as upstream does."""
    return json.dumps(value, indent=4)


def eval_all_text(run: Run, problems: Mapping[str, Problem]) -> Iterator[str]:
    """Yield only the text of `_eval_all.json`."""
    yield as_text(LiveCodeBenchFiles(run, problems).evaluated()) + "\n"


def _known(problems: Mapping[str, Problem], name: str) -> Problem:
    problem = problems.get(name)
    if problem is None:
        raise UsageError(
            f"{name} is no longer among the run's problems, and its statement belongs into the "
            "file; say where it is with -b"
        )
    if problem.kind is not Kind.CODE_GENERATION:
        raise UsageError(
            f"--to lcb is of programs, and {name} asks for a value; take --to csv or parquet"
        )
    return problem


def _outputs(problem: Problem, samples: Sequence[_UpstreamSample]) -> dict[str, Any]:
    date = problem.release_date
    return {
        "question_title": problem.title,
        "question_content": problem.statement,
        "platform": problem.platform,
        "question_id": problem.native_id,
        "contest_id": _contest(problem),
        "contest_date": f"{date.isoformat()}T00:00:00" if date else "",
        "starter_code": problem.starter_code,
        "difficulty": problem.difficulty or problem.difficulty_word,
        "output_list": [sample.output for sample in samples],
        "code_list": [sample.code for sample in samples],
    }


def _contest(problem: Problem) -> str:
    """Return the contest in an AtCoder or Codeforces id; empty for LeetCode's."""
    contest, _, rest = problem.native_id.rpartition("_")
    return contest if rest and problem.platform in {"atcoder", "codeforces"} else ""


def _verdicts(samples: Sequence[_UpstreamSample]) -> dict[str, Any]:
    if not all(sample.graded for sample in samples):
        return {}
    passed = [sample.passed for sample in samples]
    return {
        "graded_list": passed,
        "pass@1": sum(passed) / len(passed),
        "metadata": [sample.metadata for sample in samples],
    }


def _pass_at(k: int, samples: Sequence[_UpstreamSample]) -> float:
    """Return 1 - C(n-c, k) / C(n, k), unbiased (M. Chen et al., 2021)."""
    number, wrong = len(samples), sum(not sample.passed for sample in samples)
    return 1.0 - math.comb(wrong, k) / math.comb(number, k)


def _sample(
    problem: Problem, result: SampleResult, transcripts: Transcripts, fence: str
) -> _UpstreamSample:
    events = transcript_of(transcripts, result.problem_id, result.index) or []
    first = _first_failure(events)
    return _UpstreamSample(
        output=_words(events, result, fence),
        code=result.code,
        passed=result.solved,
        tests=_tests(problem, result),
        metadata=json.dumps(_metadata(problem, result, first)),
        graded=result.graded,
    )


def _words(events: Iterable[Event], result: SampleResult, fence: str) -> str:
    """Return the answer with the code, or a code block if it came by a tool."""
    answers = list(said_in(events).answers())
    code = result.code.strip()
    if not code:
        return answers[0] if answers else ""
    holding = (text for text in answers if code in text)
    return next(holding, f"```{fence}\n{result.code}\n```")


def _first_failure(events: Iterable[Event]) -> TestResult | None:
    grades = [event.grade for event in events if isinstance(event, Graded)]
    tests = grades[-1].tests if grades else ()
    return next((test for test in tests if not test.passed), None)


def _tests(problem: Problem, result: SampleResult) -> list[int | bool]:
    codes: list[int | bool] = []
    for test in result.tests:
        codes.append(_code(problem, test.verdict))
        if codes[-1] is not True:
            break
    if not result.solved and all(code is True for code in codes):
        codes.append(_code(problem, result.verdict))
    return codes


def _code(problem: Problem, verdict: Verdict) -> int | bool:
    """Return upstream's code for a verdict; False for a wrong function value."""
    match verdict:
        case Verdict.ACCEPTED:
            return True
        case Verdict.WRONG_ANSWER:
            return False if problem.entry_point else WRONG
        case Verdict.TIME_LIMIT:
            return TOO_SLOW
        case _:
            return FAILED


def _metadata(problem: Problem, result: SampleResult, first: TestResult | None) -> dict[str, Any]:
    """Return upstream's metadata: the time if passed, else the first failure."""
    if result.solved:
        return {"execution time": max((test.wall_s for test in result.tests), default=0.0)}
    given, expected = _test(problem, result, first)
    got, error = ("", "") if first is None else (_cut(first.got), _cut(first.error))
    match result.verdict:
        case Verdict.WRONG_ANSWER:
            metadata = {"output": got, "inputs": given, "expected": expected}
            return metadata | {"error_code": WRONG, "error_message": "Wrong Answer"}
        case Verdict.TIME_LIMIT:
            metadata = {"error": "time limit", "error_code": TOO_SLOW}
            metadata["error_message"] = "Time Limit Exceeded"
        case Verdict.NO_SOLUTION | Verdict.COMPILE_ERROR:
            why = error or "no code was found"
            return {"error_code": FAILED, "error_message": f"Error during testing: {why}"}
        case _:
            metadata = {"error": error or result.verdict.replace("_", " "), "error_code": FAILED}
            metadata["error_message"] = "Runtime Error"
    return metadata | {"inputs": given, "expected": expected}


def _test(problem: Problem, result: SampleResult, first: TestResult | None) -> tuple[str, str]:
    """Return the failed test's input and output; empty if the problem changed."""
    if first is None or problem.content_hash != result.problem_hash:
        return "", ""
    tests = problem.tests.all()
    if first.index >= len(tests):
        return "", ""
    return _cut(tests[first.index].input), _cut(tests[first.index].output)


def _cut(text: str) -> str:
    half = LONGEST // 2
    return text if len(text) <= LONGEST else f"{text[:half]}...(truncated) ...{text[-half:]}"
