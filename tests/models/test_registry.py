import subprocess
import sys
from typing import Any

import pytest
from chat_server import ChatServer, completion, in_turn

from harness.errors import UsageError
from harness.models.function import FunctionModel
from harness.models.openai_chat import OpenAIChat
from harness.models.protocol import Model, ModelSettings, UserMessage
from harness.models.registry import open_model

KEY = {"OPENAI_API_KEY": "sk-abcdefghijkl"}


async def hear(model: Model) -> None:
    await model.generate([UserMessage(content="hi")], [], ModelSettings())
    await model.close()


@pytest.mark.parametrize("name", ["gpt-5", "claude-x", "org/model", "openai/gpt-5", "weird name"])
async def test_with_a_base_url_any_name_goes_there_untouched(name: str) -> None:
    async with ChatServer(in_turn(completion("hi"))) as server:
        model = open_model(name, base_url=server.base_url, api_key=None, environ={})
        assert model.name == name
        await hear(model)
    (request,) = server.requests
    assert request.body["model"] == name
    assert request.headers["authorization"] == "Bearer none"


@pytest.mark.parametrize(
    ("given", "environ", "sent"),
    [
        (None, KEY, "sk-abcdefghijkl"),
        ("sk-given", KEY, "sk-given"),
        (None, {"OPENAI_API_KEY": " sk-x \n"}, "sk-x"),
        (None, {"OPENAI_API_KEY": ""}, "none"),
    ],
)
async def test_the_key_comes_from_the_argument_or_the_environment(
    given: str | None, environ: dict[str, str], sent: str
) -> None:
    async with ChatServer(in_turn(completion("hi"))) as server:
        place = {"OPENAI_BASE_URL": server.base_url}
        await hear(open_model("m", base_url=None, api_key=given, environ={**environ, **place}))
    assert server.requests[0].headers["authorization"] == f"Bearer {sent}"


async def test_the_argument_wins_over_the_address_in_the_environment() -> None:
    async with ChatServer(in_turn(completion("hi"))) as server:
        place = {"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
        await hear(open_model("m", base_url=server.base_url, api_key=None, environ=place))
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("name", "sent"),
    [
        ("gpt-5-mini", "gpt-5-mini"),
        ("o1-preview", "o1-preview"),
        ("o3-mini", "o3-mini"),
        ("o4-mini", "o4-mini"),
        ("o3", "o3"),
        ("chatgpt-latest", "chatgpt-latest"),
        ("openai/gpt-5", "gpt-5"),
    ],
)
async def test_the_vendors_names_go_to_the_vendor(name: str, sent: str) -> None:
    model = open_model(name, base_url=None, api_key=None, environ=KEY)
    assert isinstance(model, OpenAIChat)
    assert (model.name, model._model) == (name, sent)
    assert str(model._client.base_url) == "https://api.openai.com/v1/"
    await model.close()


@pytest.mark.parametrize("environ", [{}, {"OPENAI_API_KEY": " "}])
def test_the_vendor_needs_a_key(environ: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="OPENAI_API_KEY"):
        open_model("gpt-5", base_url=None, api_key=None, environ=environ)


@pytest.mark.parametrize("name", ["claude-4", "gemini-3", "org/model", "gpt", "gptx", "llama"])
def test_another_providers_name_needs_a_base_url(name: str) -> None:
    with pytest.raises(UsageError, match="--base-url"):
        open_model(name, base_url=None, api_key=None, environ=KEY)


@pytest.mark.parametrize(
    "url", ["localhost:8000", "ftp://x/v1", "http://", "http://h:99999/v1", "http://[x/v1"]
)
def test_an_address_that_is_none_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="base URL"):
        open_model("m", base_url=url, api_key=None, environ={})


@pytest.mark.parametrize("key", ["sk-a\nb", "sk-ä"])
def test_a_key_with_impossible_characters_is_refused_unseen(key: str) -> None:
    with pytest.raises(UsageError, match="OPENAI_API_KEY") as caught:
        open_model("gpt-5", base_url=None, api_key=None, environ={"OPENAI_API_KEY": key})
    assert key not in str(caught.value)


def test_an_empty_name_is_refused() -> None:
    with pytest.raises(UsageError, match="empty"):
        open_model(" ", base_url="http://h/v1", api_key=None, environ={})


def test_a_function_is_opened_whatever_the_environment_says() -> None:
    environ = {**KEY, "OPENAI_BASE_URL": "http://127.0.0.1:9/v1"}
    model: Any = open_model(
        "python:colorsys:rgb_to_hsv", base_url=None, api_key=None, environ=environ
    )
    assert isinstance(model, FunctionModel)
    assert model.name == "python:colorsys:rgb_to_hsv"


def test_the_sdk_is_not_imported_before_it_is_needed() -> None:
    program = (
        "import sys, harness.models.registry, harness.models.function, harness.models.replay\n"
        "import harness.models.openai_chat\n"
        "sys.exit(bool({'openai', 'httpx2', 'anyio'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
