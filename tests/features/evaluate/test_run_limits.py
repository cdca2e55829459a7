"""A limit of the run fails no sample: what it cuts off stays pending, and goes on mid-sample."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, Reply, Solver, completion, failure
from crashes import Asked
from for_each import for_each
from ports import free_port
from program import PATIENCE_S, finish, harness, heard, results, run, start
from written import FIRST

SOLVE = "```python\nprint(0)\n```"
TEN = {"prompt_tokens": 7, "completion_tokens": 3}
CENT_A_REQUEST = ["--price", "1000,1000"]  # of ten tokens
PRICED = ["--price", "1,4"]


def summary(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "r" / "summary.json").read_text())


def events(folder: Path, kind: str) -> list[dict[str, Any]]:
    return [
        event
        for file in sorted((folder / "r" / "transcripts").iterdir())
        for line in file.read_text().splitlines()
        if (event := json.loads(line))["event"] == kind
    ]


def served(server: ChatServer, *flags: str | Path) -> list[str | Path]:
    at = ["--base-url", server.base_url]
    return ["run", *FIRST, "-m", "served", *at, "--out", "r", *flags]


def reading(_body: dict[str, Any], number: int) -> Reply:
    call = {"id": f"c{number}", "type": "function"}
    function = {"name": "read_problem", "arguments": "{}"}
    return completion(None, [{**call, "function": function}], usage=TEN)


def answer(_body: dict[str, Any], _number: int) -> Reply:
    return completion(SOLVE, usage=TEN)


class TestBudget:
    async def test_pass_at_1_is_the_same_with_a_budget_and_without(
        self, tmp_path: Path, solver: Solver
    ) -> None:
        """It was 85 % where 16 of 20 samples were under way when the money was gone."""

        def script(body: dict[str, Any], number: int) -> Reply:
            return Reply({**solver(body, number).body, "usage": TEN})

        async with ChatServer(script) as server:
            flags = ["-n", "10", "--agentic-mode", *CENT_A_REQUEST, "--concurrency", "8"]
            code, _, err = await run(tmp_path, *served(server, *flags, "--max-cost", "0.13"))
            assert code == 0, err
            done = results(tmp_path / "r")
            assert 0 < len(done) < 10
            assert {each["verdict"] for each in done} == {"accepted"}
            assert summary(tmp_path)["stopped"]["reason"] == "budget"
            assert "--max-cost is" in err
            spent = sum(each["cost"] for each in done)
            assert spent <= 0.13
            resume = ["run", "--resume", "r", "--max-cost", "100"]
            code, _, err = await run(tmp_path, *resume)
        assert code == 0, err
        done = results(tmp_path / "r")
        assert len(done) == 10
        assert summary(tmp_path)["pass_at_1"]["value"] == 1.0
        assert summary(tmp_path)["stopped"] is None
        assert len(server.requests) == sum(each["model_calls"] for each in done)

    @pytest.mark.thorough
    async def test_a_sample_that_it_cuts_off_goes_on_where_it_was(self, tmp_path: Path) -> None:
        async with ChatServer(reading) as server:
            flags = ["-n", "1", "--agentic-mode", *CENT_A_REQUEST, "--max-cost", "0.05"]
            code, out, err = await run(tmp_path, *served(server, *flags))
            assert code == 4, err
            assert len(server.requests) == 5
            assert results(tmp_path / "r") == []
            assert "--max-cost is reached: $0.0500 of $0.0500; 1 sample pending" in err
            assert "stopped early" in out
            assert "stopped by the budget (1)" in out
            (put_off,) = events(tmp_path, "put_off")
            assert (put_off["reason"], put_off.get("in_flight", False)) == ("budget", False)
            assert events(tmp_path, "sample_end") == []
            code, _, err = await run(tmp_path, "run", "--resume", "r", "--max-cost", "9")
        assert code == 0, err
        (result,) = results(tmp_path / "r")
        assert (result["stop_reason"], result["model_calls"]) == ("turn_limit", 10)
        assert len(server.requests) == 10, "nothing was asked twice"
        assert result["unheard"] == 0

    @pytest.mark.thorough
    async def test_a_first_answer_that_is_cut_off_by_us_does_not_end_the_run(
        self, tmp_path: Path
    ) -> None:
        def script(body: dict[str, Any], number: int) -> Reply:
            return Reply(silence_s=300) if number == 0 else answer(body, number)

        async with ChatServer(script) as server:
            flags = ["-n", "3", "--max-tokens", "10", "--sample-timeout", "3", *PRICED]
            code, out, err = await run(tmp_path, *served(server, *flags, "--max-cost", "0.1"))
        assert code == 0, err
        done = results(tmp_path / "r")
        assert sorted(each["stop_reason"] for each in done) == [
            *("model_stopped", "model_stopped", "time_limit")
        ]
        assert summary(tmp_path)["unheard"] == 1
        assert "1 request cut off" in out

    @pytest.mark.thorough
    async def test_a_cut_first_answer_estimated_beyond_the_budget_does_not_end_the_run(
        self, tmp_path: Path
    ) -> None:
        def script(body: dict[str, Any], number: int) -> Reply:
            return Reply(silence_s=300) if number == 0 else answer(body, number)

        async with ChatServer(script) as server:
            flags = ["-n", "3", "--sample-timeout", "3", *CENT_A_REQUEST, "--max-cost", "1"]
            code, _, err = await run(tmp_path, *served(server, *flags))
            assert code == 0, err
            assert len(results(tmp_path / "r")) == 1
            code, _, err = await run(tmp_path, "run", "--resume", "r", "--max-cost", "5000")
        assert code == 0, err
        assert len(results(tmp_path / "r")) == 3

    async def test_a_sample_that_an_older_version_failed_for_it_is_pending(
        self, tmp_path: Path
    ) -> None:
        async with ChatServer(answer) as server:
            code, _, err = await run(tmp_path, *served(server, "-n", "3", *CENT_A_REQUEST))
            assert code == 0, err
            path = tmp_path / "r" / "results.jsonl"
            rows = results(tmp_path / "r")
            rows[1] |= {"stop_reason": "cost_limit", "verdict": "no_solution", "code": ""}
            path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
            done = harness(tmp_path, "show", "r", "--json")
            shown_summary = json.loads(done.stdout)["summary"]
            assert (shown_summary["graded"], shown_summary["pending"]) == (2, {"interrupted": 1})
            code, _, err = await run(tmp_path, "run", "--resume", "r")
        assert code == 0, err
        assert summary(tmp_path)["graded"] == 3
        assert len(server.requests) == 3, "its answer was recorded"


class TestRefusal:
    @for_each(("status", "cause"), [(404, "The model `served` does not exist"), (401, "bad key")])
    async def test_a_refusal_by_the_provider_stops_the_run_at_once_with_one_line(
        self, status: int, cause: str, tmp_path: Path
    ) -> None:
        async with ChatServer(lambda _b, _n: failure(status, cause)) as server:
            flags = served(server, "-k", "3", "--concurrency", "4")
            code, out, err = await run(tmp_path, *flags)
        assert code == 4
        assert len(server.requests) <= 4
        (line,) = [line for line in err.splitlines() if f"HTTP {status}" in line]
        assert line == (
            f"the provider refuses every request: HTTP {status}: {cause}; 60 samples pending; go on"
            " with: harness run --resume r"
        )
        assert "not run" in out
        stopped = summary(tmp_path)["stopped"]
        assert stopped == {"reason": "refused", "cause": f"HTTP {status}: {cause}"}
        assert {event["reason"] for event in events(tmp_path, "put_off")} == {"refused"}

    @pytest.mark.thorough
    async def test_a_wrong_address_is_named(self, tmp_path: Path) -> None:
        async with ChatServer(lambda _b, _n: Reply(status=404)) as server:
            bare = server.base_url.removesuffix("/v1")
            place = bare.partition("://")[2]
            secret = f"http://me:hidden-word@{place}"
            flags = ("-b", "fixture", "-m", "served", "-n", "1", "--concurrency", "1")
            for base_url, detail in (
                (secret, f" (asked {bare}/chat/completions; should the base URL end in /v1?); "),
                (f"{bare}/v1/", f" (asked {bare}/v1/chat/completions); "),
            ):
                out = f"r{len(base_url)}"
                code, _, err = await run(
                    tmp_path, "run", *flags, "--base-url", base_url, "--out", out
                )
                assert code == 4
                assert f"refuses every request: HTTP 404{detail}" in err
                assert "hidden-word" not in err

    @pytest.mark.thorough
    async def test_the_library_says_it_too(self, tmp_path: Path) -> None:
        code = (
            "import harness, sys\n"
            "try: harness.evaluate(benchmark='fixture', model='served', base_url=sys.argv[1])\n"
            "except harness.HarnessError as error: print(error)\n"
        )
        async with ChatServer(lambda _b, _n: failure(404, "no such model")) as server:
            (tmp_path / "mine.py").write_text(code)
            import sys

            from program import environment

            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "mine.py", server.base_url),
                cwd=tmp_path,
                env=environment(),
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.PIPE,
            )
            out, err = await process.communicate()
        assert "no sample is graded; the run stopped (refused): HTTP 404: no such model" in (
            out.decode()
        ), err.decode()


class Dead:
    """Stands where a server was: it takes connections and drops them."""

    def __init__(self) -> None:
        self.tries = self.open = self.most_open = 0
        self._changed = asyncio.Condition()

    async def _drop(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.tries += 1
        self.open += 1
        self.most_open = max(self.most_open, self.open)
        async with self._changed:
            self._changed.notify_all()
        await reader.read(1)
        self.open -= 1
        writer.close()

    async def tried(self, times: int) -> None:
        async with asyncio.timeout(PATIENCE_S), self._changed:
            await self._changed.wait_for(lambda: self.tries >= times)

    @asynccontextmanager
    async def at(self, port: int) -> AsyncIterator[None]:
        server = await asyncio.start_server(self._drop, "127.0.0.1", port)
        try:
            yield
        finally:
            server.close()
            await server.wait_closed()


class TestOutage:
    @pytest.mark.thorough
    async def test_an_outage_pauses_the_run_until_the_provider_answers_again(
        self, tmp_path: Path, solver: Solver
    ) -> None:
        asked, dead, at_once = Asked(solver), Dead(), 2

        def script(body: dict[str, Any], number: int) -> Reply:
            reply = asked(body, number)
            return reply if number < 6 else replace(reply, until=asyncio.Event().wait)

        port = free_port()
        async with ChatServer(script, port=port) as server:
            flags = served(server, "--agentic-mode", "--concurrency", str(at_once))
            process = await start(tmp_path, *flags)
            await server.arrived(6 + at_once)  # so many are in flight
        before = len(server.requests)
        async with dead.at(port):
            paused = await heard(process, "the provider does not answer")
            await dead.tried(dead.tries + at_once)  # with all that were sent before the outage
            dead.most_open = dead.open
            await dead.tried(dead.tries + 1)
            assert dead.most_open <= 1, "one probe at a time"
        async with ChatServer(asked, port=port) as again:
            code, _, err = await finish(process)
        assert code == 0, err
        assert "one request at a time is tried" in paused
        assert "the provider answers again after" in err
        done = results(tmp_path / "r")
        assert [each["verdict"] for each in done] == ["accepted"] * 20
        calls = sum(each["model_calls"] for each in done)
        # With the server, no more answers were lost than requests were under way.
        assert calls <= before + len(again.requests) <= calls + at_once

    async def test_an_outage_that_lasts_too_long_leaves_the_samples_pending(
        self, tmp_path: Path
    ) -> None:
        flags = ["--base-url", "http://127.0.0.1:9/v1", "--set", "outage_timeout=1", "--out", "r"]
        code, out, err = await run(tmp_path, "run", *FIRST, "-m", "served", *flags)
        assert code == 4
        assert "not run" in out
        (line,) = [line for line in err.splitlines() if "--resume" in line]
        assert line.startswith("the provider did not answer for 1 s: no connection to http://")
        assert line.endswith("20 samples pending; go on with: harness run --resume r")
        retries = len(events(tmp_path, "retry"))
        assert retries <= 8 + 4, "what is in flight when it begins, and the probes"
        assert summary(tmp_path)["stopped"]["reason"] == "outage"
        assert summary(tmp_path)["unheard"] == 0


@pytest.mark.thorough
async def test_requests_in_flight_at_a_kill_are_told(tmp_path: Path) -> None:
    async with ChatServer(lambda _b, _n: Reply(silence_s=300)) as server:
        flags = served(server, "-n", "5", "--concurrency", "3")
        process = await start(tmp_path, *flags)
        await server.arrived(3)
        process.kill()
        await finish(process)
    pending = harness(tmp_path, "show", "r")
    assert "3 requests cut off; their tokens are in no total" in pending.stdout
    async with ChatServer(answer) as server:
        flags = ["run", "--resume", "r", "--base-url", server.base_url]
        code, out, err = await run(tmp_path, *flags)
    assert code == 0, err
    assert summary(tmp_path)["unheard"] == 3
    assert "3 requests cut off; their tokens are in no total" in out
    assert sum(each["unheard"] for each in results(tmp_path / "r")) == 3
    done = harness(tmp_path, "show", "r", "--json")
    assert json.loads(done.stdout)["summary"]["unheard"] == 3
