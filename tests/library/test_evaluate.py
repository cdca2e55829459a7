"""`evaluate`: a function, a model or the references over a benchmark, as `harness run` would."""

import asyncio
import functools
import json
import math
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each
from json_lines import json_lines
from own_problems import UNTESTED
from program import harness as program

import harness
from harness import (
    Evaluation,
    EvaluationError,
    NothingSelectedError,
    UsageError,
    Verdict,
    aevaluate,
    evaluate,
)
from harness.models.protocol import Message, ModelStop, ModelTurn
from harness.run.observer import Failure, Progress
from harness.run.session import sync
from harness.run.store.results import SampleResult

pytestmark = pytest.mark.usefixtures("kept_sandbox")

Problems = tuple[harness.Problem, ...]
RIGHT = {
    "own/echo": "print(input())",
    "own/reverse": "Like this:\n```python\nprint(input()[::-1])\n```\n",
    "jsonl/double": "def double(n): return 2 * n",
}


def solve(problem: dict[str, Any]) -> str:
    return next(code for name, code in RIGHT.items() if problem["id"].endswith(name[-5:]))


def echo(_: dict[str, Any]) -> str:
    return "print(input())"


def test_evaluate_runs_a_function(benchmark: str) -> None:
    result = evaluate(solve, benchmark=benchmark)
    assert (result["pass_at_1"], result["problems"], result["pending"]) == (1.0, 3, 0)
    assert result.pass_at_1 == result.summary.pass_at_1.value  # type: ignore[union-attr]
    assert result["pass_at_1_ci95"] == pytest.approx((0.438, 1), abs=0.001)
    assert result["verdicts"] == {"accepted": 3}
    assert math.isnan(result["beyond_at_1"])
    assert f"{result['beyond_at_1']:.4f}" == "nan", "as the seed's caller prints it"
    assert (result["tokens"], result["cost"]) == (None, None), "unknown is not none at all"
    assert result["model"] == f"python:{__name__}:solve"
    assert [each.verdict for each in result.results] == [Verdict.ACCEPTED] * 3
    assert dict(result).keys() == set(result)
    assert "3 of 3" in repr(result)


def test_what_a_function_is_told_and_not_told(benchmark: str) -> None:
    seen_problems: list[dict[str, Any]] = []

    def look(problem: dict[str, Any]) -> str:
        seen_problems.append(problem)
        return "print(0)"

    evaluate(look, None, 1, benchmark=benchmark)
    (problem,) = seen_problems
    assert {"id", "statement", "slug_name", "prompt", "pretty_content", "entry_point"} <= {*problem}
    assert "difficulty" in problem
    text = json.dumps(problem)
    assert '"1\\\\n"' in text or "1\\n" in text
    assert "0.5" not in text, "a hidden test"
    assert "print(" not in text, "a reference"


def test_problems_that_are_loaded(problems: Problems) -> None:
    result = evaluate(echo, benchmark=problems[:2])
    assert result["pass_at_1"] == 0.5
    assert (result["run"], result.path) == (None, None)


def test_references_without_a_function(benchmark: str) -> None:
    result = evaluate(benchmark=benchmark, samples_per_problem=2)
    assert (result["model"], result["samples"]) == ("references", 6)
    assert result["verdicts"] == {"accepted": 5, "wrong_answer": 1}


@pytest.mark.thorough
def test_a_model_by_its_name_and_the_keys_of_a_spec() -> None:
    result = evaluate(
        benchmark="fixture", model="replay:bundled", mode="agentic", limit=3, workers=1
    )
    assert result.run.spec["mode"] == "agentic"
    assert result.run.spec["tool_protocol"] == "text"  # as it was recorded
    assert result["graded"] == 3


def test_a_model_of_ones_own(benchmark: str) -> None:
    class Own:
        name = "mine"

        def for_sample(self, *_: object) -> "Own":
            return self

        async def generate(self, messages: list[Message], *_: object) -> ModelTurn:
            assert messages
            return ModelTurn(
                text="```python\nprint(input())\n```", stop=ModelStop(reason="end_turn")
            )

        async def close(self) -> None:
            pass

    result = evaluate(Own(), benchmark=benchmark, limit=1)  # type: ignore[arg-type]
    assert (result["model"], result["pass_at_1"]) == ("python:mine", 1.0)


@pytest.mark.parametrize(
    ("split", "benchmark", "wanted"),
    [
        (None, None, "mercury:eval"),
        ("train", None, "mercury:train"),
        ("train", "apps", "apps:train"),
        (None, "apps:interview", "apps:interview"),
    ],
)
def test_evaluate_finds_the_benchmark_that_is_meant(
    split: str | None, benchmark: str | None, wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Any] = []

    def load(spec: str, **_: Any) -> Any:
        asked.append(spec)
        raise UsageError("far enough")

    monkeypatch.setattr("harness.run.plan.problem_loader.load", load)
    with pytest.raises(UsageError, match="far enough"):
        evaluate(solve, split, 10, benchmark=benchmark)
    assert asked == [wanted]


class TestMistakes:
    @for_each(
        ("arguments", "words"),
        [
            ({"max_turn": 3}, "unknown key 'max_turn'; did you mean 'max_turns'"),
            ({"limt": 3}, "unknown key 'limt'; did you mean 'limit'"),
            ({"max_turns": 0}, "max_turns: must be at least 1"),
            ({"limit": 0}, "evaluate(): limit: give a whole number of at least 1 (given: 0)"),
            ({"limit": True}, "limit: give a whole number of at least 1 (given: True)"),
            ({"limit": "2"}, "limit: give a whole number of at least 1 (given: '2')"),
            ({"price": (1, 2)}, 'price: give dollars per million tokens by key, as {"input": 1.'),
            ({"price": {"in": 1, "out": 2}}, 'by key, as {"input": 1.25, "output": 10}'),
            ({"price": {"input": -1, "output": 2}}, "price.input: must be at least"),
            ({"extra_body": "{"}, 'give a JSON object, as {"top_k": 20} (given: {)'),
            ({"agentic_mode": True}, "unknown key 'agentic_mode'; give mode=\"agentic\""),
            ({"samples": 3}, "did you mean 'samples_per_problem'?"),
            ({"k": 3}, "did you mean 'samples_per_problem'?"),
            ({"n": 3}, "did you mean 'limit'?"),
            ({"problems": 3}, "did you mean 'benchmark'?"),
            ({"resume": "r"}, "did you mean 'out'?"),
            ({"timeout": 3}, "did you mean 'test_timeout'?"),
            ({"only": "x"}, "it is a flag of `harness run`, and no key"),
            ({"notify": "x"}, "it is a flag of `harness run`, and no key"),
            ({"zzzz": 3}, "unknown key 'zzzz'; see help(harness.evaluate)"),
            ({"out": 3}, "evaluate(): out is a int; give the path of a run directory"),
            ({"mode": solve}, "mode is a function; give its name, your own as 'MODULE:ATTRIBUTE'"),
            ({"tool": [solve]}, "tool: a function is not a name; give your tool as 'MODULE:ATTRIB"),
            ({"split": 3}, "evaluate(): split is a int; give its name"),
            ({"limit": 1, "sample_size": 1}, "limit and sample_size mean the same"),
            ({"split": "train"}, "benchmark says already which problems"),
            ({"model": "gpt-5"}, "pass either solution_fn or model, not both"),
            ({"agent_command": "x"}, "pass either solution_fn or an agent of your own"),
            ({"mode": "agentc"}, "mode 'agentc' is unknown"),
            ({"observer": 3}, "observer is a int: give a function of an event, or an object with"),
            ({"task": "nobody"}, "no problem is called 'nobody'"),
        ],
    )
    def test_each_is_one_clear_line(
        self, arguments: dict[str, Any], words: str, benchmark: str
    ) -> None:
        with pytest.raises(UsageError) as caught:
            evaluate(solve, **{"benchmark": benchmark, **arguments})
        assert words in str(caught.value)
        assert "\n" not in str(caught.value)

    def test_evaluate_with_a_model_name_as_function_is_refused(self, benchmark: str) -> None:
        with pytest.raises(UsageError, match="to ask a model of that name, give model='gpt-5'"):
            evaluate("gpt-5", benchmark=benchmark)  # type: ignore[arg-type]

    def test_arguments_in_the_wrong_place(self, problems: Problems) -> None:
        async def later(_: dict[str, Any]) -> str:
            return ""

        model: Any = harness.models.scripted.ScriptedModel(["x"])
        for call, words in (
            (lambda: evaluate(solve, problems), "problems go to benchmark="),  # type: ignore[arg-type]
            (lambda: evaluate(solve, problems[0]), "problems go to benchmark="),  # type: ignore[arg-type]
            (lambda: evaluate(problems), "problems go to benchmark="),  # type: ignore[arg-type]
            (lambda: evaluate(later({}), benchmark=problems), "give the function itself"),  # type: ignore[arg-type]
            (lambda: evaluate(model=solve, benchmark=problems), "solution_fn, the first arg"),  # type: ignore[arg-type]
            (lambda: evaluate(model=model, benchmark=problems), "model is a ScriptedModel, and"),
            (lambda: evaluate(model=3, benchmark=problems), 'as model="gpt-5-mini"'),  # type: ignore[arg-type]
            (lambda: evaluate(solve, benchmark=problems[0]), "one problem; give a list of prob"),  # type: ignore[arg-type]
            (lambda: evaluate(base_url="http://h/v1", benchmark=problems), "base_url needs a mod"),
            (lambda: evaluate(temperature=0.0, benchmark=problems), "temperature needs a model"),
            (lambda: evaluate(benchmark=problems, mode="agentic"), "mode 'agentic' needs a model"),
        ):
            with pytest.raises(UsageError) as caught:
                call()
            assert words in str(caught.value)
            assert "\n" not in str(caught.value)

    def test_evaluate_with_a_problem_twice_is_refused(self, problems: Problems) -> None:
        with pytest.raises(UsageError, match="own/echo is there twice"):
            evaluate(solve, benchmark=[problems[0], problems[0]])

    @pytest.mark.parametrize(
        ("benchmark", "words"),
        [
            (3, "the benchmark is a int"),
            (["apps"], "a str is not a problem; give what load_problems returns, or rows"),
        ],
    )
    def test_evaluate_without_problems_is_refused(self, benchmark: Any, words: str) -> None:
        for ask in (
            lambda: evaluate(solve, benchmark=benchmark),
            lambda: harness.grade(benchmark, {}),
            lambda: harness.Grader(benchmark),
            lambda: harness.load_problems(benchmark),
        ):
            with pytest.raises(UsageError, match=words):
                ask()

    def test_an_agent_needs_problems_by_their_name(self, problems: Problems) -> None:
        with pytest.raises(UsageError, match="kept from the files of its problems"):
            evaluate(benchmark=problems, agent_command="true")


class TestFailures:
    def test_a_sample_whose_function_fails_is_pending(self, problems: Problems) -> None:
        def fail(problem: dict[str, Any]) -> str:
            if "echo" in problem["id"]:
                raise NameError("oops")
            return "print(input()[::-1])"

        result = evaluate(fail, benchmark=problems[:2])
        assert (result["pass_at_1"], result["graded"], result["pending"]) == (1.0, 1, 1)
        (failure,) = result.failures
        assert failure.sample == "own/echo#0"
        assert "NameError: oops" in failure.cause
        assert "NameError" in result._repr_html_()

    def test_evaluate_raises_if_all_samples_fail(self, benchmark: str) -> None:
        def fail(_: dict[str, Any]) -> str:
            raise NameError("oops")

        with pytest.raises(EvaluationError, match=r"none of 3 samples.*NameError: oops"):
            evaluate(fail, benchmark=benchmark)

    def test_problems_without_any_test_are_refused(self, tmp_path: Path) -> None:
        (tmp_path / "rows.jsonl").write_text(json_lines([UNTESTED]))
        with pytest.raises(NothingSelectedError, match="no problem that is selected has a test"):
            evaluate(solve_nothing, benchmark=f"apps:{tmp_path}/rows.jsonl")


def solve_nothing(_: dict[str, Any]) -> str:
    return "print()"


class TestWhereItIsKept:
    def test_nothing_is_left_without_out(
        self, problems: Problems, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "t").mkdir()
        (tmp_path / "here").mkdir()
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "t"))
        monkeypatch.chdir(tmp_path / "here")
        evaluate(echo, benchmark=problems[:1])
        assert [*(tmp_path / "t").iterdir()] == [*(tmp_path / "here").iterdir()] == []

    def test_the_same_call_goes_on(self, problems: Problems, tmp_path: Path) -> None:
        asked: list[str] = []

        def fails_once(problem: dict[str, Any]) -> str:
            asked.append(problem["id"])
            if len(asked) == 1:
                raise ConnectionError("later")
            return "print(input())"

        def again() -> Evaluation:
            return evaluate(fails_once, benchmark=problems[:2], out=tmp_path / "r", concurrency=1)

        first = again()
        assert (first["graded"], first["pending"], first["run"]) == (1, 1, tmp_path / "r")
        second = again()
        assert (second["graded"], second["pending"], len(asked)) == (2, 0, 3)
        assert again()["graded"] == 2
        assert len(asked) == 3, "nothing was left to do"

    def test_evaluate_into_the_directory_of_another_run_is_refused(
        self, problems: Problems, tmp_path: Path
    ) -> None:
        evaluate(echo, benchmark=problems[:1], out=tmp_path / "r")
        with pytest.raises(harness.HarnessError, match="that is another run"):
            evaluate(solve, benchmark=problems[:1], out=str(tmp_path / "r"))

    def test_code_that_changes_the_directory(
        self, problems: Problems, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.chdir(tmp_path)
        (tmp_path / "there").mkdir()
        events: list[Any] = []

        def leave(_: dict[str, Any]) -> str:
            os.chdir(tmp_path / "there")
            return "print(input())"

        result = evaluate(leave, benchmark=problems, out="r", observer=events.append)
        assert (result["graded"], result.path) == (3, tmp_path / "r")
        assert (tmp_path / "r" / "summary.json").exists()
        assert {event.run for event in events} == {"r"}
        assert len(result.to_pandas()) == 3
        monkeypatch.chdir(tmp_path)
        assert evaluate(leave, benchmark=problems, out="r").path == Path("r"), "as it was given"

    def test_the_commands_read_it(self, benchmark: str, tmp_path: Path) -> None:
        evaluate(echo, benchmark=benchmark, out=tmp_path / "r")
        shown = program(tmp_path, "ls", ".")
        assert (shown.returncode, "python:" in shown.stdout) == (0, True), shown.stderr


class TestProgress:
    def test_a_function_hears_of_events(self, problems: Problems) -> None:
        events: list[Any] = []
        evaluate(echo, benchmark=problems[:1], observer=events.append)
        assert [event.event for event in events] == [
            *("run_started", "sample_started", "sample_ended", "run_ended"),
        ]
        assert events[2].result.solved
        assert events[-1].summary.graded == 1

    @pytest.mark.thorough
    def test_what_it_raises_ends_the_evaluation(self, problems: Problems, tmp_path: Path) -> None:
        def stop(event: Any) -> None:
            if event.event in {"sample_ended", "run_failed"}:
                raise RuntimeError("enough")

        with pytest.raises(RuntimeError, match="enough"):
            evaluate(echo, benchmark=problems, observer=stop, out=tmp_path / "r", concurrency=1)
        assert evaluate(echo, benchmark=problems, out=tmp_path / "r")["graded"] == 3

    def test_evaluate_tells_an_observer_of_samples(self, problems: Problems) -> None:
        seen = Seen()
        evaluate(echo, benchmark=problems[:1], observer=seen)
        assert seen.all == ["started own/echo#0", "finished own/echo#0"]

    def test_an_observer_of_progress_learns_of_the_answer_and_of_the_attempts_end(
        self, problems: Problems
    ) -> None:
        seen = SeenOnItsWay()
        evaluate(echo, benchmark=problems[:1], observer=seen)
        assert seen.all == ["started own/echo#0", "response", "sample_end", "finished own/echo#0"]

    def test_the_table_is_shown_where_it_is_wanted(
        self, problems: Problems, capsys: pytest.CaptureFixture[str]
    ) -> None:
        evaluate(echo, benchmark=problems[:1])
        assert capsys.readouterr() == ("", "")
        seen = Seen()
        evaluate(echo, benchmark=problems[:1], progress=True, observer=seen)
        out, err = capsys.readouterr()
        assert out == ""
        assert "[1/1] own/echo#0  accepted" in err
        assert len(seen.all) == 2


async def told_later(_event: object) -> None: ...


class ToldLater:
    async def __call__(self, _event: object) -> None: ...


def yields(_event: object) -> Iterator[int]:
    yield 1


class Seen:
    def __init__(self) -> None:
        self.all: list[str] = []

    def started(self, sample: str) -> None:
        self.all.append(f"started {sample}")

    def resumed(self, sample: str, event: object) -> None: ...

    def finished(self, result: SampleResult) -> None:
        self.all.append(f"finished {result.sample}")

    def failed(self, failure: Failure) -> None:
        self.all.append(f"failed {failure.sample}")

    def put_off(self, sample: str) -> None: ...

    def retried(self, sample: str, retry: object) -> None: ...


class SeenOnItsWay(Seen):
    def progressed(self, sample: str, event: Progress) -> None:
        assert sample == "own/echo#0"
        self.all.append(event.event)


class SeenLater(Seen):
    async def finished(self, result: SampleResult) -> None: ...  # type: ignore[override]


class TestLoops:
    """In a notebook a loop is running; elsewhere none is, or somebody has one of his own."""

    async def test_evaluate_works_in_a_running_loop(self, problems: Problems) -> None:
        mine = asyncio.get_running_loop()
        assert evaluate(echo, benchmark=problems[:1])["pass_at_1"] == 1.0
        assert asyncio.get_running_loop() is mine

    async def test_aevaluate_calls_the_function_in_the_running_loop(
        self, problems: Problems
    ) -> None:
        loops: list[object] = []

        async def answer(_: dict[str, Any]) -> str:
            loops.append(asyncio.get_running_loop())
            return "print(input())"

        result = await aevaluate(answer, benchmark=problems[:1])
        assert result["pass_at_1"] == 1.0
        assert loops == [asyncio.get_running_loop()]

    async def test_a_cancelled_one_ends(self, problems: Problems, tmp_path: Path) -> None:
        asked = asyncio.Event()

        async def never(_: dict[str, Any]) -> str:
            asked.set()
            await asyncio.Event().wait()
            return ""

        task = asyncio.ensure_future(aevaluate(never, benchmark=problems, out=tmp_path / "r"))
        await asked.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert evaluate(never_asked, benchmark=problems[:1])["graded"] == 1

    def test_the_loop_of_the_thread_is_left_alone(self, problems: Problems) -> None:
        mine = asyncio.new_event_loop()
        asyncio.set_event_loop(mine)
        try:
            evaluate(echo, benchmark=problems[:1])
            assert asyncio.get_event_loop_policy().get_event_loop() is mine
        finally:
            asyncio.set_event_loop(None)
            mine.close()

    async def test_the_first_of_grouped_errors_is_raised(self) -> None:
        async def fail() -> None:
            raise ExceptionGroup("", [ExceptionGroup("", [KeyError("a")]), ValueError("b")])

        with pytest.raises(KeyError, match="a"):
            sync.run(fail)


def never_asked(_: dict[str, Any]) -> str:
    return "print(input())"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (told_later, "observer is a coroutine function, which a call does not run"),
        (ToldLater(), "observer is a coroutine function"),
        (functools.partial(told_later), "observer is a coroutine function"),
        (yields, "observer is a generator function"),
        (SeenLater(), "observer has a method finished that is a coroutine function"),
        (lambda: 1, "observer takes (); it is called with one argument, the event"),
        (list, "observer is the class list: give an object of it"),
        (Seen, "observer is the class Seen: give an object of it"),
    ],
)
def test_what_cannot_be_told_is_refused_at_the_start(
    given: Any, words: str, problems: Problems
) -> None:
    asked: list[object] = []
    with pytest.raises(UsageError) as caught:
        evaluate(asked.append, benchmark=problems, observer=given)  # type: ignore[arg-type]
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not asked
