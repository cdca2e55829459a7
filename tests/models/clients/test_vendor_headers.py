"""Headers of the environment: for the vendor's own host, and for nobody else."""

import os
from types import MappingProxyType

import pytest
from chat_server import ChatServer, completion, failure, in_turn
from for_each import for_each
from messages_server import MessagesServer, message
from responses_server import ResponsesServer, response, said

from harness.errors import UsageError
from harness.features.batch.run import batch_route, open_batches
from harness.models import environment as rooms
from harness.models.environment import (
    ANTHROPIC_HOST,
    OPENAI_HOST,
    VARIABLES,
    Environment,
    vendor_headers,
)
from harness.models.protocol import Model, ModelError, ModelSettings, UserMessage
from harness.models.providers import is_at
from harness.models.route import resolve
from harness.run.plan.target import server_of
from harness.run.settings.spec import RunSpec

OPENAI = {
    "OPENAI_CUSTOM_HEADERS": "x-gate: SECRET-gate-1\nno colon here\n X-Two :SECRET-two-2",
    "OPENAI_ORG_ID": "org-SECRET-3",
    "OPENAI_PROJECT_ID": "proj-SECRET-4",
}
ANTHROPIC = {"ANTHROPIC_CUSTOM_HEADERS": "x-gate: SECRET-gate-5"}
SENT = {
    "x-gate": "SECRET-gate-1",
    "x-two": "SECRET-two-2",
    "openai-organization": "org-SECRET-3",
    "openai-project": "proj-SECRET-4",
}


class Anywhere(ChatServer):
    """Has something at every path."""

    def serves(self, method: str, path: str) -> bool:
        return bool(method and path)


@pytest.fixture
def environ(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The process's environment, as the SDKs would read it."""
    for name, value in (OPENAI | ANTHROPIC).items():
        monkeypatch.setenv(name, value)
    return {**OPENAI, **ANTHROPIC}


@pytest.fixture
def vendor_is_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands for the vendors' hosts stands for this machine's."""
    everything = tuple(name for names in VARIABLES.values() for name in names)
    monkeypatch.setattr(rooms, "VARIABLES", MappingProxyType({"127.0.0.1": everything}))


def opened(name: str, base_url: str | None = None, **environ: str) -> Model:
    place = Environment(environ, hub_token=lambda: None)
    return server_of(name, RunSpec(base_url=base_url), place).open()


async def hear(model: Model) -> None:
    try:
        await model.generate([UserMessage(content="hi")], [], ModelSettings())
    finally:
        await model.close()


class TestNobodyElse:
    async def test_vendor_headers_are_not_sent_to_another_chat_endpoint(
        self, environ: dict[str, str]
    ) -> None:
        async with ChatServer(in_turn(completion("hi"))) as server:
            await hear(opened("m", server.base_url, **environ))
            await hear(opened("ollama/m", OLLAMA_HOST=server.base_url[:-3], **environ))
        assert len(server.requests) == 2
        assert not any("SECRET" in str(request.headers) for request in server.requests)
        assert not SENT.keys() & server.requests[0].headers.keys()

    async def test_vendor_headers_are_not_sent_to_another_responses_endpoint(
        self, environ: dict[str, str]
    ) -> None:
        from harness.models.clients.openai_responses import OpenAIResponses

        del environ
        async with ResponsesServer(in_turn(response(said("hi")))) as server:
            await hear(OpenAIResponses("m", model="m", base_url=server.base_url, api_key="k"))
        assert "SECRET" not in str(server.requests[0].headers)

    async def test_vendor_headers_are_not_sent_to_another_messages_endpoint(
        self, environ: dict[str, str]
    ) -> None:
        async with MessagesServer(in_turn(message("hi"))) as server:
            place = {"ANTHROPIC_BASE_URL": server.base_url, "ANTHROPIC_API_KEY": "k"}
            await hear(opened("claude-x", **place, **environ))
        assert "SECRET" not in str(server.requests[0].headers)

    @pytest.mark.parametrize("name", ["m", "claude-x"])
    async def test_vendor_headers_are_not_sent_to_another_batch_endpoint(
        self, name: str, environ: dict[str, str]
    ) -> None:
        async with Anywhere(in_turn(failure(400))) as server:
            place = {"ANTHROPIC_BASE_URL": server.base_url, "ANTHROPIC_API_KEY": "k"}
            url = None if name == "claude-x" else server.base_url
            known = Environment(place | environ, hub_token=lambda: None)
            route = resolve(name, base_url=url, environment=known)
            batches = open_batches(batch_route(name, route))
            with pytest.raises(ModelError):
                await batches.state("batch_1")
            await batches.close()
        assert len(server.requests) == 1
        assert "SECRET" not in str(server.requests[0].headers)

    def test_the_environment_stays_as_it_was(self, environ: dict[str, str]) -> None:
        before = dict(os.environ)
        opened("m", "http://127.0.0.1:9/v1", **environ)
        assert dict(os.environ) == before


@pytest.mark.usefixtures("vendor_is_here")
class TestVendor:
    async def test_openai_is_sent_its_vendor_headers(self) -> None:
        async with ChatServer(in_turn(completion("hi"))) as server:
            await hear(opened("m", server.base_url, **OPENAI))
        headers = server.requests[0].headers
        assert {name: headers[name] for name in SENT} == SENT

    async def test_openai_s_batch_endpoint_is_sent_its_vendor_headers(self) -> None:
        async with Anywhere(in_turn(failure(400))) as server:
            known = Environment(OPENAI, hub_token=lambda: None)
            route = resolve("m", base_url=server.base_url, environment=known)
            batches = open_batches(batch_route("m", route))
            with pytest.raises(ModelError):
                await batches.state("batch_1")
            await batches.close()
        headers = server.requests[0].headers
        assert {name: headers[name] for name in SENT} == SENT

    async def test_anthropic_is_sent_its_vendor_headers(self) -> None:
        async with MessagesServer(in_turn(message("hi"))) as server:
            place = {"ANTHROPIC_BASE_URL": server.base_url, "ANTHROPIC_API_KEY": "k"}
            await hear(opened("claude-x", **place, **ANTHROPIC))
        assert server.requests[0].headers["x-gate"] == "SECRET-gate-5"

    async def test_what_it_says_again_is_masked(self) -> None:
        header_values = " and ".join(SENT.values())
        async with ChatServer(in_turn(failure(400, f"bad: {header_values}"))) as server:
            with pytest.raises(ModelError, match="bad: ") as caught:
                await hear(opened("m", server.base_url, **OPENAI))
        assert "SECRET" not in str(caught.value)
        assert str(caught.value).count("[redacted]") == len(SENT)

    @for_each("value", ["x gate: SECRET", ": SECRET", "x-gate: SECRÉT", "x-gate: SECRET\x07"])
    def test_what_no_header_can_carry_is_refused_unseen(self, value: str) -> None:
        with pytest.raises(UsageError, match="OPENAI_CUSTOM_HEADERS \\(environment\\)") as caught:
            opened("m", "http://127.0.0.1:9/v1", OPENAI_CUSTOM_HEADERS=value)
        assert "SECR" not in str(caught.value)


@for_each(
    ("url", "host"),
    [
        ("https://api.openai.com/v1", OPENAI_HOST),
        ("https://eu.api.openai.com/v1", OPENAI_HOST),
        ("https://user:pw@api.openai.com:443/v1", OPENAI_HOST),
        ("https://api.anthropic.com", ANTHROPIC_HOST),
    ],
)
def test_addresses_that_are_a_vendor_s_own(url: str, host: str) -> None:
    assert is_at(url, host)
    known = Environment(OPENAI | ANTHROPIC, hub_token=lambda: None)
    headers = vendor_headers(url, known)
    assert [each.variable for each in headers] == list(VARIABLES[host])


@for_each(
    "url",
    [
        "https://api.openai.com.evil.example/v1",
        "https://notapi.openai.com/v1",
        "https://api.openai.com@evil.example/v1",
        "https://evil.example/api.openai.com",
        "http://127.0.0.1:11434/v1",
        "https://router.huggingface.co/v1",
    ],
)
def test_addresses_that_are_not_a_vendor_s_own(url: str) -> None:
    known = Environment(OPENAI | ANTHROPIC, hub_token=lambda: None)
    assert vendor_headers(url, known) == ()


def test_each_vendors_names_bring_its_own() -> None:
    known = Environment(OPENAI | ANTHROPIC, hub_token=lambda: None)
    brought = {
        name: [each.variable for each in resolve(name, base_url=None, environment=known).headers]
        for name in ("gpt-5", "gpt-4o", "claude-x", "gemini-3", "org/model", "ollama/m")
    }
    assert brought == {
        "gpt-5": list(OPENAI),
        "gpt-4o": list(OPENAI),
        "claude-x": list(ANTHROPIC),
        "gemini-3": [],
        "org/model": [],
        "ollama/m": [],
    }
