"""`harness.experiment`: what the command does, with the user's own models and problems."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, completion
from for_each import for_each
from json_lines import json_lines
from program import harness as command
from rich.console import Console

import harness
from harness import HarnessError, UsageError, experiment
from harness.models.protocol import ModelStop, ModelTurn
from harness.models.unasked import UnaskedModel

pytestmark = pytest.mark.usefixtures("kept_sandbox")

TESTS = [
    {"input": "1", "output": "1", "public": True},
    {"input": "2", "output": "2", "public": False},
]
ROWS = [{"id": f"p{n}", "statement": f"Echo {n}.", "tests": TESTS} for n in range(20)]
GRID = Path(__file__).parents[2] / "fixtures" / "experiments" / "agentic.yaml"
SINGLE: dict[str, Any] = {"benchmark": ROWS, "modes": "single_shot"}


def good(_: dict[str, Any]) -> str:
    return "print(input())"


def poor(_: dict[str, Any]) -> str:
    return "print(0)"


@pytest.fixture(autouse=True)
def working_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stored(path: str) -> dict[str, Any]:
    data = json.loads(Path(path, "experiment.json").read_text())
    return {key: each for key, each in data.items() if key != "created"}


def ran(path: str, variant: str) -> tuple[Any, ...]:
    """A variant's run.json without times, and its results."""
    manifest = json.loads(Path(path, variant, "run.json").read_text())
    samples = harness.load_run(f"{path}/{variant}").results
    results = {(r.sample, r.verdict, r.public_passed, r.hidden_passed, r.usage) for r in samples}
    return {**manifest, "created": None, "versions": None}, results


class TestAsTheCommand:
    @pytest.mark.thorough
    def test_experiment_on_recordings_returns_what_the_command_prints(
        self, working_folder: Path
    ) -> None:
        done = command(working_folder, "experiment", "-n", "3", "--out", "e", "--json")
        assert done.returncode == 0, done.stderr
        result = experiment(sample_size=3, out="f")
        assert stored("f") == stored("e")
        assert [ran("f", variant) for variant in result.runs] == [
            ran("e", variant) for variant in result.runs
        ]
        of_command = json.loads(done.stdout.replace('"e/', '"f/').replace('"e"', '"f"'))
        assert json.loads(result.model_dump_json()) == of_command
        assert command(working_folder, "experiment", "show", "f", "--json").stdout == (
            result.model_dump_json() + "\n"
        )

    @pytest.mark.thorough
    def test_a_grid_in_yaml(self, working_folder: Path) -> None:
        (working_folder / "g.yaml").write_text(f"{GRID.read_text()}sample_size: 6\n")
        done = command(working_folder, "experiment", "-c", "g.yaml", "--out", "e")
        assert done.returncode == 0, done.stderr
        result = experiment(config="g.yaml", out="f")
        assert stored("f") == stored("e")
        console = Console(width=160, record=True, file=open(os.devnull, "w"))  # noqa: PTH123,SIM115
        console.print(result)
        console.file.close()
        shown = done.stdout.partition("experiment directory")[0].replace(" e/", " f/")
        assert console.export_text() == shown

    @pytest.mark.thorough
    def test_names_of_the_users_code_and_the_code_itself(self, working_folder: Path) -> None:
        (working_folder / "p.jsonl").write_text(json_lines(ROWS))
        (working_folder / "mine.py").write_text("def good(problem):\n    return 'print(input())'\n")
        flags = ["-b", "jsonl:p.jsonl", "--mode", "single_shot", "--shots", "2", "-n", "2"]
        done = command(working_folder, "experiment", "-m", "python:mine:good", *flags, "--out", "e")
        assert done.returncode == 0, done.stderr
        space: dict[str, Any] = {"__name__": "mine"}
        exec((working_folder / "mine.py").read_text(), space)
        experiment(
            space["good"], "jsonl:p.jsonl", modes="single_shot", shots=2, sample_size=2, out="f"
        )
        assert stored("f") == stored("e")
        (variant,) = stored("e")["variants"]
        assert ran("f", variant) == ran("e", variant)


@pytest.mark.thorough
def test_two_functions_are_ranked_and_compared() -> None:
    result = experiment([poor, good], ROWS[:4], modes="single_shot", out="e")
    best, base = (variant.name for variant in result.variants)
    assert result.baseline == base
    assert repr(result) == f"<ExperimentResult e: 2 variants, the best {best}: pass@1 100.0 %>"
    assert result.answer.startswith(f"{best} solves most: 100.0 %, +100.0 points against {base}")
    assert [(name, run.pass_at_1) for name, run in result.runs.items()] == [(best, 1), (base, 0)]
    table = result.to_pandas()
    assert list(table["variant"]) == [best, base]
    assert list(table["pass_at_1"]) == [1.0, 0.0]
    assert table["difference"].isna().tolist() == [False, True]
    assert result.compare().versus[0].paired.difference == 1.0
    assert result.compare(best).runs[0].path == f"e/{base}"
    with pytest.raises(UsageError, match=r"no variant 'x' has begun; those that have: python"):
        result.compare("x")
    assert "solved" in result._repr_html_()


@pytest.mark.thorough
def test_variants_that_solve_the_same_have_no_best() -> None:
    def none(problem: dict[str, Any]) -> str:
        return poor(problem)

    result = experiment([poor, none], ROWS[:2], modes="single_shot", out="e")
    assert result.answer.startswith("2 variants solve most: 0.0 % each")


class TestGoingOn:
    @pytest.mark.thorough
    def test_experiment_stops_when_decided_and_resume_asks_the_rest(self) -> None:
        asked = Counter[str]()

        def echo(problem: dict[str, Any]) -> str:
            asked[problem["id"]] += 1
            return good(problem)

        result = experiment([poor, echo], **SINGLE, stop_when_decided=True, out="e")
        assert result.decision is not None
        assert (result.decision.reason, asked.total()) == ("decided", 13)
        assert "7 problems not asked" in result._repr_html_()
        result = experiment([poor, echo], ROWS, resume="e")
        assert (result.decision, asked.total(), max(asked.values())) == (None, 20, 1)
        assert experiment([poor, echo], **SINGLE, out="e").variants == result.variants
        assert asked.total() == 20, "the same call asks nothing again"

    @pytest.mark.thorough
    def test_problems_that_were_given_are_given_again(self, working_folder: Path) -> None:
        problems = harness.load_problems("fixture", task=["long-words", "shelf-gap"])
        call: dict[str, Any] = {"models": "replay:bundled", "benchmark": problems}
        experiment(**call, modes="agentic", out="e", max_tokens_total=100)
        with pytest.raises(HarnessError, match="were given from Python, and the benchmark"):
            experiment(resume="e", max_tokens_total=100_000)
        done = command(
            working_folder, "experiment", "--resume", "e", "--max-tokens-total", "100000"
        )
        assert (done.returncode, "were given from Python" in done.stderr) == (2, True)
        result = experiment(resume="e", benchmark=problems, max_tokens_total=100_000)
        assert result.variants[0].graded == 2

    @pytest.mark.thorough
    def test_experiment_stops_when_the_interval_is_narrow(self) -> None:
        result = experiment([poor, good], **SINGLE, precision=150, level=0.2, out="e")
        assert result.decision is not None
        assert (result.decision.reason, result.decision.level) == ("precise", 0.2)

    @pytest.mark.thorough
    def test_what_failed_is_pending_and_said(
        self, working_folder: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        def fails(problem: dict[str, Any]) -> str:
            if not (working_folder / "mended").exists():
                raise OSError("not today")
            return good(problem)

        call = {"models": [fails, good], "benchmark": ROWS[:2], "modes": "single_shot", "out": "e"}
        assert [variant.pending for variant in experiment(**call).variants] == [0, 2]
        assert "2 samples pending in e (python-tests" in caplog.text
        again = "try again with: experiment(resume='e'), with your models and problems"
        assert f"fails raised OSError: not today); {again}" in caplog.text
        (working_folder / "mended").touch()
        assert [variant.pass_at_1 is not None for variant in experiment(**call).variants] == [
            True
        ] * 2

    @pytest.mark.thorough
    async def test_a_budget_is_of_all_variants(self, caplog: pytest.LogCaptureFixture) -> None:
        usage = {"prompt_tokens": 7, "completion_tokens": 3}
        async with ChatServer(lambda *_: completion("print(0)", usage=usage)) as server:
            call: dict[str, Any] = {"models": "served", "base_url": server.base_url, "out": "e"}
            call |= {"benchmark": ROWS[:4], "modes": "single_shot", "prompts": ["default", "terse"]}
            await asyncio.to_thread(experiment, **call, max_tokens_total=50)
            assert len(server.requests) == 4
            again = "experiment(resume='e', max_tokens_total=MORE), with your models and problems"
            low = "max_tokens_total is too low for another problem: 40 of 50 tokens"
            message = f"{low}; go on with: {again}"
            assert message in caplog.text
            result = await asyncio.to_thread(
                experiment, resume="e", benchmark=ROWS[:4], max_tokens_total=90
            )
            assert len(server.requests) == 8
        assert result.to_pandas()["graded"].tolist() == [4, 4]


class Own(UnaskedModel):
    """A model that notes its event loops, and when it is closed."""

    def __init__(self) -> None:
        super().__init__("own")
        self.loops: set[int] = set()
        self.closed = 0

    def for_sample(self, problem: harness.ProblemView, index: int) -> "Own":  # noqa: ARG002
        return self

    async def generate(self, *given: Any, **more: Any) -> ModelTurn:  # noqa: ARG002
        self.loops.add(id(asyncio.get_running_loop()))
        return ModelTurn(text=good({}), stop=ModelStop(reason="end_turn"))

    async def close(self) -> None:
        self.closed += 1


class TestOwnModels:
    async def test_an_object_is_used_in_one_loop_and_stays_open(self) -> None:
        """The test has a running loop, as a notebook has."""
        model = Own()
        own = asyncio.get_running_loop()
        result = experiment(model, ROWS[:9], stop_when_decided=True, out="e")
        assert asyncio.get_running_loop() is own
        assert len(model.loops) == 1
        assert model.closed == 0
        assert {variant.settings["mode"] for variant in result.variants} == {
            "single_shot",
            "agentic",
        }
        assert min(variant.graded for variant in result.variants) == 9

    def test_settings_of_all_variants_and_of_some(self) -> None:
        result = experiment(
            Own(), ROWS[:1], modes="agentic", vary={"max_turns": [1, 3]}, temperature=0.5, out="e"
        )
        turns = {(run.spec["max_turns"], run.spec["temperature"]) for run in result.runs.values()}
        assert turns == {(1, 0.5), (3, 0.5)}

    @pytest.mark.thorough
    def test_progress_is_shown_if_asked_for(self, capsys: pytest.CaptureFixture[str]) -> None:
        experiment([good], ROWS[:2], modes="single_shot", out="e")
        assert capsys.readouterr().err == ""
        experiment([good], ROWS[:2], modes="single_shot", out="f", progress=True)
        assert "p1" in capsys.readouterr().err


@for_each(
    ("given", "message"),
    [
        ({"models": [good, good]}, "two models have the name python:"),
        ({"models": harness.load_problems("fixture")}, "a Problem is not a model; .* benchmark="),
        ({"models": []}, r"experiment\(\): models: the list is empty"),
        ({"models": good}, ": modes agentic: model 'python:.*:good' is a function"),
        ({**SINGLE, "prompts": 3}, r"^experiment\(\): prompts has 3; give names"),
        ({**SINGLE, "modes": [{"mode": "agentic"}]}, r"^experiment\(\): modes has {'mode'"),
        ({**SINGLE, "progress": "yes"}, r"^experiment\(\): progress is 'yes'; give True or False"),
        ({**SINGLE, "mode": "agentic"}, "unknown key 'mode'; did you mean 'modes'"),
        ({**SINGLE, "samples_per_problem": 2}, "did you mean 'shots'"),
        ({**SINGLE, "limit": 2}, "did you mean 'sample_size'"),
        ({**SINGLE, "max_cost": -1}, r"^experiment\(\): max_cost: "),
        ({**SINGLE, "shots": "auto"}, "^shots auto follows the spend of another mode"),
        ({**SINGLE, "stop_when_decided": True}, "^stop_when_decided and precision compare two"),
        ({"level": 0.1}, "^level goes with stop_when_decided or precision"),
        ({"precision": "5"}, "^precision '5': give points between 0 and 200"),
        ({"vary": ["max_turns=3"]}, r"vary: give values by setting, as \{'max_turns'"),
        ({"vary": {"model": ["a"]}}, "^vary model: give models instead"),
        ({"config": "g.yaml", "models": good}, "^config brings the experiment's own settings; mod"),
        ({"config": "g.yaml", "benchmark": ROWS}, "benchmark does not go with it"),
        ({"resume": "e", "sample_size": 3}, "^resume takes the experiment's own settings"),
        ({"resume": "e", "models": ["gpt-5-mini"]}, "^resume brings"),
        ({"resume": "e"}, "e is not an experiment: it has no experiment.json"),
        ({"out": [1]}, r"experiment\(\): out is of type list; give a path"),
        ({"benchmark": 3}, "the benchmark is a int"),
    ],
)
def test_misuse_is_told_in_one_line(
    given: dict[str, Any], message: str, working_folder: Path
) -> None:
    with pytest.raises(HarnessError, match=message) as caught:
        experiment(**{"models": good, **given})
    assert "\n" not in str(caught.value)
    assert not list(working_folder.iterdir()), "nothing is begun"


INTERRUPTED = """
import asyncio, sys
import harness
tests = [{"input": "1", "output": "1"}]
rows = [{"id": name, "statement": "Echo.", "tests": tests} for name in ("first", "second")]

async def slow(problem):
    print("asked", problem["id"], flush=True)
    if "second" in problem["id"]:
        await asyncio.sleep(600)
    return "print(input())"

def other(problem):
    print("other", problem["id"], flush=True)
    return "print(0)"

async def main():
    harness.experiment([slow, other], rows, modes="single_shot", out="e", concurrency=1)

try:
    if sys.argv[1] == "notebook":  # whose loop leaves interrupts as they are
        asyncio.new_event_loop().run_until_complete(main())
    main().send(None)  # without a loop
except KeyboardInterrupt as error:
    print(error, flush=True)
"""


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["plain", "notebook"])
def test_an_interrupt_keeps_what_was_graded(how: str, working_folder: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED, how],
        cwd=working_folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            assert process.stdout is not None
            for line in ("asked jsonl/first", "other jsonl/first", "asked jsonl/second"):
                assert process.stdout.readline() == f"{line}\n"
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=120)
        finally:
            process.kill()
    again = "experiment(resume='e'), with your models and problems"
    assert (process.returncode, out) == (0, f"interrupted; go on with: {again}\n"), err
    assert len(list(Path("e").glob("python-*"))) == 2
    for run in (*Path("e").glob("*slow"), *Path("e").glob("*other")):
        assert [each.problem_id for each in harness.load_run(run).results] == ["jsonl/first"]


def test_a_directory_of_something_else_is_refused(write_run: Callable[..., Path]) -> None:
    run = write_run("shot", [])
    with pytest.raises(HarnessError, match="is a run, not an experiment"):
        experiment(good, **SINGLE, out=run)
