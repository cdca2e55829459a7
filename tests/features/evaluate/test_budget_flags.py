"""Prices, budgets and estimates, seen where a user sees them."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any, ClassVar

import pytest
from chat_server import ChatServer, Reply, completion, failure
from for_each import for_each
from program import harness, results, run

RECORDINGS = Path(__file__).parents[3] / "fixtures" / "recordings"
SOLVE = "```python\nprint(0)\n```"
TEN = {"prompt_tokens": 7, "completion_tokens": 3}
CENT_A_REQUEST = ["--price", "1000,1000"]  # of ten tokens


def answer(_body: dict[str, Any], _number: int) -> Reply:
    return completion(SOLVE, usage=TEN)


def reading(_body: dict[str, Any], number: int) -> Reply:
    call = {"id": f"c{number}", "type": "function"}
    function = {"name": "read_problem", "arguments": "{}"}
    return completion(None, [{**call, "function": function}], usage=TEN)


def served(server: ChatServer, *flags: str | Path) -> list[str | Path]:
    return ["run", "-b", "fixture", "-m", "gpt-5", "--base-url", server.base_url, *flags]


class TestRun:
    async def test_max_cost_begins_no_further_sample(self, tmp_path: Path) -> None:
        async with ChatServer(answer) as server:
            flags = served(server, "-n", "4", *CENT_A_REQUEST, "--max-cost", "0.02", "--out", "r")
            code, out, err = await run(tmp_path, *flags)
        assert code == 0, err
        assert len(server.requests) == len(results(tmp_path / "r")) == 2
        assert "not run (2)" in out
        line = next(line for line in err.splitlines() if "is reached" in line)
        assert line.startswith("--max-cost is reached: $0.0200 of $0.0200; 2 samples pending")
        assert line.endswith("harness run --resume r --max-cost MORE")

    @pytest.mark.thorough
    async def test_a_run_goes_on_with_more_money_and_what_was_spent_counts(
        self, tmp_path: Path
    ) -> None:
        async with ChatServer(answer) as server:
            flags = served(server, "-n", "8", *CENT_A_REQUEST, "--max-cost", "0.02", "--out", "r")
            await run(tmp_path, *flags)
            assert len(server.requests) == 2
            code, _, err = await run(tmp_path, "run", "--resume", "r")
            assert code == 0, err
            assert "is reached" in err
            assert len(server.requests) == 2
            await run(tmp_path, "run", "--resume", "r", "--max-cost", "0.05")
            assert len(server.requests) == 5
            code, _, err = await run(tmp_path, "run", "--resume", "r", "--max-cost", "9")
        assert code == 0, err
        assert "is reached" not in err
        assert len(server.requests) == len(results(tmp_path / "r")) == 8

    @pytest.mark.thorough
    async def test_max_tokens_total_needs_no_price(self, tmp_path: Path) -> None:
        async with ChatServer(answer) as server:
            flags = served(server, "-n", "8", "--max-tokens-total", "30", "--out", "r")
            code, out, err = await run(tmp_path, *flags)
        assert code == 0, err
        assert len(server.requests) == 3
        assert "--max-tokens-total is reached: 30 of 30 tokens; 5 samples pending" in err
        assert "unknown" in out

    async def test_a_sample_that_is_cut_off_stays_pending(self, tmp_path: Path) -> None:
        async with ChatServer(reading) as server:
            flags = ["-n", "2", "--agentic-mode", "--max-cost", "0.07", "--out", "r"]
            code, out, err = await run(tmp_path, *served(server, *flags, *CENT_A_REQUEST))
        assert code == 4, err
        assert len(server.requests) == 7
        assert results(tmp_path / "r") == []
        assert "not run (1)" in out
        assert "stopped by the budget (1)" in out
        (begun,) = (tmp_path / "r" / "transcripts").iterdir()
        assert '"put_off"' in begun.read_text().splitlines()[-1], "the other was not begun"

    @pytest.mark.thorough
    async def test_what_a_failed_sample_cost_counts_when_the_run_goes_on(
        self, tmp_path: Path
    ) -> None:
        def script(body: dict[str, Any], number: int) -> Reply:
            return failure(400) if number == 3 else reading(body, number)

        async with ChatServer(script) as server:
            flags = ["-n", "1", "--agentic-mode", "--max-cost", "0.05", "--out", "r"]
            code, _, err = await run(tmp_path, *served(server, *flags, *CENT_A_REQUEST))
            assert code == 4, err
            assert len(server.requests) == 4  # three of them were answered
            code, _, err = await run(tmp_path, "run", "--resume", "r")
        assert code == 4, err
        assert len(server.requests) == 4 + 2
        assert results(tmp_path / "r") == []

    @pytest.mark.thorough
    async def test_a_provider_that_tells_no_tokens_stops_the_run(self, tmp_path: Path) -> None:
        async with ChatServer(lambda _body, _number: completion(SOLVE)) as server:
            flags = ["-n", "4", "--max-cost", "1", "--out", "r"]
            code, _, err = await run(tmp_path, *served(server, *flags, "--price", "1,4"))
        assert code == 4, err
        assert [request.stream for request in server.requests] == [True, False]
        assert "--max-cost cannot be kept: the provider does not tell how many tokens" in err
        assert "start a new run without --max-cost" in err


async def test_max_cost_per_sample_stops_a_sample_and_no_other(tmp_path: Path) -> None:
    async with ChatServer(reading) as server:
        flags = ["-n", "2", "--agentic-mode", "--set", "max_cost_per_sample=0.04", "--out", "r"]
        code, _, err = await run(tmp_path, *served(server, *flags, *CENT_A_REQUEST))
    assert code == 0, err
    samples = results(tmp_path / "r")
    assert [sample["model_calls"] for sample in samples] == [4, 4]
    assert {sample["stop_reason"] for sample in samples} == {"cost_limit"}
    assert "is reached" not in err


@pytest.mark.thorough
async def test_budgets_are_keys_of_a_file_as_well(tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text(
        "price: {input: 1000, output: 1000}\nmax_cost: 0.03\nmax_tokens_total: 1000\n"
    )
    async with ChatServer(answer) as server:
        flags = served(server, "-c", "spec.yaml", "-n", "8", "--out", "r")
        code, _, err = await run(tmp_path, *flags)
    assert code == 0, err
    assert len(server.requests) == 3


@for_each("flag", ["--max-cost=1", "--agentic-mode --set max_cost_per_sample=1"])
def test_dollars_without_a_price_are_refused_in_one_line(tmp_path: Path, flag: str) -> None:
    there = ["-m", "gpt-5", "--base-url", "http://127.0.0.1:9/v1"]
    for model in (there, ["-m", "replay:bundled"]):
        done = harness(tmp_path, "run", "-b", "fixture", *model, *flag.split())
        assert done.returncode == 2
        assert flag.rsplit(maxsplit=1)[-1].partition("=")[0] in done.stderr
        assert "--price IN,OUT" in done.stderr
        assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


class TestPrices:
    LIST: ClassVar = {
        "as_of": "2026-02-03",
        "models": {"gpt-5": {"input": 2, "output": 10}, "other": {"input": 1, "output": 1}},
    }

    async def summary(self, folder: Path, *flags: str) -> tuple[str, dict[str, Any]]:
        """What a run of two samples prints, and its summary."""
        (folder / "prices.json").write_text(json.dumps(self.LIST))
        async with ChatServer(answer) as server:
            code, out, err = await run(folder, *served(server, "-n", "2", "--out", "r", *flags))
        assert code == 0, err
        return out + err, json.loads((folder / "r" / "summary.json").read_text())

    @pytest.mark.thorough
    async def test_a_list_is_told_with_its_date(self, tmp_path: Path) -> None:
        output, summary = await self.summary(tmp_path, "--set", "prices=prices.json")
        assert summary["cost"] == pytest.approx(2 * (7 * 2 + 3 * 10) / 1e6)
        assert summary["prices_as_of"] == "2026-02-03"
        assert "$0.000088 (prices of 2026-02-03)" in output
        assert "prices of 2026-02-03, per million tokens: $2 in, $10 out" in output
        shutil.copytree(tmp_path / "r", tmp_path / "again")
        done = harness(tmp_path, "compare", "r", "again", "--details")
        assert done.stdout.count("(prices of 2026-02-03)") == 2

    @pytest.mark.thorough
    async def test_a_price_wins_over_a_list(self, tmp_path: Path) -> None:
        output, summary = await self.summary(
            tmp_path, "--set", "prices=prices.json", "--price", "1000,1000"
        )
        assert summary["cost"] == pytest.approx(0.02)
        assert "prices of" not in output

    @pytest.mark.thorough
    async def test_a_vendors_price_says_nothing_of_another_address(self, tmp_path: Path) -> None:
        output, summary = await self.summary(tmp_path)
        assert summary["cost"] is None
        assert "prices of" not in output

    @pytest.mark.thorough
    async def test_a_bundled_price_may_be_claimed_for_another_address(self, tmp_path: Path) -> None:
        _, summary = await self.summary(tmp_path, "--set", "prices=bundled")
        assert summary["cost"] > 0
        assert summary["prices_as_of"]

    @pytest.mark.thorough
    async def test_a_run_that_goes_on_keeps_its_price(self, tmp_path: Path) -> None:
        (tmp_path / "prices.json").write_text(json.dumps(self.LIST))
        async with ChatServer(answer) as server:
            flags = ["-n", "2", "--set", "prices=prices.json", "--max-tokens-total", "10"]
            await run(tmp_path, *served(server, *flags, "--out", "r"))
            (tmp_path / "prices.json").unlink()
            more = ["--max-tokens-total", "99"]
            code, _, err = await run(tmp_path, "run", "--resume", "r", *more)
        assert code == 0, err
        assert len({sample["cost"] for sample in results(tmp_path / "r")}) == 1
        assert results(tmp_path / "r")[0]["cost"] > 0

    @pytest.mark.thorough
    async def test_a_run_without_a_price_may_be_given_one_and_no_other_then(
        self, tmp_path: Path
    ) -> None:
        async with ChatServer(answer) as server:
            plain = served(server, "-n", "3", "--max-tokens-total", "10", "--out", "plain")
            await run(tmp_path, *plain)
            more = ["--max-tokens-total", "99", "--max-cost", "0.02", *CENT_A_REQUEST]
            code, _, err = await run(tmp_path, "run", "--resume", "plain", *more)
            assert code == 0, err
            assert "--max-cost is reached: $0.0200 of $0.0200 and 20 of 99 tokens; 1 sample" in err
            priced = served(server, "-n", "1", *CENT_A_REQUEST, "--out", "priced")
            await run(tmp_path, *priced)
        code, _, err = await run(tmp_path, "run", "--resume", "priced", "--price", "1,1")
        assert code == 2
        assert "keeps the price it began with" in err

    def test_a_bad_list_is_refused_in_one_line(self, tmp_path: Path) -> None:
        (tmp_path / "prices.json").write_text('{"models": {"x": {"input": -1, "output": 1}}}')
        done = harness(tmp_path, "run", "--set", "prices=prices.json", "--dry-run")
        assert done.returncode == 2
        assert done.stderr.startswith("harness: prices.json: models.x.input:")
        assert done.stderr.count("\n") == 1


async def test_the_cost_of_pending_samples_is_shown_beside_that_of_graded_ones(
    tmp_path: Path,
) -> None:
    """The summary has what graded samples cost, the budget what all of them cost."""

    cheap: list[str] = []  # requests of the first problem; the other waits for its third
    last_of_cheap = asyncio.Event()

    def script(body: dict[str, Any], number: int) -> Reply:
        reply = reading(body, number)
        problem = str(body["messages"][:2])
        if cheap and problem != cheap[0]:
            return Reply({**reply.body, "usage": TEN}, until=last_of_cheap.wait)
        cheap.append(problem)
        if len(cheap) == 3:
            last_of_cheap.set()
        usage = {"prompt_tokens": 1, "completion_tokens": 1}
        return Reply({**reply.body, "usage": usage})

    async with ChatServer(script) as server:
        flags = served(server, "-n", "2", "--agentic-mode", "--concurrency", "2", "--out", "r")
        bounds = ("--max-turns", "3", "--max-cost", "0.02")
        code, _, err = await run(tmp_path, *flags, *CENT_A_REQUEST, *bounds)
    assert code == 0, err
    assert [result["cost"] for result in results(tmp_path / "r")] == [pytest.approx(0.006)]
    assert "$0.0160 of $0.0200; 1 sample pending; graded samples cost $0.0060, " in err
    assert "pending ones $0.0100 so far; go on with: " in err


class TestDryRun:
    async def test_dry_run_tells_requests_tokens_and_cost_and_asks_nothing(
        self, tmp_path: Path
    ) -> None:
        async with ChatServer(answer) as server:
            flags = served(server, "-n", "3", "--agentic-mode", "--max-turns", "5", "--dry-run")
            code, out, err = await run(tmp_path, *flags, *CENT_A_REQUEST)
        assert code == 0, err
        assert server.requests == []
        estimate = dict(line.split(maxsplit=1) for line in out.splitlines() if line.strip())
        assert estimate["requests"].strip() == "3 to 15"
        assert estimate["cost"].startswith("about $")
        assert not (tmp_path / "runs").exists()

    def figures(self, folder: Path, *flags: str) -> dict[str, Any]:
        there = ["-b", "fixture", "-m", "x", "--base-url", "http://127.0.0.1:9/v1"]
        done = harness(folder, "run", *there, "--dry-run", "--json", *flags)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    def test_estimates_follow_from_the_messages_to_be_sent(self, tmp_path: Path) -> None:
        one = self.figures(tmp_path, "-n", "4")
        assert one["requests"] == [4, 4]
        assert one["least"]["input_tokens"] == one["most"]["input_tokens"] > 0
        assert one["cost"] is None
        twice = self.figures(tmp_path, "-n", "4", "-k", "2", "--price", "1,0")
        assert twice["least"]["input_tokens"] == 2 * one["least"]["input_tokens"]
        expected = twice["most"]["input_tokens"] / 1e6
        assert twice["cost"] == pytest.approx([expected, expected])

    def test_every_turn_repeats_what_was_said_before(self, tmp_path: Path) -> None:
        few, many = (
            self.figures(tmp_path, "-n", "1", "--agentic-mode", "--max-turns", str(turns))
            for turns in (4, 8)
        )
        assert many["most"]["output_tokens"] == 2 * few["most"]["output_tokens"]
        assert many["most"]["input_tokens"] > 3 * few["most"]["input_tokens"]
        assert many["least"] == few["least"]

    @for_each(
        ("mode", "prompt", "samples"),
        [("single_shot", "default", 6), ("single_shot", "terse", 1), ("agentic", "default", 1)],
    )
    def test_typical_tokens_are_within_a_factor_of_two_of_recorded_ones(
        self, tmp_path: Path, mode: str, prompt: str, samples: int
    ) -> None:
        """The bundled recordings are answers of a real model: their usage is known."""
        transcripts = RECORDINGS.glob(f"{mode}/{prompt}/transcripts/*.jsonl")
        lines = [path.read_text().splitlines() for path in transcripts]
        ends = [json.loads(each[-1]) for each in lines]
        problems = {json.loads(each[0])["problem_id"] for each in lines}
        names = [part for problem in sorted(problems) for part in ("-t", problem)]
        limits = ["--max-tokens", "700", "-k", str(samples)]
        limits += ["--max-turns", "6", "--tool-protocol", "text"] if mode == "agentic" else []
        figures = self.figures(tmp_path, "--mode", mode, "--prompt", prompt, *names, *limits)
        for key in ("input_tokens", "output_tokens"):
            recorded = sum(end["usage"][key] for end in ends)
            assert recorded / 2 < figures["typical"][key] < recorded * 2
            assert figures["least"][key] <= figures["typical"][key] <= figures["most"][key]

    def test_dry_run_needs_no_key_and_says_which_is_missing(self, tmp_path: Path) -> None:
        flags = ["-b", "fixture", "-n", "2", "-m", "gpt-5", "--agentic-mode"]
        done = harness(tmp_path, "run", *flags, "--dry-run", "--json")
        assert done.returncode == 0, done.stderr
        assert "there is no key yet: a real run needs OPENAI_API_KEY" in done.stderr
        assert json.loads(done.stdout)["cost"][0] > 0
        real = harness(tmp_path, "run", *flags)
        assert (real.returncode, "needs OPENAI_API_KEY" in real.stderr) == (2, True)

    @for_each(
        ("model", "prompt", "bounds"),
        [
            ("gpt-5", (), ((), ("--max-turns", "1"))),
            ("gpt-4o", (), ((), ("--max-turns", "1"))),
            ("claude-sonnet-4-5", (), ((), ("--max-turns", "1"))),
            ("gpt-5", ("--prompt", "terse"), ((),)),
        ],
    )
    def test_the_agent_loop_is_never_cheaper_than_a_single_shot(
        self,
        model: str,
        prompt: tuple[str, ...],
        bounds: tuple[tuple[str, ...], ...],
        tmp_path: Path,
    ) -> None:
        def told(*flags: str) -> dict[str, Any]:
            given = ["-b", "fixture", "-m", model, "--dry-run", "--json", *flags]
            done = harness(tmp_path, "run", *given)
            assert done.returncode == 0, done.stderr
            return json.loads(done.stdout)

        shot = told(*prompt)
        for loop in (told("--agentic-mode", *prompt, *more) for more in bounds):
            for end in (0, 1):
                assert loop["requests"][end] >= shot["requests"][end]
                assert loop["cost"][end] >= shot["cost"][end] > 0
            for bound in ("least", "most"):
                for kind in ("input_tokens", "output_tokens", "reasoning_tokens"):
                    assert loop[bound][kind] >= shot[bound][kind]

    @for_each(
        ("flags", "reasoning"),
        [
            (["-m", "gpt-5"], [500, 12_000]),
            (["-m", "gpt-5", "--reasoning-effort", "low"], [200, 4_000]),
            (["-m", "gpt-5", "--reasoning-effort", "high"], [1_500, 30_000]),
            (["-m", "gpt-5", "--reasoning-effort", "high", "--max-tokens", "3000"], [1_500, 3_000]),
            (["-m", "gpt-4o"], [0, 0]),
            (["-m", "claude-sonnet-4-5"], [0, 0]),
            (["-m", "claude-sonnet-4-5", "--reasoning-effort", "low"], [200, 4_000]),
            (["-m", "x", "--base-url", "http://127.0.0.1:9/v1"], [0, 12_000]),
        ],
    )
    def test_reasoning_is_in_it(
        self, flags: list[str], reasoning: list[int], tmp_path: Path
    ) -> None:
        given = ["-b", "fixture", "-n", "1", *flags, "--dry-run"]
        data = json.loads(harness(tmp_path, "run", *given, "--json").stdout)
        assert [data[end]["reasoning_tokens"] for end in ("least", "most")] == reasoning
        assert data["most"]["output_tokens"] >= reasoning[1]

    @for_each(("model", "told"), [("gpt-5", True), ("gpt-4o", False)])
    def test_reasoning_is_told_where_there_may_be_some(
        self, model: str, told: bool, tmp_path: Path
    ) -> None:
        shown = harness(tmp_path, "run", "-b", "fixture", "-n", "1", "-m", model, "--dry-run")
        assert ("12,000 of the output tokens" in shown.stdout) == told

    def test_max_tokens_bounds_the_answers(self, tmp_path: Path) -> None:
        bounded = self.figures(tmp_path, "-n", "2", "--max-tokens", "60")
        assert bounded["most"]["output_tokens"] == bounded["least"]["output_tokens"] == 120

    def test_recordings_and_references_ask_nobody(self, tmp_path: Path) -> None:
        for flags in ([], ["-b", "fixture", "--efficiency"]):
            done = harness(tmp_path, "run", "-n", "1", *flags, "--dry-run")
            assert done.returncode == 0, done.stderr
            *told, line = done.stdout.splitlines()
            assert [each.split()[0] for each in told] == [
                *(["benchmark"] if flags else []),
                "sample_size",
                *(["efficiency"] if flags else []),
            ]
            assert line.startswith("no request is sent: the answers are there already")
            data = json.loads(
                harness(tmp_path, "run", "-n", "1", *flags, "--dry-run", "--json").stdout
            )
            assert (data["requests"], data["cost"]) == ([0, 0], [0.0, 0.0])
            assert data["most"]["input_tokens"] == data["most"]["output_tokens"] == 0

    def test_what_an_own_agent_asks_is_unknown(self, tmp_path: Path) -> None:
        given = ["-b", "fixture", "-n", "1", "--agent-command", "cat {mcp_config}", "--dry-run"]
        done = harness(tmp_path, "run", *given, "--json")
        assert done.returncode == 0, done.stderr
        data = json.loads(done.stdout)
        assert (data["requests"], data["cost"]) == ([0, 0], None)
