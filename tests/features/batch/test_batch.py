"""`harness run --batch`, as its users run it: interrupted, killed, resumed by another process."""

import asyncio
import json
import signal
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from batch_server import EXPIRED, SECONDS, AnthropicBatchServer, BatchServer, OpenAIBatchServer
from chat_server import Json, Reply, completion, failure
from for_each import for_each
from messages_server import error, message
from program import Process, finish, harness, harness_after, heard, results, start_after
from responses_server import counted, response, said

KEY = "sk-secretsecretsecret"
PROBLEMS = 6

# The program with the vendors' addresses exchanged for one on loopback: --base-url speaks chat
# completions only.
ELSEWHERE = """
from harness.models import providers
def moved(provider):
    path = "" if provider.protocol is providers.Protocol.MESSAGES else "/v1"
    return provider._replace(base_url={url!r} + path)
providers.PROVIDERS = tuple(map(moved, providers.PROVIDERS))
"""
KEYS = {"OPENAI_API_KEY": KEY, "ANTHROPIC_API_KEY": KEY}


@dataclass(frozen=True)
class Vendor:
    """A model's name, the server that has it, and how that words an answer."""

    model: str
    server: Callable[[Any], BatchServer]
    answer: Callable[[str], Reply]


VENDORS = {
    "responses": Vendor(
        "openai/gpt-made",
        OpenAIBatchServer,
        lambda text: response(said(text), usage=counted(700, 300)),
    ),
    "chat": Vendor(
        "openai-chat/gpt-made",
        OpenAIBatchServer,
        lambda text: completion(text, usage={"prompt_tokens": 700, "completion_tokens": 300}),
    ),
    "messages": Vendor(
        "anthropic/claude-made",
        AnthropicBatchServer,
        lambda text: message(text, usage={"input_tokens": 700, "output_tokens": 300}),
    ),
}


@pytest.fixture(params=VENDORS)
def vendor(request: pytest.FixtureRequest) -> Vendor:
    return VENDORS[request.param]


@pytest.fixture
def solved(bundled_rows: list[dict[str, Any]]) -> Callable[[Json], str]:
    """The text of a model that solves every problem but those with an E in the title."""
    known = sorted(bundled_rows, key=lambda row: -len(row["title"]))

    def text(body: Json) -> str:
        asked = json.dumps(body)
        row = next(row for row in known if json.dumps(row["title"])[1:-1] in asked)
        code = "print(0)" if "e" in row["title"] else row["references"][0]
        return f"Here it is.\n```python\n{code}\n```"

    return text


def elsewhere(server: BatchServer) -> str:
    return ELSEWHERE.format(url=server.base_url.removesuffix("/v1"))


async def start(server: BatchServer, folder: Path, *arguments: str | Path) -> Process:
    return await start_after(elsewhere(server), folder, *arguments, **KEYS)


async def run(server: BatchServer, folder: Path, *arguments: str) -> tuple[int, str, str]:
    done = await asyncio.to_thread(harness_after, elsewhere(server), folder, *arguments, **KEYS)
    return done.returncode, done.stdout, done.stderr


def flags(vendor: Vendor, *more: str, out: str = "r") -> list[str]:
    """A run of the first few bundled problems; the model solves some of them."""
    return ["run", "-b", "fixture", "-n", str(PROBLEMS), "-m", vendor.model, "--out", out, *more]


def _without_times(value: Any) -> Any:
    """A result or an event without what differs between two runs of the same."""
    times = {
        "seconds",
        "answer_seconds",
        "time",
        "cpu_s",
        "wall_s",
        "peak_bytes",
        "latency_s",
        "request_id",
        "cost",
    }
    if isinstance(value, dict):
        return {k: _without_times(v) for k, v in value.items() if k not in times}
    return [_without_times(each) for each in value] if isinstance(value, list) else value


def _transcripts(run_directory: Path) -> dict[str, list[Any]]:
    return {
        path.name: [_without_times(json.loads(line)) for line in path.read_text().splitlines()]
        for path in (run_directory / "transcripts").iterdir()
    }


def _sorted(run_directory: Path) -> list[Any]:
    return sorted(map(_without_times, results(run_directory)), key=lambda r: r["sample"])


@pytest.mark.parametrize(
    "vendor",
    [
        pytest.param(name, marks=[pytest.mark.thorough] if number else [])
        for number, name in enumerate(VENDORS)
    ],
    indirect=True,
)
async def test_results_and_transcripts_are_those_of_a_plain_run_at_half_the_price(
    vendor: Vendor, tmp_path: Path, solved: Callable[[Json], str]
) -> None:
    more = ["-n", "4", "-k", "2", "--max-tokens", "2000", "--price", "2,10"]
    async with vendor.server(lambda body, _n: vendor.answer(solved(body))) as server:
        code, _, err = await run(server, tmp_path, *flags(vendor, *more, out="plain"))
        assert code == 0, err
        assert not server.batches
        code, out, err = await run(server, tmp_path, *flags(vendor, *more, "--batch"))
    assert code == 0, err
    assert len(server.batches) == 1
    assert len(server.asked) == 2 * 4
    assert _sorted(tmp_path / "r") == _sorted(tmp_path / "plain")
    assert _transcripts(tmp_path / "r") == _transcripts(tmp_path / "plain")
    assert Counter(r["verdict"] for r in results(tmp_path / "r"))["accepted"] in range(1, 2 * 4)
    assert {r["cost"] for r in results(tmp_path / "plain")} == {(700 * 2 + 300 * 10) / 1e6}
    assert {r["cost"] for r in results(tmp_path / "r")} == {(700 * 2 + 300 * 10) / 2e6}
    kept = json.loads((tmp_path / "r" / "run.json").read_text())
    assert (kept["spec"]["batch"], kept["price"]["input"]) == (True, 1.0)
    events = next((tmp_path / "r" / "transcripts").iterdir()).read_text().splitlines()
    answered = next(json.loads(line) for line in events if '"event":"response"' in line)
    assert answered["response"]["latency_s"] == SECONDS
    written = [path for path in (tmp_path / "r").rglob("*") if path.is_file()]
    assert KEY not in "".join([out, err, *(path.read_text() for path in written)])


@pytest.mark.thorough
async def test_killed_after_the_submission_another_process_reads_the_same_batch(
    vendor: Vendor, tmp_path: Path, solved: Callable[[Json], str]
) -> None:
    async with vendor.server(lambda body, _n: vendor.answer(solved(body))) as server:
        server.ended = False
        process = await start(server, tmp_path, *flags(vendor, "--batch"))
        async with asyncio.timeout(60):
            while not server.batches or not server.calls("GET", server.batches[0].id):
                await server.arrived(len(server.requests) + 1)
        process.kill()
        await finish(process)
        assert results(tmp_path / "r") == []
        server.ended = True
        code, _, err = await run(server, tmp_path, "run", "--resume", "r")
    assert code == 0, err
    assert len(server.batches) == 1
    assert len(server.asked) == len(results(tmp_path / "r")) == PROBLEMS


@pytest.mark.thorough
async def test_killed_while_it_handed_in_another_process_finds_the_batch(
    vendor: Vendor, tmp_path: Path, solved: Callable[[Json], str]
) -> None:
    made = asyncio.Event()

    def script(body: Json, _number: int) -> Reply:
        made.set()
        return vendor.answer(solved(body))

    async with vendor.server(script) as server:
        handler = server.made

        def hold(batch: Any, shown: Json) -> Reply:
            return Reply(body=handler(batch, shown).body, silence_s=300)

        server.made = hold
        process = await start(server, tmp_path, *flags(vendor, "--batch"))
        async with asyncio.timeout(60):
            await made.wait()
        process.kill()
        await finish(process)
        server.made = handler
        journal = (tmp_path / "r" / "batches.jsonl").read_text().splitlines()
        assert [json.loads(line)["event"] for line in journal] == ["begun", "intent"]
        code, _, err = await run(server, tmp_path, "run", "--resume", "r")
    assert code == 0, err
    assert len(server.batches) == 1
    assert len(results(tmp_path / "r")) == PROBLEMS


@pytest.mark.thorough
@pytest.mark.parametrize("word", [signal.SIGINT, signal.SIGTERM])
async def test_an_interrupt_leaves_the_batch_with_the_provider_and_says_how_to_go_on(
    word: signal.Signals, tmp_path: Path, solved: Callable[[Json], str]
) -> None:
    vendor = VENDORS["messages"]
    async with vendor.server(lambda body, _n: vendor.answer(solved(body))) as server:
        server.ended = False
        process = await start(server, tmp_path, *flags(vendor, "--batch"))
        await heard(process, "waiting for 1 batch")
        process.send_signal(word)
        code, _, err = await finish(process)
        assert code == 130
        assert "harness run --resume r" in err
        assert "submitted batches stay at the provider" in err
        assert "Traceback" not in err
        assert not server.calls("POST", "/cancel")
        summary = json.loads((tmp_path / "r" / "summary.json").read_text())
        assert summary["pending"] == {"not_run": PROBLEMS}
        server.ended = True
        code, _, err = await run(server, tmp_path, "run", "--resume", "r")
    assert code == 0, err
    assert len(server.batches) == 1


@pytest.mark.thorough
async def test_a_second_interrupt_leaves_even_a_submission_under_way(
    tmp_path: Path, solved: Callable[[Json], str]
) -> None:
    vendor = VENDORS["responses"]
    async with vendor.server(lambda body, _n: vendor.answer(solved(body))) as server:
        handler = server.made
        server.made = lambda batch, shown: Reply(body=handler(batch, shown).body, silence_s=300)
        process = await start(server, tmp_path, *flags(vendor, "--batch"))
        async with asyncio.timeout(60):
            while not server.batches:
                await server.arrived(len(server.requests) + 1)
        process.send_signal(signal.SIGINT)
        await heard(process, "interrupted")
        process.send_signal(signal.SIGINT)
        code, _, err = await finish(process)
        assert code == 130
        assert "Traceback" not in err
        server.made = handler
        code, _, err = await run(server, tmp_path, "run", "--resume", "r")
    assert code == 0, err
    assert len(server.batches) == 1


@pytest.mark.thorough
@pytest.mark.parametrize("word", [signal.SIGINT, signal.SIGTERM])
async def test_an_interrupt_waits_a_little_for_a_submission_under_way(
    word: signal.Signals, tmp_path: Path, solved: Callable[[Json], str]
) -> None:
    vendor = VENDORS["responses"]
    soon = "import harness.features.batch.run as batch_run\nbatch_run.GRACE_S = 0.3\n"
    async with vendor.server(lambda body, _n: vendor.answer(solved(body))) as server:
        handler = server.made
        server.made = lambda batch, shown: Reply(body=handler(batch, shown).body, silence_s=300)
        asked = flags(vendor, "--batch")
        process = await start_after(elsewhere(server) + soon, tmp_path, *asked, **KEYS)
        async with asyncio.timeout(60):
            while not server.batches:
                await server.arrived(len(server.requests) + 1)
        process.send_signal(word)
        code, _, err = await finish(process)
        assert code == 130
        assert "harness run --resume r" in err
        assert "Traceback" not in err
        server.made = handler
        code, _, err = await run(server, tmp_path, "run", "--resume", "r")
    assert code == 0, err
    assert len(server.batches) == 1
    assert len(results(tmp_path / "r")) == PROBLEMS


@pytest.mark.thorough
async def test_samples_without_an_answer_stay_pending_and_are_asked_on_resume(
    tmp_path: Path, solved: Callable[[Json], str], bundled_rows: list[dict[str, Any]]
) -> None:
    vendor, title = VENDORS["responses"], bundled_rows[3]["title"]
    expiring = True

    def script(body: Json, _number: int) -> Reply:
        gone = expiring and json.dumps(title)[1:-1] in json.dumps(body)
        return EXPIRED if gone else vendor.answer(solved(body))

    async with vendor.server(script) as server:
        code, _, err = await run(server, tmp_path, *flags(vendor, "--batch"))
        assert code == 4, err
        assert "batch_expired" in err
        assert len(results(tmp_path / "r")) == PROBLEMS - 1
        assert [len(batch.answers) for batch in server.batches] == [PROBLEMS, 1, 1]
        summary = json.loads((tmp_path / "r" / "summary.json").read_text())
        assert summary["pending"] == {"model_error": 1}
        expiring = False
        code, _, err = await run(server, tmp_path, "run", "--resume", "r")
    assert code == 0, err
    assert [len(batch.answers) for batch in server.batches] == [PROBLEMS, 1, 1, 1]
    assert len(results(tmp_path / "r")) == PROBLEMS


@pytest.mark.thorough
@pytest.mark.parametrize("name", VENDORS)
async def test_what_a_content_filter_refuses_is_refused_in_a_batch_as_in_a_single_request(
    name: str, tmp_path: Path, solved: Callable[[Json], str], bundled_rows: list[dict[str, Any]]
) -> None:
    vendor, title = VENDORS[name], bundled_rows[3]["title"]

    def script(body: Json, _number: int) -> Reply:
        if json.dumps(title)[1:-1] in json.dumps(body):
            if name == "messages":
                kind = "invalid_request_error"
                return error(400, kind, "Output blocked by content filtering policy")
            return failure(400, "The prompt was filtered.", "content_filter")
        return vendor.answer(solved(body))

    async with vendor.server(script) as server:
        code, out, err = await run(server, tmp_path, *flags(vendor, "--batch"))
        assert code == 0, err
        assert "1 sample refused by the model or its provider" in out
        code, out, err = await run(server, tmp_path, *flags(vendor, out="plain"))
        assert code == 0, err
        assert "1 sample refused by the model or its provider" in out
    assert len(server.batches) == 1
    assert _sorted(tmp_path / "r") == _sorted(tmp_path / "plain")
    (refused,) = [each for each in results(tmp_path / "r") if each["refused"]]
    assert (refused["title"], refused["verdict"], refused["code"]) == (title, "no_solution", "")


async def test_a_batch_that_is_refused_is_a_model_error_with_the_words(tmp_path: Path) -> None:
    vendor = VENDORS["responses"]
    async with vendor.server(lambda _body, _n: vendor.answer("")) as server:
        server.refusals = [("invalid_request", "The model `gpt-made` takes no batches.")]
        code, _, err = await run(server, tmp_path, *flags(vendor, "--batch"))
    assert code == 4, err
    assert "takes no batches." in err
    end = next((tmp_path / "r" / "transcripts").iterdir()).read_text().splitlines()[-1]
    assert json.loads(end)["stop_reason"] == "model_error"


def test_a_dry_run_hands_nothing_in(tmp_path: Path) -> None:
    given = ["-m", "m", "--base-url", "http://127.0.0.1:9/v1", "-b", "fixture", "--price", "2,10"]
    plain = harness(tmp_path, "run", *given, "--dry-run", "--json")
    done = harness(tmp_path, "run", *given, "--dry-run", "--json", "--batch")
    assert done.returncode == 0, done.stderr
    assert "by the batch" in done.stderr
    assert not list(tmp_path.iterdir())
    cost, full = (json.loads(each.stdout) for each in (done, plain))
    differ = {key for key in full if cost[key] != full[key]}
    assert differ == {"cost", "typical_cost", "settings"}
    assert cost["settings"].keys() - full["settings"].keys() == {"batch"}
    assert cost["typical_cost"] == pytest.approx(full["typical_cost"] / 2)
    assert cost["cost"] == pytest.approx([dollars / 2 for dollars in full["cost"]])


REFUSED = {
    "the agent loop": (["--agentic-mode", "-m", "gpt-5"], "single shot"),
    "recordings": ([], "replay:bundled"),
    "one's own code": (["-m", "python:json:dumps"], "not a provider"),
    "a provider without batches": (["-m", "gemini-x"], "Gemini"),
    "a budget": (["-m", "gpt-5", "--max-cost", "1"], "--max-cost"),
    "no key": (["-m", "gpt-5"], "OPENAI_API_KEY"),
    "another run": (["--resume", "r"], "another one"),
}


@for_each("case", REFUSED)
def test_what_cannot_go_by_the_batch_is_one_line_before_anything_is_loaded(
    case: str, tmp_path: Path
) -> None:
    arguments, reason = REFUSED[case]
    missing = [] if case in ("recordings", "another run") else ["-b", "livecodebench:missing.jsonl"]
    done = harness(tmp_path, "run", "--batch", *missing, *arguments)
    assert done.returncode == 2
    assert reason in done.stderr
    assert len(done.stderr.splitlines()) == 1
