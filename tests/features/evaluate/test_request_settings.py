"""Protocols, keys, headers and settings of requests, as the provider's side sees them."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, Reply, completion, failure, in_turn, tool_call
from for_each import for_each
from messages_server import MessagesServer, message
from program import harness, results, run
from responses_server import ResponsesServer, response, said

from harness import evaluate
from harness.agent.events import SampleStart
from harness.errors import UsageError
from harness.models.scripted import ScriptedModel
from harness.run.plan.target import price_of, resolve_target
from harness.run.settings.spec import RunSpec, read_spec
from harness.run.store.transcript import read_events

pytestmark = pytest.mark.usefixtures("kept_sandbox")

SOLVE = "```python\nimport sys\nprint(sys.stdin.read())\n```"
PROBLEM = ("-b", "fixture", "-n", "1", "-m", "served", "--out", "r")
SERVERS: dict[str, tuple[type[ChatServer], Any]] = {
    "chat": (ChatServer, completion(SOLVE)),
    "responses": (ResponsesServer, response(said(SOLVE))),
    "messages": (MessagesServer, message(SOLVE)),
}


async def asked(folder: Path, api: str, *flags: str, **env: str) -> tuple[ChatServer, str]:
    """A run of one request at a server of a protocol; what it said on stderr."""
    server, answer = SERVERS[api]
    async with server(in_turn(answer)) as there:
        place = ("--base-url", there.base_url, "--api", api)
        code, _, err = await run(folder, "run", *PROBLEM, *place, *flags, **env)
    assert code == 0, err
    assert len(there.requests) == 1
    return there, err


def spec(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "r" / "run.json").read_text())["spec"]


def events(folder: Path, kind: str) -> list[dict[str, Any]]:
    return [
        event
        for file in (folder / "r" / "transcripts").iterdir()
        for line in file.read_text().splitlines()
        if (event := json.loads(line))["event"] == kind
    ]


# Protocols


@pytest.mark.thorough
async def test_a_run_goes_on_by_the_protocol_it_began_with(tmp_path: Path) -> None:
    await asked(tmp_path, "responses")
    done = harness(tmp_path, "run", "--resume", "r", "--api", "chat")
    assert done.returncode == 2
    assert "--api" in done.stderr
    async with ResponsesServer(in_turn(response(said(SOLVE)))) as server:
        flags = ["--resume", "r", "-n", "2", "--base-url", server.base_url]
        code, _, err = await run(tmp_path, "run", *flags)
    assert code == 0, err
    assert len(server.requests) == 1


# Settings

WHOLE = {"top_p": 0.9, "service_tier": "flex", "max_tokens": 77}
OF_CHAT = {
    **WHOLE,
    "temperature": 0.5,
    "top_k": 20,
    "min_p": 0.05,
    "model_seed": 7,
    "stop": ["END", "\n\n"],
    "frequency_penalty": 0.25,
    "presence_penalty": -0.5,
    "extra_body": {"chat_template_kwargs": {"enable_thinking": False}},
}
SENT: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "chat": (
        OF_CHAT,
        {
            **{k: v for k, v in OF_CHAT.items() if k not in {"model_seed", "extra_body"}},
            "seed": 7,
            "chat_template_kwargs": {"enable_thinking": False},
        },
    ),
    "responses": (
        {
            **WHOLE,
            "temperature": 0.5,
            "reasoning_effort": "low",
            "extra_body": {"reasoning": {"summary": "auto"}, "truncation": "auto"},
        },
        {
            "top_p": 0.9,
            "service_tier": "flex",
            "max_output_tokens": 77,
            "temperature": 0.5,
            "reasoning": {"effort": "low", "summary": "auto"},
            "truncation": "auto",
        },
    ),
    "messages": (
        {
            "stop": ["END"],
            "service_tier": "standard_only",
            "max_tokens": 77,
            "extra_body": {"metadata": {"user_id": "me"}, "inference_geo": "eu"},
        },
        {
            "stop_sequences": ["END"],
            "service_tier": "standard_only",
            "max_tokens": 77,
            "metadata": {"user_id": "me"},
            "inference_geo": "eu",
        },
    ),
}
OWN = {"model", "messages", "input", "system", "tools", "store", "include"}
PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}


def flags_of(settings: dict[str, Any]) -> list[str]:
    """The arguments that set some keys."""
    flags: list[str] = []
    for key, value in settings.items():
        for each in value if isinstance(value, list) else [value]:
            text = json.dumps(each) if isinstance(each, dict) else str(each)
            flags += ["--set", f"{key}={text}"]
    return flags


@for_each("api", SENT)
async def test_each_protocol_is_spoken_with_every_setting_of_it(api: str, tmp_path: Path) -> None:
    settings, sent = SENT[api]
    server, _ = await asked(tmp_path, api, *flags_of(settings))
    assert server.requests[0].path == PATHS[api]
    assert spec(tmp_path)["api"] == api
    assert len(results(tmp_path / "r")) == 1
    body = server.requests[0].body
    assert {key: body[key] for key in body if key not in OWN} == sent
    assert {key: spec(tmp_path)[key] for key in settings} == settings
    (transcript,) = (tmp_path / "r" / "transcripts").iterdir()
    start = next(read_events(transcript))
    assert isinstance(start, SampleStart)
    assert start.settings == settings


@for_each("api", SENT)
def test_a_setting_that_a_protocol_lacks_is_refused_before_problems_are_read(
    api: str, tmp_path: Path
) -> None:
    settings = {**OF_CHAT, "stop": ["END"]}
    lacking = sorted(settings.keys() - SENT[api][0].keys())
    place = {"model": "m", "api": api, "base_url": "http://127.0.0.1:9/v1"}
    for key in lacking:
        with pytest.raises(UsageError, match=f"takes no {key}"):
            evaluate(**place, benchmark="jsonl:no-such-file.jsonl", **{key: settings[key]})
    for key in lacking[:1]:
        given = ["-b", "jsonl:no-such-file.jsonl", *flags_of({**place, key: settings[key]})]
        done = harness(tmp_path, "run", *given)
        assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
        assert f"takes no {key}" in done.stderr


@for_each(
    ("model", "key"),
    [("gpt-4o", "top_k"), ("gemini-3", "min_p"), ("ollama/m", "top_k"), ("ollama/m", "min_p")],
)
def test_a_setting_that_a_provider_lacks_is_refused(model: str, key: str, tmp_path: Path) -> None:
    done = harness(tmp_path, "models", model, "--set", f"{key}=1")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert f"takes no {key}" in done.stderr


@for_each(
    ("flags", "reason"),
    [
        (["--extra-body", "{"], "--extra-body: give a JSON object"),
        (["--extra-body", "[1]"], "--extra-body: give a JSON object"),
        (["--extra-body", '{"model": "other"}'], "'model' is set by the harness"),
        (["--extra-body", '{"n": 4}'], "'n' is set by the harness"),
        (["--top-p", "0.5", "--extra-body", '{"top_p": 1}'], "'top_p' is in the request already"),
        (["--top-p", "1.5"], "--top-p"),
        (["--set", "stop="], "--set stop=: give stop=VALUE. A text that ends an answer"),
        (["--set", "service_tier="], "--set service_tier"),
        (["--set", "sampling_preset=magic"], "--set sampling_preset"),
        (["--api", "soap"], "--api"),
        (["--api-key-env", "a-planted-key"], "--api-key-env"),
        (["--api-key-env", "NOT_THERE"], "needs NOT_THERE"),
        (["--header", "no planted name: x"], "--header: give NAME:VALUE"),
        (["--header", "X-Key: "], "--header: give NAME:VALUE"),
        (["--header", "X-Key"], "--header X-Key: the value is missing"),
        (["--header", "X-Key: $NOT_THERE"], "the variable NOT_THERE is not set"),
        (["--header", "Host: planted"], "the header Host is set by the harness"),
        (["--header", "X-Key: plänted"], "--header: give NAME:VALUE"),
    ],
)
def test_what_cannot_be_sent_is_refused_in_one_line(
    flags: list[str], reason: str, tmp_path: Path
) -> None:
    place = ["-b", "jsonl:no-such-file.jsonl", "-m", "m", "--base-url", "http://127.0.0.1:9/v1"]
    done = harness(tmp_path, "run", *place, *flags)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert reason in done.stderr
    assert "planted" not in done.stderr


@for_each(
    ("model", "flags"),
    [
        ("replay:bundled", ["--top-p", "0.5"]),
        ("replay:bundled", ["--temperature", "0.5"]),
        ("replay:bundled", ["--header", "X-Key: planted"]),
        ("replay:bundled", ["--base-url", "http://127.0.0.1:9/v1"]),
        ("python:json:loads", ["--api", "chat"]),
        ("python:json:loads", ["--base-url", "http://127.0.0.1:9/v1"]),
        ("references", ["--set model_seed=1"]),
    ],
)
def test_a_request_setting_for_a_model_without_requests_is_refused(
    model: str, flags: list[str], tmp_path: Path
) -> None:
    words = flags[0].split() + flags[1:]
    done = harness(tmp_path, "run", "-b", "fixture", "-m", model, *words)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert (
        f"{flags[0].partition('=')[0]}: harness sends no request to model '{model}'" in done.stderr
    )


@for_each("key", [{"api": "chat"}, {"header": {"X-Key": "v"}}, {"api_key_env": "K"}])
def test_a_request_setting_for_a_function_is_refused_in_python(key: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="harness sends no request to model 'python:"):
        evaluate(lambda _: "", benchmark="fixture", limit=1, **key)


@for_each(
    "key",
    [
        {"temperature": 0.0},
        {"top_p": 0.9},
        {"model_seed": 1},
        {"max_tokens": 100},
        {"stop": ["END"]},
        {"sampling_preset": "livecodebench"},
        {"request_timeout": 3},
        {"idle_timeout": 3},
        {"retry_timeout": 3},
        {"outage_timeout": 3},
        {"request_timeout": 3, "mode": "best_of_k_public"},
    ],
)
def test_a_function_is_told_no_settings_so_they_are_refused(key: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="is a function, which receives no settings") as caught:
        evaluate(lambda _: "", benchmark="fixture", limit=1, **key)
    assert "\n" not in str(caught.value)


def test_a_function_sees_no_prompt_so_it_is_refused() -> None:
    with pytest.raises(UsageError, match=r"evaluate\(\): prompt: .* which receives no prompt"):
        evaluate(lambda _: "", benchmark="fixture", limit=1, prompt="terse")


@for_each(
    "keys",
    [
        {"mode": "agentic"},
        {"mode": "self_repair"},
        {"mode": "agentic", "submit_tool": True, "show_budget": True, "max_tool_calls": 3},
    ],
)
def test_a_function_answers_no_conversation(keys: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="which gets the problem and no messages") as caught:
        evaluate(lambda _: "", benchmark="fixture", limit=1, **keys)
    assert str(caught.value).startswith(f"evaluate(): mode {keys['mode']}: model 'python:")
    assert "use mode single_shot or best_of_k_public" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.thorough
def test_a_function_answers_modes_without_a_conversation() -> None:
    for mode in ("single_shot", "best_of_k_public"):
        assert evaluate(lambda _: "x", benchmark="fixture", limit=1, mode=mode)["graded"] == 1


def test_a_function_in_agentic_mode_is_refused_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def solve(problem): return ''\n")
    flags = ["-b", "fixture", "-m", "python:mine:solve", "--agentic-mode", "--dry-run"]
    done = harness(tmp_path, "run", *flags)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert "--mode agentic: model 'python:mine:solve' is a function" in done.stderr


def test_a_request_setting_for_a_function_is_refused_on_the_command_line(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text("def solve(problem): return ''\n")
    flags = ["-b", "fixture", "-m", "python:mine:solve", "--temperature", "0.5", "--dry-run"]
    done = harness(tmp_path, "run", *flags)
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1), done.stderr
    assert "--temperature: model 'python:mine:solve' is a function" in done.stderr


def test_an_object_with_the_methods_of_a_model_may_heed_them() -> None:
    own = ScriptedModel([SOLVE])
    evaluate(own, benchmark="fixture", limit=1, temperature=0.5, run_tests=False)
    assert [each.settings.temperature for each in own.asked] == [0.5]


async def test_a_preset_gives_what_is_not_given_otherwise(tmp_path: Path) -> None:
    flags = ["--set", "sampling_preset=livecodebench", "-k", "1"]
    server, _ = await asked(tmp_path, "chat", *flags)
    body = server.requests[0].body
    assert (body["temperature"], body["top_p"]) == (0.2, 0.95)
    kept = spec(tmp_path)
    assert (kept["temperature"], kept["top_p"], kept["samples_per_problem"]) == (0.2, 0.95, 1)
    assert RunSpec(sampling_preset="livecodebench").samples_per_problem == 10
    assert RunSpec.model_validate(kept) == RunSpec.model_validate({**kept, "sampling_preset": None})


def test_settings_stand_in_files_as_in_python(tmp_path: Path) -> None:
    (tmp_path / "spec.yaml").write_text(
        "top_k: 20\nstop: END\nheader: {X-Team: blue}\n"
        "extra_body: {chat_template_kwargs: {enable_thinking: false}}\n"
    )
    read = read_spec(tmp_path / "spec.yaml", {})
    assert (read.top_k, read.stop, read.header) == (20, ("END",), ("X-Team: blue",))
    assert read.extra_body == {"chat_template_kwargs": {"enable_thinking": False}}


# Keys and headers

HEADERS = ["--header", "X-Secret: planted-value", "--header", "X-Gate: $GATE_KEY"]


async def test_headers_are_sent_and_their_values_kept_nowhere(tmp_path: Path) -> None:
    server, err = await asked(tmp_path, "chat", *HEADERS, GATE_KEY="planted-gate")
    sent = server.requests[0].headers
    assert (sent["x-secret"], sent["x-gate"]) == ("planted-value", "planted-gate")
    assert spec(tmp_path)["header"] == ["X-Secret", "X-Gate: $GATE_KEY"]
    kept = [path.read_text() for path in (tmp_path / "r").rglob("*") if path.is_file()]
    assert "planted" not in "".join([err, *kept])


async def test_a_provider_that_repeats_a_header_is_not_quoted_on_it(tmp_path: Path) -> None:
    async with ChatServer(in_turn(failure(400, "bad header planted-value"))) as server:
        flags = ["--base-url", server.base_url, *HEADERS[:2]]
        code, out, err = await run(tmp_path, "run", *PROBLEM, *flags)
    assert code == 4
    kept = [path.read_text() for path in (tmp_path / "r").rglob("*") if path.is_file()]
    assert "bad header [redacted]" in err
    assert "planted" not in "".join([out, err, *kept])


@pytest.mark.thorough
async def test_a_run_goes_on_with_the_headers_it_began_with(tmp_path: Path) -> None:
    await asked(tmp_path, "chat", *HEADERS, GATE_KEY="planted-gate")
    more = ["run", "--resume", "r", "-n", "2"]
    done = harness(tmp_path, *more, GATE_KEY="planted-gate")
    assert done.returncode == 2
    assert "--header X-Secret: the value is missing; no run keeps it" in done.stderr
    other = harness(tmp_path, *more, "--header", "X-Other: 1")
    assert "was not asked with the same headers (x-gate, x-other, x-secret)" in other.stderr
    async with ChatServer(in_turn(completion(SOLVE))) as server:
        again = [*more, *HEADERS, "--base-url", server.base_url]
        code, _, err = await run(tmp_path, *again, GATE_KEY="planted-new")
    assert code == 0, err
    assert server.requests[0].headers["x-gate"] == "planted-new"


@for_each(
    ("env", "flags", "sent", "notice"),
    [
        ({"OPENAI_API_KEY": "sk-planted"}, [], "Bearer sk-planted", True),
        (
            {"OPENAI_API_KEY": "sk-planted"},
            ["--api-key-env", "OPENAI_API_KEY"],
            "Bearer sk-planted",
            False,
        ),
        (
            {"OPENAI_API_KEY": "sk-planted", "GATE_KEY": "gate-planted"},
            ["--api-key-env", "GATE_KEY"],
            "Bearer gate-planted",
            False,
        ),
        (
            {"OPENAI_API_KEY": "sk-planted"},
            ["--header", "authorization: Basic cGxhbnRlZA=="],
            "Basic cGxhbnRlZA==",
            False,
        ),
        ({}, [], "Bearer none", False),
    ],
    ids=["unasked", "asked for", "another", "a header's", "none"],
)
async def test_a_key_goes_elsewhere_when_no_other_is_named_and_the_run_says_so(
    env: dict[str, str], flags: list[str], sent: str, notice: bool, tmp_path: Path
) -> None:
    server, err = await asked(tmp_path, "chat", *flags, **env)
    assert server.requests[0].headers["authorization"] == sent
    lines = [line for line in err.splitlines() if "OPENAI_API_KEY" in line]
    assert len(lines) == notice
    assert all(
        "Sending OPENAI_API_KEY to 127.0.0.1" in line and "--api-key-env" in line for line in lines
    )
    assert "planted" not in err


async def test_a_key_of_another_name_is_found_in_dotenv(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("GATE_KEY=gate-planted\n")
    server, _ = await asked(tmp_path, "messages", "--api-key-env", "GATE_KEY")
    assert "gate-planted" in str(server.requests[0].headers)


def test_a_tier_with_a_price_of_its_own_has_none_from_the_list() -> None:
    env = {"OPENAI_API_KEY": "sk-any"}
    specs = [RunSpec(model="gpt-5", service_tier=tier) for tier in (None, "default", "flex")]
    listed = {each.service_tier: price_of(resolve_target(each, env), each) for each in specs}
    assert listed[None] == listed["default"] is not None
    assert listed["flex"] is None


# Conversations that a provider cuts off


def reading(*prompt_tokens: int) -> Any:
    """An agent that reads the problem again and again, each request with so many tokens."""

    def script(body: dict[str, Any], number: int) -> Reply:
        asked_before = sum(message["role"] == "assistant" for message in body["messages"])
        usage = {"prompt_tokens": prompt_tokens[asked_before], "completion_tokens": 10}
        if asked_before == len(prompt_tokens) - 1:
            return completion(SOLVE, usage=usage)
        return completion(None, [tool_call("read_problem", {}, f"c{number}")], usage=usage)

    return script


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("prompt_tokens", "lines"), [((900, 2000, 1800, 1700), 1), ((900, 2000, 2000, 2100), 0)]
)
async def test_fewer_tokens_of_a_longer_conversation_are_told_once(
    prompt_tokens: tuple[int, ...], lines: int, tmp_path: Path
) -> None:
    async with ChatServer(reading(*prompt_tokens)) as server:
        flags = ["-b", "fixture", "-n", "3", "-m", "served", "--base-url", server.base_url]
        limits = ["--agentic-mode", "--max-turns", "4", "--out", "r"]
        code, _, err = await run(tmp_path, "run", *flags, *limits)
    assert code == 0, err
    warnings = [line for line in err.splitlines() if "prompt tokens" in line]
    assert len(warnings) == lines
    for line in warnings:
        assert "1,800 prompt tokens after 2,000" in line
        assert "OLLAMA_CONTEXT_LENGTH" in line
        assert "num_ctx" in line


# Timeouts


@pytest.mark.thorough
@pytest.mark.parametrize("key", ["idle_timeout", "request_timeout"])
async def test_a_silent_request_is_cut_off_and_sent_again(key: str, tmp_path: Path) -> None:
    silent = Reply(silence_s=300)
    async with ChatServer(in_turn(silent, completion(SOLVE))) as server:
        place = ("--base-url", server.base_url, "--set", f"{key}=1")
        code, _, err = await run(tmp_path, "run", *PROBLEM, *place)
    assert code == 0, err
    assert len(server.requests) == 2
    (retried,) = events(tmp_path, "retry")
    assert "no answer in time" in retried["cause"]
    assert spec(tmp_path)[key] == 1


@pytest.mark.thorough
async def test_the_request_timeout_ends_an_answer_that_never_falls_silent(tmp_path: Path) -> None:
    async def token() -> None:
        await asyncio.sleep(0.05)

    endless = completion("word " * 4_000, before_event=token)
    async with ChatServer(in_turn(endless, completion(SOLVE))) as server:
        limits = ("--set", "request_timeout=1", "--set", "idle_timeout=30")
        flags = ("--base-url", server.base_url, *limits)
        code, _, err = await run(tmp_path, "run", *PROBLEM, *flags)
    assert code == 0, err
    assert len(server.requests) == 2
    (retried,) = events(tmp_path, "retry")
    assert "no answer in time" in retried["cause"]


@pytest.mark.thorough
async def test_the_retry_timeout_ends_the_tries_of_a_request(tmp_path: Path) -> None:
    limited = failure(429, "slow down", headers={"retry-after": "30"})
    async with ChatServer(in_turn(limited)) as server:
        place = ("--base-url", server.base_url, "--set", "outage_timeout=0.2")
        code, _, err = await run(tmp_path, "run", *PROBLEM, *place, "--set", "retry_timeout=1")
    assert code == 4, err
    assert "gave up after 1 attempt: the provider asks to wait 30 s; no more than 1 s" in err
    assert events(tmp_path, "retry") == [], "no wait was begun"
    assert results(tmp_path / "r") == []
