"""A grid of runs, as its users meet it."""

import asyncio
import json
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from chat_server import ChatServer, Reply, Solver, completion, failure
from json_lines import json_lines
from program import Done, finish, harness, heard, results, run, start
from written import WRITTEN, link_written

EXAMPLES = Path(__file__).parents[3] / "fixtures" / "experiments"
MANIFEST = {"spec": {"samples_per_problem": 1}, "prompt": {"hash": "0"}, "problems": {}}
TEN = {"prompt_tokens": 7, "completion_tokens": 3}

# Notes each call, so that a test can count them; knows all problems or the first alone.
MODEL = """
import pathlib
from harness.models.scripted import ScriptedModel
LOG = pathlib.Path("asked")

class Counted:
    async def __call__(self, problem):
        with LOG.open("a") as log:
            log.write(f"{id(self)} {problem['id']}\\n")
        return "print(input())"

def good(problem):
    with LOG.open("a") as log:
        log.write(f"good {problem['id'][-1]}\\n")
    return "print(input())"

def half(problem):
    with LOG.open("a") as log:
        log.write(f"half {problem['id'][-1]}\\n")
    return "print(input())" if problem["id"][-1] in "ab" else "print(0)"

def fails(problem):
    if not pathlib.Path("mended").exists():
        raise OSError("not today")
    return "print(input())"

talks, silent = ScriptedModel(["print(input())"]), ScriptedModel([])
"""


@pytest.fixture
def four_problems(tmp_path: Path) -> Path:
    """A folder with four problems and models for them."""
    test = {"input": "1", "output": "1", "public": True}
    rows = [{"id": name, "statement": "Echo.", "tests": [test]} for name in "abcd"]
    (tmp_path / "p.jsonl").write_text(json_lines(rows))
    (tmp_path / "mine.py").write_text(MODEL)
    return tmp_path


def write(folder: Path, **values: Any) -> None:
    values = {"benchmark": "jsonl:p.jsonl", **values}
    (folder / "g.yaml").write_text(yaml.safe_dump(values, sort_keys=False))


def experiment(folder: Path, *flags: str) -> Done:
    return harness(folder, "experiment", "-c", "g.yaml", "--out", "e", *flags)


def asked(folder: Path) -> Counter[str]:
    path = folder / "asked"
    return Counter(path.read_text().splitlines()) if path.exists() else Counter()


def ranking(folder: Path) -> dict[str, Any]:
    done = harness(folder, "experiment", "show", "e", "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


BOTH = ["python:mine:good", "python:mine:half"]


class TestExamples:
    """The bundled grids run offline, on recordings."""

    @pytest.mark.thorough
    def test_agentic_against_single_shot(self, tmp_path: Path) -> None:
        link_written(tmp_path)
        grid = yaml.safe_load((EXAMPLES / "agentic.yaml").read_text())
        grid |= {"models": "replay:written", "sample_size": 20}
        (tmp_path / "g.yaml").write_text(yaml.safe_dump(grid))
        done = harness(tmp_path, "experiment", "-c", "g.yaml", "--out", "e", "--json")
        assert done.returncode == 0, done.stderr
        data = json.loads(done.stdout)
        best, base = data["variants"]
        assert [best["name"], base["name"], data["baseline"]] == ["agentic", *["single_shot"] * 2]
        against = best["against"]
        assert against["problems"] == 20
        rates = [variant["pass_at_1"]["value"] for variant in (best, base)]
        assert against["difference"] == pytest.approx(rates[0] - rates[1])
        assert against["low"] <= against["difference"] <= against["high"]
        assert against["p_holm"] == against["p_value"] < 0.2
        assert (base["against"], data["front_by"]) == (None, "cost")
        assert best["cost"] > base["cost"] > 0
        assert best["on_front"]
        assert base["on_front"], "it solves less, and costs less"
        assert ranking(tmp_path) == data
        shown = harness(tmp_path, "experiment", "show", "e").stdout
        compared = harness(tmp_path, "compare", "e/single_shot", "e/agentic").stdout
        answer = compared.partition("  changed:")[0]
        assert shown.startswith(answer), "two variants end with the answer of `harness compare`"
        assert "agentic against single shot: replay:written, fixture, 20 problems" in shown
        assert "spent: single_shot $0.0095, agentic $0.0256" in shown
        assert len(shown.splitlines()) <= 23, "all of it is on the last screen"

    @pytest.mark.thorough
    @pytest.mark.parametrize("name", ["agentic", "prompts"])
    def test_a_bundled_grid_plays_the_bundled_recordings(self, name: str, tmp_path: Path) -> None:
        grid = (EXAMPLES / f"{name}.yaml").read_text()
        (tmp_path / "g.yaml").write_text(f"{grid}sample_size: 6\n")
        done = harness(tmp_path, "experiment", "-c", "g.yaml", "--out", "e", "--json")
        assert done.returncode == 0, done.stderr
        variants = json.loads(done.stdout)["variants"]
        problems = {variant["pass_at_1"]["problems"] for variant in variants}
        assert (len(variants), problems) == (2, {6})

    @pytest.mark.thorough
    def test_prompts_that_a_recording_does_not_hear_are_equal(self, tmp_path: Path) -> None:
        """A run's recording, unlike a set of them, says the same to any prompt."""
        run = WRITTEN / "single_shot" / "default"
        grid = {
            "benchmark": "fixture",
            "sample_size": 10,
            "models": f"replay:{run}",
            "prompts": ["default", "reasoning", "tests_first"],
            "baseline": "default",
        }
        (tmp_path / "prompts.yaml").write_text(yaml.safe_dump(grid))
        done = harness(tmp_path, "experiment", "-c", "prompts.yaml")
        assert done.returncode == 0, done.stderr
        assert "best for its tokens (costs are unknown)" in done.stdout
        (tmp_path / "e").symlink_to(tmp_path / "runs" / "prompts")
        variant_ranking = ranking(tmp_path)
        assert {variant["name"] for variant in variant_ranking["variants"]} == {
            "default",
            "reasoning",
            "tests_first",
        }
        for variant in variant_ranking["variants"]:
            assert variant["on_front"], "all are equal"
            if variant["name"] != variant_ranking["baseline"]:
                against = variant["against"]
                assert (against["difference"], against["p_holm"]) == (0, 1)
                assert against["low"] <= 0 <= against["high"]
        hashes = {
            json.loads((tmp_path / "e" / name / "run.json").read_text())["prompt"]["hash"]
            for name in ("default", "reasoning", "tests_first")
        }
        assert len(hashes) == 3, "each was asked with its own words"


class TestGoingOn:
    @pytest.mark.thorough
    def test_the_same_command_asks_nothing_again(self, four_problems: Path) -> None:
        write(four_problems, models=BOTH)
        assert experiment(four_problems).returncode == 0
        before = asked(four_problems)
        assert sum(before.values()) == 8
        again = experiment(four_problems)
        assert again.returncode == 0, again.stderr
        assert "0 samples pending" in again.stderr
        assert asked(four_problems) == before

    @pytest.mark.thorough
    def test_a_grown_grid_runs_the_difference(self, four_problems: Path) -> None:
        write(four_problems, models=BOTH[:1], sample_size=2)
        assert experiment(four_problems).returncode == 0
        write(four_problems, models=BOTH, sample_size=3, samples=2)
        done = experiment(four_problems)
        assert done.returncode == 0, done.stderr
        assert asked(four_problems) == Counter(
            {f"{m} {p}": 2 for m in ("good", "half") for p in "abc"}
        )
        variants = {variant["name"]: variant for variant in ranking(four_problems)["variants"]}
        assert {variant["graded"] for variant in variants.values()} == {6}
        assert set(variants) == {"python-mine-good+single_shot+default", "python-mine-half"}

    @pytest.mark.thorough
    @pytest.mark.parametrize(
        ("changed", "words"),
        [
            ({"models": BOTH[:1]}, "has a variant python-mine-half with model 'python:mine:half'"),
            ({"models": BOTH, "max_tokens": 5}, "with max_tokens None, "),
            ({"models": BOTH, "sample_size": 2}, "c, which the selection now leaves out"),
        ],
    )
    def test_another_grid_is_refused_with_what_differs(
        self, changed: dict[str, Any], words: str, four_problems: Path
    ) -> None:
        write(four_problems, models=BOTH)
        assert experiment(four_problems).returncode == 0
        before = (four_problems / "e" / "experiment.json").read_bytes()
        write(four_problems, **changed)
        done = experiment(four_problems)
        assert done.returncode == 2
        assert words in done.stderr
        assert len(done.stderr.splitlines()) == 1
        assert (four_problems / "e" / "experiment.json").read_bytes() == before

    @pytest.mark.thorough
    def test_a_variant_that_a_crash_met_before_it_began_is_begun(self, four_problems: Path) -> None:
        write(four_problems, models=BOTH)
        variant = four_problems / "e" / "python-mine-half"
        assert experiment(four_problems).returncode == 0
        for path in (*variant.glob("transcripts/*"), *variant.glob("*.json*")):
            path.unlink()
        (variant / ".run.json.draft").write_text("{")
        done = experiment(four_problems)
        assert done.returncode == 0, done.stderr
        assert len(results(variant)) == 4

    @pytest.mark.thorough
    def test_failures_of_one_variant_leave_the_others_alone(self, four_problems: Path) -> None:
        write(four_problems, models=["python:mine:fails", "python:mine:good"])
        done = experiment(four_problems)
        assert done.returncode == 4, done.stderr
        assert "4 samples pending in e; try again with: harness experiment -c g.yaml" in done.stderr
        assert "python-mine-fails: 4 of 4 samples pending" in done.stdout
        assert len(results(four_problems / "e" / "python-mine-good")) == 4
        (four_problems / "mended").touch()
        done = experiment(four_problems)
        assert done.returncode == 0, done.stderr
        assert len(results(four_problems / "e" / "python-mine-fails")) == 4

    async def test_after_an_interrupt_it_goes_on_where_it_was(
        self, tmp_path: Path, solver: Solver
    ) -> None:
        release = asyncio.Event()

        def script(body: dict[str, Any], number: int) -> Reply:
            return Reply(solver(body, number).body, until=release.wait)

        async with ChatServer(script) as server:
            values = {"model": "served", "base_url": server.base_url, "concurrency": 2}
            write(
                tmp_path, benchmark="fixture", sample_size=4, prompts=["default", "terse"], **values
            )
            flags = ["experiment", "-c", "g.yaml", "--out", "e"]
            process = await start(tmp_path, *flags)
            await server.arrived(1)
            process.send_signal(signal.SIGINT)
            await heard(process, "interrupted")
            release.set()
            code, out, err = await finish(process)
            assert code == 130, err
            assert "interrupted; go on with: harness experiment -c g.yaml --out e" in err
            assert "terse has not begun" in out
            assert len(server.requests) == 1
            code, _, err = await run(tmp_path, *flags)
            assert code == 0, err
            assert len(server.requests) == 8, "no answer is asked for twice"
        for name in ("default", "terse"):
            assert len(results(tmp_path / "e" / name)) == 4

    async def test_the_second_interrupt_stops_at_once(self, tmp_path: Path) -> None:
        late = Reply(completion("late").body, silence_s=300)
        async with ChatServer(lambda _body, _number: late) as server:
            values = {"model": "served", "base_url": server.base_url}
            write(tmp_path, benchmark="fixture", prompts=["default", "terse"], **values)
            process = await start(tmp_path, "experiment", "-c", "g.yaml", "--out", "e")
            await server.arrived(1)
            process.send_signal(signal.SIGINT)
            await heard(process, "interrupted")
            process.send_signal(signal.SIGINT)
            code, _, err = await finish(process)
        assert code == 130
        assert "Traceback" not in err

    @pytest.mark.thorough
    async def test_a_second_process_is_refused(self, tmp_path: Path, solver: Solver) -> None:
        released = asyncio.Event()

        def script(body: dict[str, Any], number: int) -> Reply:
            return Reply(solver(body, number).body, until=released.wait)

        async with ChatServer(script) as server:
            values = {"model": "served", "base_url": server.base_url}
            write(tmp_path, benchmark="fixture", sample_size=1, **values)
            flags = ["experiment", "-c", "g.yaml", "--out", "e"]
            process = await start(tmp_path, *flags)
            await server.arrived(1)
            code, _, err = await run(tmp_path, *flags)
            assert (code, "another process is at work on this experiment" in err) == (2, True)
            released.set()
            assert (await finish(process))[0] == 0


class TestBudget:
    def grid(self, folder: Path, server: ChatServer, **more: Any) -> None:
        """Two variants of four samples, of a cent each."""
        write(
            folder,
            benchmark="fixture",
            sample_size=4,
            models={
                "model": "served",
                "base_url": server.base_url,
                "price": {"input": 1000, "output": 1000},
            },
            prompts=["default", "terse"],
            **more,
        )

    @pytest.mark.thorough
    async def test_the_budget_covers_the_grid_and_what_was_spent_before(
        self, tmp_path: Path
    ) -> None:
        flags = ["experiment", "-c", "g.yaml", "--out", "e"]
        async with ChatServer(lambda _b, _n: completion("print(0)", usage=TEN)) as server:
            self.grid(tmp_path, server, max_cost=0.06)
            code, out, err = await run(tmp_path, *flags)
            assert code == 0, err
            assert len(server.requests) == 6
            assert "--max-cost is reached: $0.0600 of $0.0600; go on with: harness exp" in err
            assert "terse: 1 of 4 samples pending" in out
            assert "default: 1 of 4 samples pending" in out, "whole problems"
            await run(tmp_path, *flags)
            assert len(server.requests) == 6
            code, _, err = await run(tmp_path, *flags, "--max-cost", "0.07")
            assert len(server.requests) == 6
            assert "--max-cost is too low for another problem: $0.0600 of $0.0700" in err
            code, _, err = await run(tmp_path, *flags, "--max-cost", "1")
        assert code == 0, err
        assert len(server.requests) == 8
        assert "is reached" not in err
        stored = json.loads((tmp_path / "e" / "default" / "run.json").read_text())["spec"]
        assert stored["max_cost"] is None, "the budget is not the run's own"

    @pytest.mark.thorough
    async def test_tokens_need_no_price(self, tmp_path: Path) -> None:
        flags = ["experiment", "-c", "g.yaml", "--out", "e", "--max-tokens-total", "50"]
        async with ChatServer(lambda _b, _n: completion("print(0)", usage=TEN)) as server:
            self.grid(tmp_path, server)
            code, _, err = await run(tmp_path, *flags)
        assert code == 0, err
        assert len(server.requests) == 4, "two whole problems"
        assert "--max-tokens-total is too low for another problem: 40 of 50 tokens" in err
        assert "go on with: harness experiment -c g.yaml --out e --max-tokens-total MORE" in err

    def test_a_budget_given_as_a_flag_is_part_of_the_resume_command(
        self, four_problems: Path
    ) -> None:
        write(four_problems, models="python:mine:fails", sample_size=1)
        done = experiment(four_problems, "--max-tokens-total", "900")
        assert done.returncode == 4
        again = "harness experiment -c g.yaml --out e --max-tokens-total 900"
        assert done.stderr.endswith(f"1 sample pending in e; try again with: {again}\n")

    def test_a_budget_in_dollars_without_a_price_is_refused_before_a_request(
        self, four_problems: Path
    ) -> None:
        write(four_problems, models=BOTH, max_cost=1)
        done = experiment(four_problems)
        assert done.returncode == 2
        assert "variant python-mine-good: --max-cost cannot be kept" in done.stderr
        assert not asked(four_problems)
        assert not (four_problems / "e").exists()


class TestCells:
    @pytest.mark.thorough
    async def test_each_has_a_client_of_its_own(self, tmp_path: Path, solver: Solver) -> None:
        async with ChatServer(solver) as one, ChatServer(lambda *_: failure(400, "no")) as other:
            models = [
                {"model": "served", "base_url": one.base_url},
                {"model": "served-too", "base_url": other.base_url},
            ]
            write(tmp_path, benchmark="fixture", sample_size=2, models=models)
            code, _, err = await run(tmp_path, "experiment", "-c", "g.yaml", "--out", "e")
            assert code == 4, err
            assert len(one.requests) == 2
            assert {each.body["model"] for each in one.requests} == {"served"}
            assert {each.body["model"] for each in other.requests} == {"served-too"}

    @pytest.mark.thorough
    def test_a_class_is_made_anew_for_each(self, four_problems: Path) -> None:
        modes = ["single_shot", "best_of_k_public"]
        write(four_problems, model="python:mine:Counted", modes=modes, best_of=1, sample_size=1)
        done = experiment(four_problems)
        assert done.returncode == 0, done.stderr
        assert len(asked(four_problems)) == 2

    def test_problems_are_read_once(
        self, four_problems: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        from harness.features.experiment.command import run_experiment
        from harness.features.experiment.request import ExperimentRequest
        from harness.features.experiment.stopping_goal import Goal
        from harness.run.engine import controller

        read: list[str] = []
        usual = controller.load

        def counted(spec: str, **options: Any) -> Any:
            read.append(spec)
            return usual(spec, **options)

        monkeypatch.setattr(controller, "load", counted)
        monkeypatch.chdir(four_problems)
        write(four_problems, model="replay:none", prompts=["default", "terse"])
        (four_problems / "none").mkdir()
        (four_problems / "g.yaml").write_text(
            (four_problems / "g.yaml").read_text().replace("none", "bundled")
        )
        asked = ExperimentRequest.of({}, {}, Goal(), config=Path("g.yaml"))
        code = run_experiment(asked, dry_run=True)
        assert (code, read) == (0, ["jsonl:p.jsonl"])

    def test_a_fault_of_the_last_variant_is_found_before_a_request(
        self, four_problems: Path
    ) -> None:
        write(four_problems, models=["python:mine:good", "gpt-5-mini"])
        done = experiment(four_problems)
        assert done.returncode == 2
        assert "OPENAI_API_KEY" in done.stderr
        write(four_problems, model="python:mine:talks", prompts=["default", "nowhere"])
        done = experiment(four_problems)
        assert done.returncode == 2
        assert "variant nowhere: no prompt set or folder 'nowhere'" in done.stderr
        assert not asked(four_problems)

    @pytest.mark.thorough
    def test_variants_are_ordinary_runs(self, four_problems: Path) -> None:
        write(four_problems, models=BOTH)
        assert experiment(four_problems).returncode == 0
        good, half = (four_problems / "e" / f"python-mine-{name}" for name in ("good", "half"))
        done = harness(four_problems, "compare", good, half)
        assert done.returncode == 0, done.stderr
        done = harness(four_problems, "run", "--resume", good)
        assert done.returncode == 0, done.stderr

    @pytest.mark.parametrize(
        "given", [("--resume", "{}"), ("--out", "{}", "-b", "jsonl:p.jsonl", "-m", "x")]
    )
    def test_one_variant_alone_gets_no_more_samples(
        self, four_problems: Path, given: tuple[str, ...]
    ) -> None:
        write(four_problems, models=BOTH)
        good = four_problems / "e" / "python-mine-good"
        good.mkdir(parents=True)
        (good / "run.json").write_text(json.dumps(MANIFEST))
        (good.parent / "experiment.json").write_text("{}")
        done = harness(four_problems, "run", *(each.format(good) for each in given), "-k", "3")
        assert done.returncode == 2
        said = " ".join(done.stderr.split())
        assert f"--samples-per-problem: {good} is a variant of an experiment" in said
        assert f"harness experiment --resume {good.parent}" in said


def chance_of_two_flips(share: float) -> float:
    """The chance of 2, 3 or 4 flips one way and none the other, of four problems."""
    none = 1 - 2 * share
    return 2 * (6 * share**2 * none**2 + 4 * share**3 * none + share**4)


TWO_FLIPS = max(chance_of_two_flips(step / 10_000) for step in range(5_001))


class TestRanking:
    def test_variants_are_ranked_by_rate_with_the_difference_from_the_baseline(
        self, four_problems: Path
    ) -> None:
        write(four_problems, models=BOTH, baseline={"model": "python:mine:half"})
        assert experiment(four_problems).returncode == 0
        first, second = ranking(four_problems)["variants"]
        assert [first["name"], second["name"]] == ["python-mine-good", "python-mine-half"]
        assert first["pass_at_1"]["value"] == 1
        assert first["settings"] == {"model": "python:mine:good"}
        assert first["against"]["difference"] == 0.5
        assert first["against"]["p_value"] == pytest.approx(TWO_FLIPS, abs=1e-5)

    @pytest.mark.thorough
    def test_p_is_corrected_for_the_number_of_variants(self, four_problems: Path) -> None:
        models = ["python:mine:half", "python:mine:good", "python:mine:Counted"]
        write(four_problems, models=models)
        assert experiment(four_problems).returncode == 0
        others = [
            variant["against"]
            for variant in ranking(four_problems)["variants"]
            if variant["against"]
        ]
        assert [each["p_value"] for each in others] == pytest.approx([TWO_FLIPS] * 2, abs=1e-5)
        assert [each["p_holm"] for each in others] == pytest.approx([2 * TWO_FLIPS] * 2, abs=1e-5)

    def test_a_folder_without_an_experiment_is_refused(self, four_problems: Path) -> None:
        done = harness(four_problems, "experiment", "show", ".")
        assert done.returncode == 2
        assert ". is not an experiment: it has no experiment.json" in done.stderr


class TestDryRun:
    def test_shows_every_variant_and_asks_and_writes_nothing(self, four_problems: Path) -> None:
        both = ["python:mine:talks", "python:mine:silent"]
        write(four_problems, models=both, modes=["single_shot", "agentic"], max_turns=3)
        before = sorted(four_problems.rglob("*"))
        done = experiment(four_problems, "--dry-run")
        assert done.returncode == 0, done.stderr
        rows = {
            line.split()[0]: line.split()[1:] for line in done.stdout.splitlines() if line.split()
        }
        assert rows["python-mine-talks+single_shot"] == ["(baseline)", "4", "4", "unknown"]
        assert rows["python-mine-silent+agentic"] == ["4", "4", "to", "12", "unknown"]
        assert rows["all"] == ["4", "variants", "16", "16", "to", "32", "unknown"]
        assert sorted(p for p in four_problems.rglob("*") if "__pycache__" not in str(p)) == before

    @pytest.mark.thorough
    def test_counts_what_is_left_and_sums_the_cost(self, four_problems: Path) -> None:
        price = {"input": 1, "output": 1}
        write(four_problems, models=BOTH, sample_size=2, price=price)
        assert experiment(four_problems).returncode == 0
        write(four_problems, models=BOTH, sample_size=3, price=price)
        data = json.loads(experiment(four_problems, "--dry-run", "--json").stdout)
        assert [variant["samples"] for variant in data["variants"]] == [1, 1]
        assert [variant["requests"] for variant in data["variants"]] == [[1, 1], [1, 1]]
        assert all(
            0 < low < high for low, high in (variant["tokens"] for variant in data["variants"])
        )
        sums = [sum(variant["cost"][end] for variant in data["variants"]) for end in (0, 1)]
        assert data["cost"] == pytest.approx(sums)
        assert 0 < sums[0] < sums[1]

    def test_recordings_ask_nobody_and_cost_nothing(self, tmp_path: Path) -> None:
        done = harness(tmp_path, "experiment", "-c", EXAMPLES / "agentic.yaml", "--dry-run")
        assert done.returncode == 0
        assert done.stdout.count("none: recordings") == 2


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (["--shots", "0"], "--shots 0: give auto, or a number from 1 to 100"),
        (["-c", "nowhere.yaml"], "nowhere.yaml: the file cannot be read"),
        (["-c", "g.yaml", "--max-cost", "-1"], "--max-cost: "),
    ],
)
def test_bad_usage_is_said_in_one_line(flags: list[str], words: str, four_problems: Path) -> None:
    write(four_problems, models=BOTH)
    done = harness(four_problems, "experiment", *flags)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
