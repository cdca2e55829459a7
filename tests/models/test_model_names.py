import subprocess
import sys

import pytest
from chat_server import ChatServer, completion, failure, in_turn
from for_each import for_each

from harness.errors import UsageError
from harness.models.clients.anthropic_messages import AnthropicMessages
from harness.models.clients.openai_chat import OpenAIChat
from harness.models.clients.openai_responses import OpenAIResponses
from harness.models.environment import Environment
from harness.models.function import FunctionModel
from harness.models.protocol import Model, ModelError, ModelSettings, UserMessage
from harness.run.plan.target import resolve_target, server_of
from harness.run.settings.spec import RunSpec, read_spec

KEY = {"OPENAI_API_KEY": "sk-abcdefghijkl"}


def opened(
    name: str,
    base_url: str | None = None,
    temperature: float | None = None,
    **environ: str,
) -> Model:
    place = Environment(environ, hub_token=lambda: None)
    spec = RunSpec(base_url=base_url, temperature=temperature)
    return server_of(name, spec, place).open()


async def hear(model: Model) -> None:
    try:
        await model.generate([UserMessage(content="hi")], [], ModelSettings())
    finally:
        await model.close()


@for_each("name", ["gpt-5", "claude-x", "org/model", "openai/gpt-5", "weird name"])
async def test_a_base_url_takes_any_model_name_untouched(name: str) -> None:
    async with ChatServer(in_turn(completion("hi"))) as server:
        model = opened(name, server.base_url)
        assert model.name == name
        await hear(model)
    (request,) = server.requests
    assert request.body["model"] == name
    assert request.headers["authorization"] == "Bearer none"


@for_each(
    ("key", "sent"), [("sk-abcdefghijkl", "sk-abcdefghijkl"), (" sk-x \n", "sk-x"), ("", "none")]
)
async def test_an_endpoint_in_openais_variable_gets_its_key(key: str, sent: str) -> None:
    async with ChatServer(in_turn(completion("hi"))) as server:
        await hear(opened("m", OPENAI_BASE_URL=server.base_url, OPENAI_API_KEY=key))
    assert server.requests[0].headers["authorization"] == f"Bearer {sent}"


async def test_the_argument_wins_over_the_address_in_the_environment() -> None:
    async with ChatServer(in_turn(completion("hi"))) as server:
        await hear(opened("m", server.base_url, OPENAI_BASE_URL="http://127.0.0.1:9/v1"))
    assert len(server.requests) == 1


async def test_ollama_is_asked_where_it_is_and_without_a_key() -> None:
    async with ChatServer(in_turn(completion("hi"))) as server:
        await hear(
            opened("ollama/qwen3:8b", OLLAMA_HOST=server.base_url.removesuffix("/v1"), **KEY)
        )
    (request,) = server.requests
    assert request.body["model"] == "qwen3:8b"
    assert request.headers["authorization"] == "Bearer none"


async def test_ollama_behind_a_password_gets_it_and_is_not_quoted_on_it() -> None:
    async with ChatServer(in_turn(failure(400, "no passw0rd of me"))) as server:
        host = server.base_url.removesuffix("/v1").replace("//", "//me:passw0rd@")
        with pytest.raises(ModelError, match="no ") as caught:
            await hear(opened("ollama/qwen3:8b", OLLAMA_HOST=host))
    assert server.requests[0].headers["authorization"].startswith("Basic ")
    assert "passw0rd" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "environ", "client", "address"),
    [
        ("gpt-5", KEY, OpenAIResponses, "https://api.openai.com/v1/"),
        ("openai-chat/gpt-5", KEY, OpenAIChat, "https://api.openai.com/v1/"),
        ("gpt-4o", KEY, OpenAIChat, "https://api.openai.com/v1/"),
        ("org/model", {"HF_TOKEN": "hf_x"}, OpenAIChat, "https://router.huggingface.co/v1/"),
        (
            "gemini-3",
            {"GEMINI_API_KEY": "AIx"},
            OpenAIChat,
            "https://generativelanguage.googleapis.com/v1beta/openai/",
        ),
        (
            "claude-x",
            {"ANTHROPIC_API_KEY": "sk-ant"},
            AnthropicMessages,
            "https://api.anthropic.com",
        ),
    ],
)
async def test_each_provider_is_asked_by_its_client_with_its_key(
    name: str, environ: dict[str, str], client: type, address: str
) -> None:
    model = opened(name, **environ)
    assert type(model) is client
    assert model.name == name
    sdk = vars(model)["_client"]
    assert str(sdk.base_url) == address
    assert sdk.api_key == next(iter(environ.values()))
    await model.close()


@for_each(
    ("name", "variable"),
    [
        ("gpt-5", "OPENAI_API_KEY"),
        ("openai-chat/gpt-5", "OPENAI_API_KEY"),
        ("claude-x", "ANTHROPIC_API_KEY"),
        ("gemini-3", "GEMINI_API_KEY"),
        ("org/model", "HF_TOKEN"),
    ],
)
def test_a_provider_needs_its_key(name: str, variable: str) -> None:
    with pytest.raises(UsageError, match=variable) as caught:
        opened(name, **{variable: " "})
    assert "\n" not in str(caught.value)
    assert "--base-url" in str(caught.value)


@for_each("url", ["localhost:8000", "ftp://x/v1", "http://", "http://h:99999/v1", "http://[x/v1"])
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="base URL"):
        opened("m", url)
    with pytest.raises(UsageError, match="base URL"):
        opened("m", OPENAI_BASE_URL=url)


@for_each("name", ["", " "])
def test_an_empty_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="empty"):
        opened(name, "http://h/v1")


def test_a_setting_that_a_provider_does_not_take_is_refused() -> None:
    with pytest.raises(UsageError, match=r"'claude-x'.*temperature"):
        opened("claude-x", temperature=0.5, ANTHROPIC_API_KEY="sk-ant")


async def test_a_setting_is_taken_where_a_base_url_sets_another_protocol() -> None:
    model = opened("claude-x", "http://h/v1", 0.5)
    assert isinstance(model, OpenAIChat)
    await model.close()


def test_a_function_is_opened_whatever_the_environment_says() -> None:
    environ = {**KEY, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    spec = read_spec(None, {"model": "python:json:loads"})
    model = resolve_target(spec, environ).open()
    assert isinstance(model, FunctionModel)
    assert model.name == "python:json:loads"


@pytest.mark.thorough
def test_the_sdks_are_not_imported_before_they_are_needed() -> None:
    program = (
        "import sys, harness.models.route, harness.models.servers\n"
        "import harness.models.scripted\n"
        "import harness.models.clients.openai_chat, harness.models.clients.openai_responses\n"
        "import harness.models.clients.anthropic_messages, harness.features.info.models\n"
        "heavy = {'openai', 'anthropic', 'httpx2', 'anyio', 'huggingface_hub', 'dotenv'}\n"
        "sys.exit(bool(heavy & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
