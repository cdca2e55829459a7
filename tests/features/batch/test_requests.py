"""Requests by the batch: through the vendors' SDKs, against servers that behave as the vendors."""

import dataclasses
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from batch_server import (
    EXPIRED,
    SECONDS,
    AnthropicBatchServer,
    BatchServer,
    OpenAIBatchServer,
)
from chat_server import Json, Recorded, Reply, completion, failure
from for_each import for_each
from messages_server import error, message
from responses_server import counted, response, said

from harness.features.batch.anthropic_batches import AnthropicBatches
from harness.features.batch.batch_endpoint import BatchRequest
from harness.features.batch.batch_journal import BatchJournal
from harness.features.batch.openai_batches import CHAT_COMPLETIONS, RESPONSES, OpenAIBatches
from harness.features.batch.requests import BatchRequests, custom_id
from harness.features.batch.spool import Spool
from harness.models.clients.retry import Pace, RetryPolicy
from harness.models.protocol import (
    ContextOverflowError,
    Message,
    ModelError,
    ModelSettings,
    SystemMessage,
    UserMessage,
)
from harness.run.store.directory import BATCHES

KEY = "sk-secretsecretsecret"
Script = Callable[[Json, int], Reply]


def _question(body: Json) -> str:
    """What a request asks, whatever it is written in."""
    last = (body.get("messages") or body["input"])[-1]["content"]
    return last if isinstance(last, str) else last[0]["text"]


@dataclass(frozen=True)
class Vendor:
    """A server, the client at it, and how the vendor words an answer and an error."""

    server: Callable[[Any], BatchServer]
    client: Callable[..., Any]
    answer: Callable[[str], Reply]
    fail: Callable[[int, str], Reply]


def _anthropic_error(status: int, error_message: str) -> Reply:
    kinds = {
        400: "invalid_request_error",
        401: "authentication_error",
        500: "api_error",
        529: "overloaded_error",
    }
    return error(status, kinds[status], error_message)


VENDORS = {
    "responses": Vendor(
        OpenAIBatchServer,
        lambda **given: OpenAIBatches("m", url=RESPONSES, **given),
        lambda text: response(said(text), usage=counted(7, 3)),
        failure,
    ),
    "chat": Vendor(
        OpenAIBatchServer,
        lambda **given: OpenAIBatches("m", url=CHAT_COMPLETIONS, **given),
        completion,
        failure,
    ),
    "messages": Vendor(
        AnthropicBatchServer,
        lambda **given: AnthropicBatches("m", **given),
        message,
        _anthropic_error,
    ),
}


@pytest.fixture(params=VENDORS)
def vendor(request: pytest.FixtureRequest) -> Vendor:
    return VENDORS[request.param]


@dataclass
class Run:
    """A run of a few samples, and the servers and folders that it needs."""

    vendor: Vendor
    server: BatchServer
    folder: Path
    names: Sequence[str] = ("a", "b", "c")
    given: dict[str, Any] = field(default_factory=dict[str, Any])
    slept: list[float] = field(default_factory=list[float])
    told: list[str] = field(default_factory=list[str])
    on_sleep: Callable[[], None] = lambda: None

    @asynccontextmanager
    async def asking(self) -> AsyncIterator[BatchRequests]:
        """What one process does about it."""

        async def sleep(seconds: float) -> None:
            self.slept.append(seconds)
            self.on_sleep()

        pace = Pace(sleep=sleep, jitter=lambda _high: 0.0)
        policy = RetryPolicy(attempts=3)
        endpoint = self.vendor.client(
            base_url=self.server.base_url, api_key=KEY, pace=pace, policy=policy, **self.given
        )
        with BatchJournal(self.folder / BATCHES) as journal, Spool(self.folder) as spool:
            asked = {
                self.id_of(name, journal, endpoint): self.request(name, journal, endpoint)
                for name in self.names
            }
            try:
                yield BatchRequests(
                    endpoint, journal, asked, spool, self.told.append, pace=pace, policy=policy
                )
            finally:
                await endpoint.close()

    @staticmethod
    def messages(name: str) -> tuple[Message, ...]:
        return SystemMessage(content="Be good."), UserMessage(content=f"Solve ∑ {name}.")

    def id_of(self, name: str, journal: BatchJournal, endpoint: Any) -> str:
        body = endpoint.body(self.messages(name), ModelSettings())
        return custom_id(journal.run, f"made/{name}#0", body)

    def request(self, name: str, journal: BatchJournal, endpoint: Any) -> BatchRequest:
        body = endpoint.body(self.messages(name), ModelSettings())
        return BatchRequest(self.id_of(name, journal, endpoint), body, self.messages(name))

    async def ask(self) -> dict[str, Any]:
        """Ask everything; by name the text of the answer, or the error."""
        async with self.asking() as asking:
            assert await asking.ask_all()
            return {name: self.outcome(asking, name) for name in self.names}

    def outcome(self, asking: BatchRequests, name: str) -> Any:
        try:
            return asking.answer(self.id_of(name, asking.journal, asking.endpoint)).text
        except ModelError as error:
            return error

    def lines(self) -> list[Json]:
        return [json.loads(line) for line in (self.folder / BATCHES).read_text().splitlines()]


@asynccontextmanager
async def running(vendor: Vendor, folder: Path, script: Script, **given: Any) -> AsyncIterator[Run]:
    async with vendor.server(script) as server:
        yield Run(vendor, server, folder, given=given)


def _echo(vendor: Vendor) -> Script:
    return lambda body, _number: vendor.answer(f"an answer to: {_question(body)}")


ALL = {name: f"an answer to: Solve ∑ {name}." for name in "abc"}


async def test_everything_is_asked_in_one_batch_and_answered(
    vendor: Vendor, tmp_path: Path
) -> None:
    async with running(vendor, tmp_path, _echo(vendor)) as run, run.asking() as asking:
        assert await asking.ask_all()
        turns = {n: asking.answer(run.id_of(n, asking.journal, asking.endpoint)) for n in "abc"}
    assert {name: turn.text for name, turn in turns.items()} == ALL
    assert {turn.latency_s for turn in turns.values()} == {SECONDS}
    assert all(turn.request_id for turn in turns.values())
    assert len(run.server.batches) == 1
    assert not run.slept, "what has ended is not waited for"


async def test_the_key_goes_to_no_other_host_and_into_no_file(
    vendor: Vendor, tmp_path: Path
) -> None:
    async with running(vendor, tmp_path, _echo(vendor)) as run:
        await run.ask()
    sent = [{**request.headers} for request in run.server.requests]
    assert {headers["authorization"] for headers in sent} == {f"Bearer {KEY}"}
    assert KEY not in (tmp_path / BATCHES).read_text()


async def test_a_batch_under_way_is_waited_for_with_growing_patience(
    vendor: Vendor, tmp_path: Path
) -> None:
    async with running(vendor, tmp_path, _echo(vendor)) as run:
        run.server.ended = False

        def on_sleep() -> None:
            run.server.ended = len(run.slept) == 10

        run.on_sleep = on_sleep
        assert await run.ask() == ALL
    assert run.slept[:3] == [5.0, 7.5, 11.25]
    assert run.slept[-1] == 60.0 == max(run.slept)
    assert "waiting for 1 batch, 0 of 3 requests done" in run.told


async def test_another_process_reads_the_batch_and_asks_nothing_again(
    vendor: Vendor, tmp_path: Path
) -> None:
    async with running(vendor, tmp_path, _echo(vendor)) as run:
        run.server.ended = False
        async with run.asking() as asking:
            run.on_sleep = asking.stop
            assert not await asking.ask_all()
        run.server.ended = True
        assert await run.ask() == ALL
    assert len(run.server.batches) == 1
    assert len(run.server.asked) == 3


async def test_what_has_failed_is_asked_again_and_nothing_else(
    vendor: Vendor, tmp_path: Path
) -> None:
    tries: list[str] = []

    def script(body: Json, number: int) -> Reply:
        tries.append(_question(body)[-2])
        count = tries.count(tries[-1])
        if tries[-1] == "a" and count < 3:
            return (EXPIRED, vendor.fail(500, "try again"))[count - 1]
        return _echo(vendor)(body, number)

    async with running(vendor, tmp_path, script) as run:
        assert await run.ask() == ALL
    assert tries == ["a", "b", "c", "a", "a"]
    assert [len(batch.answers) for batch in run.server.batches] == [3, 1, 1]


async def test_three_times_is_enough_until_the_run_is_resumed(
    vendor: Vendor, tmp_path: Path
) -> None:
    busy = True

    def script(body: Json, number: int) -> Reply:
        failing = busy and "b." in _question(body)
        return vendor.fail(500, "not today") if failing else _echo(vendor)(body, number)

    async with running(vendor, tmp_path, script) as run:
        outcomes = await run.ask()
        assert str(outcomes["b"]) == "HTTP 500: not today (asked in 3 batches)"
        assert {name: outcomes[name] for name in "ac"} == {name: ALL[name] for name in "ac"}
        assert len(run.server.batches) == 3
        busy = False
        assert await run.ask() == ALL
    assert [len(batch.answers) for batch in run.server.batches] == [3, 1, 1, 1]


async def test_a_process_that_ended_between_two_tries_leaves_its_count(
    vendor: Vendor, tmp_path: Path
) -> None:
    def script(_body: Json, _number: int) -> Reply:
        return vendor.fail(500, "not today")

    async with running(vendor, tmp_path, script) as run:
        run.server.ended = False
        async with run.asking() as asking:
            run.on_sleep = asking.stop
            await asking.ask_all()
        run.server.ended = True
        await run.ask()
    assert len(run.server.batches) == 3


async def test_what_would_be_refused_again_is_not_asked_again(
    vendor: Vendor, tmp_path: Path
) -> None:
    def script(body: Json, number: int) -> Reply:
        if "a." in _question(body):
            return vendor.fail(400, f"not with this key: {KEY}")
        if "b." in _question(body):
            return vendor.fail(400, "prompt is too long: 9 tokens > 8 maximum")
        return _echo(vendor)(body, number)

    async with running(vendor, tmp_path, script) as run:
        outcomes = await run.ask()
    assert str(outcomes["a"]) == "HTTP 400: not with this key: [redacted]"
    assert isinstance(outcomes["b"], ContextOverflowError)
    assert outcomes["c"] == ALL["c"]
    assert len(run.server.batches) == 1


async def test_an_answer_that_is_none_is_asked_again(vendor: Vendor, tmp_path: Path) -> None:
    def script(body: Json, number: int) -> Reply:
        return Reply(body={"id": "x"}) if number == 1 else _echo(vendor)(body, number)

    async with running(vendor, tmp_path, script) as run:
        assert await run.ask() == ALL
    assert [len(batch.answers) for batch in run.server.batches] == [3, 1]


async def test_a_limit_of_requests_splits_a_run_over_batches(
    vendor: Vendor, tmp_path: Path
) -> None:
    async with running(vendor, tmp_path, _echo(vendor), most_requests=2) as run:
        assert await run.ask() == ALL
    assert [len(batch.answers) for batch in run.server.batches] == [2, 1]


async def test_a_limit_of_bytes_splits_a_run_and_holds_on_the_wire(
    vendor: Vendor, tmp_path: Path
) -> None:
    most = 730
    async with running(vendor, tmp_path, _echo(vendor), most_bytes=most) as run:
        run.names = [str(number) for number in range(20)]
        outcomes = await run.ask()
    assert outcomes == {name: f"an answer to: Solve ∑ {name}." for name in run.names}
    server = run.server
    if isinstance(server, OpenAIBatchServer):
        sizes = [len(form.body["file"]) for form in server.calls("POST", "/files")]
    else:
        sizes = [int(r.headers["content-length"]) for r in server.calls("POST", "/batches")]
    assert len(sizes) < 20, "more than one fits"
    assert all(most / 2 < size <= most for size in sizes[:-1])


@pytest.mark.thorough
async def test_a_batch_that_was_not_handed_in_before_a_crash_is_handed_in_first(
    vendor: Vendor, tmp_path: Path
) -> None:
    async with running(vendor, tmp_path, _echo(vendor), most_requests=2) as run:
        run.server.ended = False
        async with run.asking() as asking:
            reporter = asking.tell

            def stop_after_one(line: str) -> None:
                reporter(line)
                asking.stop()

            asking.tell = stop_after_one
            assert not await asking.ask_all()
        assert len(run.server.batches) == 1
        run.on_sleep = lambda: setattr(run.server, "ended", True)
        assert await run.ask() == ALL
    assert [len(batch.answers) for batch in run.server.batches] == [2, 1]


async def test_a_batch_that_was_made_without_a_word_is_found_and_not_made_again(
    vendor: Vendor, tmp_path: Path
) -> None:
    async with running(vendor, tmp_path, _echo(vendor)) as run:
        run.server.lost = 1
        assert await run.ask() == ALL
    assert len(run.server.batches) == 1
    assert len(run.server.calls("GET", "/batches")) == 1


async def test_a_batch_that_was_not_made_is_looked_for_and_made(
    vendor: Vendor, tmp_path: Path
) -> None:
    async with running(vendor, tmp_path, _echo(vendor)) as run:
        run.server.deaf = 1
        assert await run.ask() == ALL
    assert len(run.server.batches) == 1


async def test_an_orphan_of_a_crash_is_found_by_the_next_process(
    vendor: Vendor, tmp_path: Path
) -> None:
    async with running(vendor, tmp_path, _echo(vendor)) as run:
        # Other runs of the same size at the same time must not be taken for ours.
        for name in ("before", "after"):
            (tmp_path / name).mkdir()
        await Run(vendor, run.server, tmp_path / "before").ask()
        await run.ask()
        await Run(vendor, run.server, tmp_path / "after").ask()
        path = tmp_path / BATCHES
        lines = path.read_text().splitlines(keepends=True)
        assert [json.loads(line)["event"] for line in lines] == ["begun", "intent", "submitted"]
        path.write_text("".join(lines[:2]) + lines[2][:20])  # the crash tore the line
        assert await run.ask() == ALL
    assert len(run.server.batches) == 3
    assert run.lines()[-1]["batch_id"] == "batch_1"


async def test_an_intent_that_came_to_nothing_is_dropped(vendor: Vendor, tmp_path: Path) -> None:
    async with running(vendor, tmp_path, _echo(vendor)) as run:
        run.server.deaf = 3
        outcomes = await run.ask()
        assert "gave up after 3 attempts" in str(outcomes["a"])
        assert [line["event"] for line in run.lines()] == ["begun", "intent"]
        assert await run.ask() == ALL
    events = [line["event"] for line in run.lines()]
    assert events == ["begun", "intent", "dropped", "intent", "submitted"]


async def test_a_batch_whose_results_are_gone_is_not_paid_for_again(
    vendor: Vendor, tmp_path: Path
) -> None:
    async with running(vendor, tmp_path, _echo(vendor)) as run:
        await run.ask()
        run.server.batches.clear()
        for _ in range(2):  # nor when it is resumed again
            outcomes = await run.ask()
            assert "remove batches.jsonl" in str(outcomes["a"])
            assert not run.server.batches
        (tmp_path / BATCHES).unlink()
        assert await run.ask() == ALL


async def test_a_batch_that_may_be_read_with_another_key_is_not_called_gone(
    vendor: Vendor, tmp_path: Path
) -> None:
    async with running(vendor, tmp_path, _echo(vendor)) as run:
        await run.ask()
        answer = run.server.answer
        run.server.answer = lambda _request, _number: vendor.fail(401, "no such key")
        outcomes = await run.ask()
        assert str(outcomes["a"]) == "HTTP 401: no such key"
        run.server.answer = answer
        assert await run.ask() == ALL
    assert len(run.server.batches) == 1


async def test_an_ended_batch_without_files_is_not_paid_for_again(tmp_path: Path) -> None:
    vendor = VENDORS["responses"]
    async with running(vendor, tmp_path, _echo(vendor)) as run:
        server = run.server
        assert isinstance(server, OpenAIBatchServer)
        await run.ask()
        shown = server.shown
        server.shown = lambda batch: {**shown(batch), "output_file_id": None}
        assert "its files are gone" in str((await run.ask())["a"])
    assert len(server.batches) == 1


@for_each("name", ["responses", "chat"])
async def test_a_batch_that_failed_as_a_whole_says_why(name: str, tmp_path: Path) -> None:
    async with running(VENDORS[name], tmp_path, _echo(VENDORS[name])) as run:
        run.server.refusals = [("invalid_json_line", "This line is not parseable.")]
        outcomes = await run.ask()
        assert str(outcomes["a"]) == (
            "the batch failed: This line is not parseable. (line 1 of its file)"
        )
        assert len(run.server.batches) == 1
        assert await run.ask() == ALL


async def test_a_queue_that_is_full_is_tried_again(tmp_path: Path) -> None:
    vendor = VENDORS["responses"]
    async with running(vendor, tmp_path, _echo(vendor), most_requests=2) as run:
        run.server.refusals = [("token_limit_exceeded", "Enqueued token limit reached.")]
        assert await run.ask() == ALL
    assert [len(batch.answers) for batch in run.server.batches] == [0, 1, 2]


def _tearing(run: Run, torn: Callable[[list[bytes]], bytes]) -> None:
    """Change the results of the first batch before they are read."""
    server = run.server

    def tear() -> None:
        if isinstance(server, OpenAIBatchServer):
            (output,) = (name for name in server.files if name.startswith("output"))
            server.files[output] = torn(server.files[output].splitlines(keepends=True))
        else:
            answer = server.answer

            async def answer_torn(request: Recorded, number: int) -> Reply:
                reply = await answer(request, number)
                if request.path.endswith("batch_0/results"):
                    assert isinstance(reply.body, bytes)
                    lines = reply.body.splitlines(keepends=True)
                    reply = dataclasses.replace(reply, body=torn(lines))
                return reply

            server.answer = answer_torn
        server.ended = True

    server.ended = False
    run.on_sleep = lambda: None if server.ended else tear()


@pytest.mark.parametrize("place", [0, 1, 2])
async def test_a_line_that_is_torn_loses_no_other(
    vendor: Vendor, place: int, tmp_path: Path
) -> None:
    async with running(vendor, tmp_path, _echo(vendor)) as run:
        _tearing(
            run,
            lambda lines: b"".join(
                line[:30] + b"\n" if number == place else line for number, line in enumerate(lines)
            ),
        )
        assert await run.ask() == ALL
    assert [len(batch.answers) for batch in run.server.batches] == [3, 1]
    assert "batch batch_0: 1 line of its results cannot be read, left out" in run.told


async def test_a_last_line_that_stays_torn_is_left_out(vendor: Vendor, tmp_path: Path) -> None:
    async with running(vendor, tmp_path, _echo(vendor)) as run:
        _tearing(run, lambda lines: b"".join(lines)[:-30])
        assert await run.ask() == ALL
        files = ("batch_0/results", "output-batch_0/content")
        readings = [each for each in run.server.requests if each.path.endswith(files)]
    assert [len(batch.answers) for batch in run.server.batches] == [3, 1]
    assert len(readings) == 3


async def test_results_of_which_nothing_can_be_read_are_not_paid_for_again(
    vendor: Vendor, tmp_path: Path
) -> None:
    async with running(vendor, tmp_path, _echo(vendor)) as run:
        _tearing(run, lambda _lines: b"<html>\na gateway\n")
        outcomes = await run.ask()
        assert all("not JSON" in str(each) for each in outcomes.values())
    assert len(run.server.batches) == 1


async def test_an_endpoint_without_batches_says_so(vendor: Vendor, tmp_path: Path) -> None:
    async with running(vendor, tmp_path, _echo(vendor)) as run:
        run.server.serves = lambda _method, _path: False
        outcomes = await run.ask()
    assert str(outcomes["a"]).startswith("HTTP 404: no POST")
    assert [line["event"] for line in run.lines()] == ["begun", "intent", "dropped", "given_up"]


async def test_settings_are_those_of_a_single_request() -> None:
    client = OpenAIBatches("m", url=CHAT_COMPLETIONS, base_url="http://h/v1", api_key=KEY)
    body = client.body(Run.messages("a"), ModelSettings(temperature=0.5, max_tokens=9))
    assert (body["temperature"], body["max_tokens"]) == (0.5, 9)
    await client.close()
    client = OpenAIBatches(
        "m", url=CHAT_COMPLETIONS, base_url="https://api.openai.com/v1", api_key=KEY
    )
    assert client.body(Run.messages("a"), ModelSettings(max_tokens=9))["max_completion_tokens"] == 9
    await client.close()


def test_a_custom_id_is_one_that_both_vendors_take_and_names_run_sample_and_body() -> None:
    given = [
        ("r", "livecodebench/abc_d#0", {"a": 1}),
        ("s", "livecodebench/abc_d#0", {"a": 1}),
        ("r", "livecodebench/abc-d#0", {"a": 1}),
        ("r", "livecodebench/abc_d#0", {"a": 2}),
        ("r", "x" * 300 + "ü\ud800", {"a": 2}),
    ]
    ids = [custom_id(*each) for each in given]
    assert len(set(ids)) == len(ids)
    for name in ids:
        assert len(name) <= 64
        assert set(name) <= set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-")
