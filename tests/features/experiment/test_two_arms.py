"""An agent and single shots in one command, with a model behind HTTP that costs money."""

import asyncio
import json
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, Reply, completion, tool_call
from json_lines import json_lines
from program import finish, harness, heard, results, run, start
from webhook_server import webhook_server

USAGE = {"prompt_tokens": 90, "completion_tokens": 10}
RIGHT, WRONG = "print(input())", "print(0)"


@pytest.fixture
def twenty_problems(tmp_path: Path) -> Path:
    """A folder with 20 problems, each to print its input."""
    tests = [{"input": str(n), "output": str(n), "public": n == 1} for n in (1, 2)]
    rows = [{"id": f"p{n}", "statement": f"Echo {n}.", "tests": tests} for n in range(20)]
    (tmp_path / "p.jsonl").write_text(json_lines(rows))
    return tmp_path


class Served:
    """A model that is right with tools, after two requests, and wrong without."""

    def __init__(self, agent: str = RIGHT, shot: str = WRONG) -> None:
        self.agent, self.shot = agent, shot
        self.asked: Counter[str] = Counter()

    def __call__(self, body: dict[str, Any], number: int) -> Reply:
        if not body.get("tools"):
            self.asked["shot"] += 1
            return completion(f"```python\n{self.shot}\n```", usage=USAGE)
        self.asked["agent"] += 1
        if not any(message["role"] == "tool" for message in body["messages"]):
            return completion(None, [tool_call("read_problem", {}, f"r{number}")], usage=USAGE)
        calls = [
            tool_call("write_solution", {"code": self.agent}, f"w{number}"),
            tool_call("run_tests", {}, f"t{number}"),
        ]
        return completion(None, calls, usage=USAGE)


def flags(server: ChatServer, *more: str, out: str = "e") -> list[str]:
    """The one command, for a model of a cent a request."""
    asked = ["experiment", "-m", "served", "--base-url", server.base_url, "--price", "100,100"]
    return [*asked, "-b", "jsonl:p.jsonl", "--out", out, "--concurrency", "2", *more]


def told(folder: Path, out: str = "e") -> dict[str, Any]:
    return json.loads((folder / out / "experiment.json").read_text())


def pending(folder: Path, variant: str) -> dict[str, int]:
    return json.loads((folder / "e" / variant / "summary.json").read_text())["pending"]


async def test_single_shot_gets_as_many_shots_as_the_agent_spends(twenty_problems: Path) -> None:
    served = Served()
    async with ChatServer(served) as server:
        code, out, err = await run(twenty_problems, *flags(server, "-n", "4"))
    assert code == 0, err
    assert served.asked == {"agent": 8, "shot": 8}
    assert (
        "single_shot: up to 2 shots a problem, as a sample of the other mode costs as much as 2.0"
        in err
    )
    assert len(results(twenty_problems / "e" / "single_shot")) == 8
    assert told(twenty_problems)["variants"]["single_shot"]["samples_per_problem"] == 2
    assert "$0.08" in out, "both arms cost the same"
    text = " ".join(out.split())
    assert "the agent solves 100.0 % and 2 single shots solve 0.0 % (+100.0 points" in text
    shown = json.loads(harness(twenty_problems, "experiment", "show", "e", "--json").stdout)
    (answer,) = shown["answers"]
    assert (answer["baseline"], answer["variant"]) == ("single_shot", "agentic")
    assert answer["sentence"] in text


@pytest.mark.thorough
async def test_the_number_of_shots_may_be_given(twenty_problems: Path) -> None:
    served = Served()
    async with ChatServer(served) as server:
        code, _, err = await run(twenty_problems, *flags(server, "-n", "2", "--shots", "3"))
    assert code == 0, err
    assert served.asked == {"agent": 4, "shot": 6}


@pytest.mark.thorough
async def test_the_same_command_and_resume_ask_nothing_again(twenty_problems: Path) -> None:
    served = Served()
    async with ChatServer(served) as server:
        await run(twenty_problems, *flags(server, "-n", "3"))
        before = served.asked.copy()
        for again in (flags(server, "-n", "3"), ["experiment", "--resume", "e"]):
            code, _, err = await run(twenty_problems, *again)
            assert code == 0, err
            assert "0 samples pending" in err
        assert served.asked == before
        code, _, err = await run(twenty_problems, *flags(server, "-n", "5"))
        assert code == 0, err
    assert served.asked == {"agent": 10, "shot": 10}, "two more problems, in both arms"


@pytest.mark.thorough
async def test_a_budget_is_spent_on_pairs(twenty_problems: Path) -> None:
    served = Served()
    async with ChatServer(served) as server:
        code, _, err = await run(twenty_problems, *flags(server, "--max-cost", "0.60"))
        assert code == 0, err
        assert "--max-cost is reached" in err
        assert "go on with: harness experiment --resume e --max-cost MORE" in err
        done = {
            variant: {result["problem_id"] for result in results(twenty_problems / "e" / variant)}
            for variant in ("agentic", "single_shot")
        }
        assert len(done["agentic"] & done["single_shot"]) >= 8
        assert served.asked.total() == 60
        code, _, err = await run(twenty_problems, "experiment", "--resume", "e", "--max-cost", "9")
    assert code == 0, err
    assert served.asked == {"agent": 40, "shot": 40}


class TestStopping:
    async def test_ends_once_the_arms_differ_and_resume_asks_the_rest(
        self, twenty_problems: Path
    ) -> None:
        served = Served()
        async with ChatServer(served) as server:
            goal = ["--stop-when-decided", "--level", "0.4"]
            more = ["--shots", "2", "-n", "8", *goal]
            code, out, err = await run(twenty_problems, *flags(server, *more))
            assert code == 0, err
            assert served.asked == {"agent": 10, "shot": 10}, "5 of 8 problems"
            assert "agentic minus single_shot at equal spend: +100.0 points" in err
            assert "Stopping rule: decided" in out
            assert "harness experiment --resume e" in out
            assert told(twenty_problems)["decision"]["reason"] == "decided"
            assert pending(twenty_problems, "agentic") == {"not_needed": 3}
            assert pending(twenty_problems, "single_shot") == {"not_needed": 6}
            listed = harness(twenty_problems, "ls", "e", COLUMNS="200").stdout
            assert "done, 3 not needed" in listed
            again = ["experiment", "--resume", "e", *goal]
            code, _, err = await run(twenty_problems, *again)
            assert served.asked.total() == 20, "it is decided already"
            assert pending(twenty_problems, "agentic") == {"not_needed": 3}
            code, out, err = await run(twenty_problems, "experiment", "--resume", "e")
        assert code == 0, err
        assert served.asked == {"agent": 16, "shot": 16}
        assert pending(twenty_problems, "agentic") == pending(twenty_problems, "single_shot") == {}
        assert "decision" not in told(twenty_problems)
        assert "Stopping rule" not in out

    @pytest.mark.thorough
    async def test_one_arm_alone_can_be_completed_as_a_run(self, twenty_problems: Path) -> None:
        served = Served()
        async with ChatServer(served) as server:
            await run(twenty_problems, *flags(server, "--shots", "1", "--stop-when-decided"))
            code, _, err = await run(twenty_problems, "run", "--resume", "e/agentic")
        assert code == 0, err
        assert served.asked == {"agent": 40, "shot": 13}
        assert pending(twenty_problems, "agentic") == {}
        assert "not_needed" not in json.loads((twenty_problems / "e/agentic/run.json").read_text())

    @pytest.mark.thorough
    async def test_arms_that_are_alike_are_asked_everything(self, twenty_problems: Path) -> None:
        served = Served(shot=RIGHT)
        async with ChatServer(served) as server:
            more = ["--shots", "1", "--stop-when-decided", "-n", "12"]
            code, out, err = await run(twenty_problems, *flags(server, *more))
        assert code == 0, err
        assert served.asked == {"agent": 24, "shot": 12}
        assert "Stopping rule: undecided after all problems (evidence 1, needs 20)." in out

    @pytest.mark.thorough
    async def test_a_wider_level_decides_earlier(self, twenty_problems: Path) -> None:
        served = Served()
        async with ChatServer(served) as server:
            more = ["--shots", "1", "--stop-when-decided", "--level", "0.4"]
            code, _, err = await run(twenty_problems, *flags(server, *more))
        assert code == 0, err
        assert served.asked == {"agent": 10, "shot": 5}, "the e-value of 2.7 is enough"

    @pytest.mark.thorough
    async def test_the_interval_may_be_narrow_enough(self, twenty_problems: Path) -> None:
        served = Served(shot=RIGHT)
        async with ChatServer(served) as server:
            more = ["--shots", "1", "--precision", "90"]
            code, out, err = await run(twenty_problems, *flags(server, *more))
        assert code == 0, err
        assert "Stopping rule: precise enough" in out
        assert served.asked == {"agent": 26, "shot": 13}

    @pytest.mark.thorough
    async def test_the_rule_decides_the_first_sentence_on_the_same_problems(
        self, twenty_problems: Path
    ) -> None:
        served = Served()
        async with ChatServer(served) as server:
            code, out, err = await run(twenty_problems, *flags(server, "--stop-when-decided"))
        assert code == 0, err
        decision = told(twenty_problems)["decision"]
        assert (decision["question"], decision["pairs"]) == ("equal_spend", 13)
        assert served.asked == {"agent": 26, "shot": 26}
        text = " ".join(out.split())
        ends = f"{100 * decision['low']:+.1f} to {100 * decision['high']:+.1f}"
        assert f"2 single shots solve 0.0 % (+100.0 points, {ends} at any look: decided)" in text
        assert f"at equal spend: +100.0 points ({ends} at any look), from 13 of 20" in text

    @pytest.mark.thorough
    async def test_a_grid_of_two_variants_may_stop_and_one_of_three_is_refused(
        self, twenty_problems: Path
    ) -> None:
        (twenty_problems / "mine.py").write_text(
            "def good(problem):\n    return 'print(input())'\n"
            "def bad(problem):\n    return 'print(0)'\n"
        )
        (twenty_problems / "g.yaml").write_text(
            "benchmark: jsonl:p.jsonl\nmodels: ['python:mine:bad', 'python:mine:good']\n"
        )
        done = harness(
            twenty_problems, "experiment", "-c", "g.yaml", "--stop-when-decided", "--out", "e"
        )
        assert done.returncode == 0, done.stderr
        assert "python-mine-good minus python-mine-bad: +100.0 points" in done.stdout
        assert len(results(twenty_problems / "e" / "python-mine-good")) == 13
        one = ["experiment", "-b", "fixture", "--mode", "single_shot", "--stop-when-decided"]
        done = harness(twenty_problems, *one)
        assert done.returncode == 2
        assert "compare two variants, and this experiment has 1; leave them out" in done.stderr


@pytest.mark.thorough
def test_a_webhook_hears_of_each_run_once_though_it_is_done_in_parts(twenty_problems: Path) -> None:
    (twenty_problems / "mine.py").write_text(
        "def good(problem):\n    return 'print(input())'\n"
        "def bad(problem):\n    return 'print(0)'\n"
    )
    models = ["-m", "python:mine:bad", "-m", "python:mine:good", "--mode", "single_shot"]
    with webhook_server() as hook:
        more = ["--stop-when-decided", "--notify", hook.url]
        done = harness(twenty_problems, "experiment", "-b", "jsonl:p.jsonl", *models, *more)
    assert done.returncode == 0, done.stderr
    heard = Counter(each.body["event"] for each in hook.posted)
    assert heard == {"run_started": 2, "run_ended": 2}
    graded = [each.body["summary"]["graded"] for each in hook.posted if "summary" in each.body]
    assert graded == [13, 13], "their ends, not those of the first part"


class TestInterrupted:
    @pytest.mark.thorough
    @pytest.mark.parametrize(
        ("during", "more"), [("agent", []), ("shot", []), ("shot", ["--stop-when-decided"])]
    )
    async def test_both_arms_go_on_where_they_were(
        self, during: str, more: list[str], twenty_problems: Path
    ) -> None:
        served, released = Served(), asyncio.Event()
        reached = asyncio.Event()

        def script(body: dict[str, Any], number: int) -> Reply:
            reply = served(body, number)
            if served.asked[during] < 3 or released.is_set():
                return reply
            reached.set()
            return Reply(reply.body, until=released.wait)

        async with ChatServer(script) as server:
            process = await start(twenty_problems, *flags(server, "-n", "4", *more))
            async with asyncio.timeout(60):
                await reached.wait()
            process.send_signal(signal.SIGINT)
            await heard(process, "interrupted")
            released.set()
            code, _, err = await finish(process)
            assert code == 130, err
            again = " ".join(["interrupted; go on with: harness experiment --resume e", *more])
            assert again in err
            assert served.asked.total() < 16
            code, _, err = await run(twenty_problems, "experiment", "--resume", "e")
        assert code == 0, err
        assert served.asked == {"agent": 8, "shot": 8}, "no answer is asked for twice"
        assert len(results(twenty_problems / "e" / "agentic")) == 4
        assert len(results(twenty_problems / "e" / "single_shot")) == 8


@pytest.mark.thorough
async def test_resume_refuses_what_would_be_another_experiment(twenty_problems: Path) -> None:
    async with ChatServer(Served()) as server:
        await run(twenty_problems, *flags(server, "-n", "1"))
        code, _, err = await run(twenty_problems, "experiment", "--resume", "e", "-n", "2")
    assert code == 2
    assert "--sample-size would make it another experiment" in err
    done = harness(twenty_problems, "experiment", "--resume", "nowhere")
    assert (done.returncode, "is not an experiment" in done.stderr) == (2, True)


def test_a_dry_run_says_that_the_shots_follow_the_spend(tmp_path: Path) -> None:
    asked = ["experiment", "-m", "gpt-5-mini", "-b", "fixture", "-n", "2", "--dry-run"]
    done = harness(tmp_path, *asked)
    assert done.returncode == 0, done.stderr
    assert "as many shots as the other mode's spend buys" in done.stdout
    assert not (tmp_path / "runs").exists()
    data = json.loads(harness(tmp_path, *asked, "--json").stdout)
    assert data["auto_shots"] == ["single_shot"]


@pytest.mark.thorough
def test_the_recordings_play_offline(tmp_path: Path) -> None:
    done = harness(tmp_path, "experiment", "-n", "12", "--out", "e")
    assert done.returncode == 0, done.stderr
    assert "shots a problem, as a sample of the other mode takes as many tokens as" in done.stderr
    assert len(results(tmp_path / "e" / "single_shot")) > 12
