"""`harness models`, keys and names as a user meets them."""

import json
from pathlib import Path
from typing import Any

import pytest
from chat_server import ChatServer, completion, failure, in_turn
from for_each import for_each
from messages_server import MessagesServer, message
from program import harness, results, run
from redirected import run_redirected
from responses_server import ResponsesServer, response, said

SOLVE = "```python\nimport sys\nprint(sys.stdin.read())\n```"
KEYS = {
    "OPENAI_API_KEY": "sk-planted-openai",
    "ANTHROPIC_API_KEY": "sk-ant-planted",
    "GEMINI_API_KEY": "AIplanted",
    "HF_TOKEN": "hf_planted",
}
PROBLEM = ("-b", "fixture", "-n", "1")


def listed(folder: Path, **env: str) -> dict[str, Any]:
    done = harness(folder, "models", "--json", **env)
    assert done.returncode == 0, done.stderr
    assert "planted" not in done.stdout + done.stderr
    return {each["prefix"]: each for each in json.loads(done.stdout)["providers"]}


def shown(folder: Path, *arguments: str, **env: str) -> dict[str, Any]:
    done = harness(folder, "models", *arguments, "--json", **env)
    assert done.returncode == 0, done.stderr
    assert "planted" not in done.stdout + done.stderr
    return json.loads(done.stdout)


PREFIXES = {
    "openai/": "OPENAI_API_KEY",
    "openai-chat/": "OPENAI_API_KEY",
    "anthropic/": "ANTHROPIC_API_KEY",
    "gemini/": "GEMINI_API_KEY",
    "hf/": "HF_TOKEN",
}


def test_models_without_keys_says_what_each_provider_needs(
    tmp_path: Path,
) -> None:
    providers = listed(tmp_path)
    assert [prefix for prefix, each in providers.items() if each["ready"]] == ["ollama/"]
    assert {prefix: providers[prefix]["keys"][0] for prefix in PREFIXES} == PREFIXES
    text = harness(tmp_path, "models").stdout
    for phrase in (*KEYS, *providers, "missing", "none needed", "python:", "replay:", "--base-url"):
        assert phrase in text


def test_keys_are_found_in_the_environment_and_in_a_file(tmp_path: Path) -> None:
    here = {name: KEYS[name] for name in ("OPENAI_API_KEY", "HF_TOKEN")}
    (tmp_path / ".env").write_text(
        "".join(f"{name}={key}\n" for name, key in KEYS.items() if name != "HF_TOKEN")
    )
    providers = listed(tmp_path, **here)
    assert all(each["ready"] for each in providers.values())
    places = {prefix: providers[prefix]["key"]["where"] for prefix in PREFIXES}
    assert places == {
        "openai/": "environment",
        "openai-chat/": "environment",
        "anthropic/": ".env",
        "gemini/": ".env",
        "hf/": "environment",
    }
    text = harness(tmp_path, "models", **here).stdout
    assert "GEMINI_API_KEY (.env)" in text
    assert "planted" not in text


def test_the_token_that_the_hub_keeps_is_found(tmp_path: Path) -> None:
    (tmp_path / "token").write_text("hf_planted\n")
    assert listed(tmp_path, HF_HOME=str(tmp_path))["hf/"]["key"] == {
        "variable": "HF_TOKEN",
        "where": "huggingface_hub",
    }


def test_a_key_that_cannot_be_used_is_no_key(tmp_path: Path) -> None:
    gemini = listed(tmp_path, GEMINI_API_KEY="plänted")["gemini/"]
    assert not gemini["ready"]
    assert "GEMINI_API_KEY" in gemini["fault"]
    assert "no key has" in harness(tmp_path, "models", GEMINI_API_KEY="plänted").stdout


def test_the_default_model_and_address_are_shown_without_a_password(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "MODEL_ID=org/mine\nOPENAI_BASE_URL=http://me:planted@box:8000/v1\n"
    )
    done = harness(tmp_path, "models", "--json")
    data = json.loads(done.stdout)
    assert data["MODEL_ID"] == {"value": "org/mine", "where": ".env"}
    assert data["OPENAI_BASE_URL"] == {"value": "http://box:8000/v1", "where": ".env"}
    text = harness(tmp_path, "models").stdout
    assert "org/mine (.env)" in text
    assert "planted" not in done.stdout + text


@for_each(
    ("name", "sent"),
    [
        (
            "gpt-5",
            {"temperature": 0.5, "max_output_tokens": 77, "reasoning": {"effort": "low"}},
        ),
        (
            "openai-chat/gpt-5",
            {"temperature": 0.5, "max_completion_tokens": 77, "reasoning_effort": "low"},
        ),
        ("gemini-3", {"temperature": 0.5, "max_tokens": 77, "reasoning_effort": "low"}),
    ],
)
def test_a_models_request_is_shown_with_the_settings_given(
    name: str, sent: dict[str, Any], tmp_path: Path
) -> None:
    plain = shown(tmp_path, name)["body"]
    assert not set(sent) & set(plain)
    flags = ["--temperature", "0.5", "--max-tokens", "77", "--reasoning-effort", "low"]
    body = shown(tmp_path, name, *flags)["body"]
    assert {key: body[key] for key in sent} == sent
    assert {key: body[key] for key in body if key not in sent} == plain
    text = harness(tmp_path, "models", name, *flags).stdout
    assert json.dumps(body, indent=2) in text


def test_what_a_name_comes_to_is_shown(tmp_path: Path) -> None:
    gpt = shown(tmp_path, "openai/gpt-5", OPENAI_API_KEY="sk-planted")
    assert (gpt["provider"], gpt["protocol"], gpt["model"]) == ("OpenAI", "responses", "gpt-5")
    assert gpt["endpoint"] == "https://api.openai.com/v1/responses"
    assert gpt["key"] == {"variable": "OPENAI_API_KEY", "where": "environment"}
    assert gpt["ready"]
    claude = shown(tmp_path, "claude-x")
    assert (claude["endpoint"], claude["protocol"]) == (
        "https://api.anthropic.com/v1/messages",
        "messages",
    )
    assert (claude["key"], claude["ready"]) == (None, False)
    assert "missing: ANTHROPIC_API_KEY" in harness(tmp_path, "models", "claude-x").stdout


def test_headers_of_the_environment_are_named_where_they_are_sent(tmp_path: Path) -> None:
    environ = {
        "OPENAI_CUSTOM_HEADERS": "x-gate: planted",
        "OPENAI_ORG_ID": "org-planted",
        "ANTHROPIC_CUSTOM_HEADERS": "x-gate: planted",
    }
    sent = [
        {"variable": name, "where": "environment"}
        for name in ("OPENAI_CUSTOM_HEADERS", "OPENAI_ORG_ID")
    ]
    assert shown(tmp_path, "gpt-5", **environ)["headers"] == sent
    assert shown(tmp_path, "claude-x", **environ)["headers"] == [
        {"variable": "ANTHROPIC_CUSTOM_HEADERS", "where": "environment"}
    ]
    for elsewhere in (["gemini-3"], ["gpt-5", "--base-url", "http://box:1/v1"]):
        assert shown(tmp_path, *elsewhere, **environ)["headers"] == []
    text = harness(tmp_path, "models", "gpt-5", **environ).stdout
    assert "OPENAI_CUSTOM_HEADERS (environment), OPENAI_ORG_ID (environment)" in text
    assert "planted" not in text


def test_headers_that_cannot_be_sent_are_refused_in_one_line(tmp_path: Path) -> None:
    done = harness(tmp_path, "models", "gpt-5", OPENAI_ORG_ID="plänted")
    assert (done.returncode, len(done.stderr.splitlines())) == (2, 1)
    assert "OPENAI_ORG_ID (environment)" in done.stderr
    assert "plänted" not in done.stderr


@for_each(
    ("arguments", "possible"),
    [
        (["gpt-5"], True),
        (["gpt-4o"], True),
        (["claude-x"], True),
        (["m", "--base-url", "http://box:1/v1"], True),
        (["gemini-3"], False),
        (["org/model"], False),
        (["ollama/m"], False),
    ],
)
def test_whether_batches_are_possible_is_said(
    arguments: list[str], possible: bool, tmp_path: Path
) -> None:
    assert shown(tmp_path, *arguments)["batch"] is possible
    text = harness(tmp_path, "models", *arguments).stdout
    line = next(line for line in text.splitlines() if line.strip().startswith("batch"))
    assert ("not possible" in line) is not possible
    assert ("--batch" in line) is possible


def test_a_password_of_ollamas_address_is_not_shown(tmp_path: Path) -> None:
    environ = {"OLLAMA_HOST": "http://me:planted@box:1"}
    assert shown(tmp_path, "ollama/m", **environ)["endpoint"] == "http://box:1/v1/chat/completions"
    assert "planted" not in harness(tmp_path, "models", **environ).stdout


def test_a_base_url_is_shown_as_it_will_be_used_but_for_its_password(tmp_path: Path) -> None:
    url = "http://me:planted@box:8000/v1/"
    mine = shown(tmp_path, "claude-x", "--base-url", url, "--temperature", "1")
    assert mine["endpoint"] == "http://box:8000/v1/chat/completions"
    assert (mine["body"]["model"], mine["body"]["temperature"]) == ("claude-x", 1)
    assert mine["ready"]
    text = harness(tmp_path, "models", "claude-x", "--base-url", url).stdout
    assert "planted" not in text


def test_models_shows_no_request_for_a_function_or_replay(tmp_path: Path) -> None:
    assert "body" not in shown(tmp_path, "python:json:loads")
    assert "body" not in shown(tmp_path, "replay:bundled")
    assert "body" not in shown(tmp_path, "references")


REFUSED = {
    "an unknown name": (["gtp-5"], "the nearest is gpt-*"),
    "an empty name": ([""], "NAME is empty"),
    "an agent": (["agent:mine"], "agent:mine is an agent of your own: give --agent-command"),
    "a setting that is not taken": (["claude-x", "--temperature", "1"], "temperature"),
    "a value out of range": (["gpt-5", "--temperature", "-1"], "--temperature"),
    "no tokens": (["gpt-5", "--max-tokens", "0"], "--max-tokens"),
    "an address that is none": (["x", "--base-url", "box"], "base URL"),
    "settings of no model": (["--max-tokens", "7"], "--max-tokens"),
    "a function that is not there": (["python:json:nothing"], "nothing"),
    "recordings that are not there": (["replay:nowhere"], "directory of a run"),
}


@for_each("case", REFUSED)
def test_what_cannot_be_shown_is_refused_in_one_line(case: str, tmp_path: Path) -> None:
    arguments, reason = REFUSED[case]
    done = harness(tmp_path, "models", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert reason in done.stderr


# What is shown is what is sent


def _without_words(body: dict[str, Any]) -> dict[str, Any]:
    return {key: body[key] for key in body if key not in {"messages", "input", "system"}}


async def _is_sent_as_shown(server: ChatServer, folder: Path, name: str, *flags: str) -> str:
    """Compares; returns the key that was sent."""
    code, out, err = await run_redirected(
        folder, server.base_url, "models", name, *flags, "--json", **KEYS
    )
    assert code == 0, err
    data = json.loads(out)
    arguments = ("run", *PROBLEM, "-m", name, *flags, "--out", "r")
    code, _, err = await run_redirected(folder, server.base_url, *arguments, **KEYS)
    assert code == 0, err
    (request,) = server.requests
    assert _without_words(request.body) == _without_words(data["body"])
    assert data["endpoint"].endswith(request.path)
    assert len(results(folder / "r")) == 1
    sent = request.headers
    return sent.get("x-api-key") or sent["authorization"].removeprefix("Bearer ")


SETTINGS = ["--max-tokens", "77", "--reasoning-effort", "low"]


@pytest.mark.thorough
@pytest.mark.parametrize("flags", [[], SETTINGS])
@pytest.mark.parametrize(
    ("name", "variable"),
    [
        ("openai-chat/gpt-5", "OPENAI_API_KEY"),
        ("gemini-3", "GEMINI_API_KEY"),
        ("org/model", "HF_TOKEN"),
    ],
)
async def test_chat_completions_are_sent_as_shown(
    name: str, variable: str, flags: list[str], tmp_path: Path
) -> None:
    async with ChatServer(in_turn(completion(SOLVE))) as server:
        assert await _is_sent_as_shown(server, tmp_path, name, *flags) == KEYS[variable]


@pytest.mark.thorough
@pytest.mark.parametrize("flags", [[], [*SETTINGS, "--temperature", "0.5"]])
async def test_responses_are_sent_as_shown(flags: list[str], tmp_path: Path) -> None:
    async with ResponsesServer(in_turn(response(said(SOLVE)))) as server:
        key = await _is_sent_as_shown(server, tmp_path, "openai/gpt-5", *flags)
        assert not server.refusals
    assert key == KEYS["OPENAI_API_KEY"]


@pytest.mark.thorough
@pytest.mark.parametrize("flags", [[], SETTINGS])
async def test_messages_are_sent_as_shown(flags: list[str], tmp_path: Path) -> None:
    async with MessagesServer(in_turn(message(SOLVE))) as server:
        key = await _is_sent_as_shown(server, tmp_path, "claude-x", *flags)
        assert not server.refused
    assert key == KEYS["ANTHROPIC_API_KEY"]


# What a run makes of names, keys and `.env`


@for_each(
    ("arguments", "reason"),
    [
        (["-m", "gpt-5"], "OPENAI_API_KEY"),
        (["-m", "claude-x"], "ANTHROPIC_API_KEY"),
        (["-m", "gemini-3"], "GEMINI_API_KEY or GOOGLE_API_KEY"),
        (["-m", "org/model"], "HF_TOKEN"),
        (["-m", "llama3"], "nearest is ollama/"),
    ],
)
def test_a_missing_name_or_key_is_told_before_a_problem_is_read(
    arguments: list[str], reason: str, tmp_path: Path
) -> None:
    done = harness(tmp_path, "run", "-b", "jsonl:no-such-file.jsonl", *arguments)
    assert done.returncode == 2
    assert len(done.stderr.splitlines()) == 1
    assert reason in done.stderr
    assert "no-such-file" not in done.stderr


def test_an_unsupported_setting_is_refused_before_a_problem_is_read(tmp_path: Path) -> None:
    flags = ["-b", "jsonl:no-such-file.jsonl", "-m", "claude-x", "--temperature", "1"]
    done = harness(tmp_path, "run", *flags, ANTHROPIC_API_KEY="sk-ant")
    assert done.returncode == 2
    assert "temperature" in done.stderr
    assert "no-such-file" not in done.stderr


@pytest.mark.thorough
async def test_a_file_in_the_working_directory_sets_model_address_and_key(tmp_path: Path) -> None:
    async with ChatServer(in_turn(completion(SOLVE))) as server:
        (tmp_path / ".env").write_text(
            f"MODEL_ID=org/mine\nOPENAI_BASE_URL={server.base_url}\nOPENAI_API_KEY=sk-from-file\n"
        )
        code, _, err = await run(tmp_path, "run", *PROBLEM, "--out", "r")
        assert code == 0, err
        code, _, err = await run(
            tmp_path, "run", *PROBLEM, "--out", "r2", MODEL_ID="other", OPENAI_API_KEY="sk-real"
        )
        assert code == 0, err
    sent = [(each.body["model"], each.headers["authorization"]) for each in server.requests]
    assert sent == [("org/mine", "Bearer sk-from-file"), ("other", "Bearer sk-real")]


@pytest.mark.thorough
def test_a_model_id_that_the_demo_does_not_ask_is_named(tmp_path: Path) -> None:
    done = harness(tmp_path, "run", "-n", "1", "--out", "r", MODEL_ID="org/mine")
    assert done.returncode == 0, done.stderr
    assert "demo: replaying what Qwen2.5-Coder-1.5B-Instruct answered" in done.stderr
    assert "MODEL_ID=org/mine is not asked where neither -m nor -b is given" in done.stderr
    assert "-m org/mine, or -b fixture" in done.stderr
    for number, (flags, env) in enumerate(
        [((), {}), (("-m", "replay:bundled"), {"MODEL_ID": "org/mine"})]
    ):
        done = harness(tmp_path, "run", "-n", "1", "--out", f"r{number}", *flags, **env)
        assert done.returncode == 0, done.stderr
        assert "MODEL_ID" not in done.stderr


@for_each("status", [401, 403])
async def test_a_key_that_is_refused_is_tried_once(status: int, tmp_path: Path) -> None:
    async with ChatServer(in_turn(failure(status, "who is this?"))) as server:
        flags = [
            "-n",
            "4",
            "-k",
            "3",
            "-m",
            "m",
            "--base-url",
            server.base_url,
            "--concurrency",
            "1",
        ]
        code, _, err = await run(tmp_path, "run", "-b", "fixture", *flags, "--out", "r")
    assert code == 4
    assert len(server.requests) == 1
    assert f"HTTP {status}: who is this?" in err


def test_what_a_file_says_is_in_nobodys_environment(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("OPENAI_API_KEY=sk-planted\nMODEL_ID=x\nOTHER=planted\n")
    (tmp_path / "mine.py").write_text(
        "import os\ndef solve(problem):\n"
        "    assert not {'OPENAI_API_KEY', 'MODEL_ID', 'OTHER'} & set(os.environ)\n"
        "    return 'import os, sys; sys.stdout.write(repr(os.environ))'\n"
    )
    done = harness(tmp_path, "run", *PROBLEM, "-m", "python:mine:solve", "--out", "r")
    assert done.returncode == 0, done.stderr
    kept = "".join(path.read_text() for path in (tmp_path / "r").rglob("*") if path.is_file())
    assert "os.environ" in kept
    assert "planted" not in kept


def test_the_bundled_recordings_need_no_readable_file(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text('OPENAI_API_KEY="never closed\n')
    assert harness(tmp_path, "run", "-n", "1").returncode == 0
    done = harness(tmp_path, "run", *PROBLEM, "-m", "gpt-5")
    assert done.returncode == 2
    assert ".env:1: OPENAI_API_KEY" in done.stderr


def test_a_models_class_from_python_runs_the_loop(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from harness.models.protocol import ModelStop, ModelTurn, ToolCall\n"
        "from harness.models.scripted import ScriptedModel\n"
        "def call(name, arguments):\n"
        "    return ModelTurn(tool_calls=(ToolCall(id=name, name=name, arguments=arguments),),\n"
        "                     stop=ModelStop(reason='tool_use'))\n"
        "class Mine(ScriptedModel):\n"
        "    def __init__(self):\n"
        "        write = call('write_solution', '{\"code\": \"print(0)\"}')\n"
        "        super().__init__([write, 'That is all.', 'I give up.'])\n"
    )
    flags = ["-m", "python:mine:Mine", "--agentic-mode", "--out", "r"]
    done = harness(tmp_path, "run", *PROBLEM, *flags)
    assert done.returncode == 0, done.stderr
    (only,) = results(tmp_path / "r")
    assert (only["code"], only["stop_reason"]) == ("print(0)", "model_stopped")


def test_a_users_model_that_fails_leaves_its_samples_pending(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from harness.models.scripted import ScriptedModel\n"
        "model = ScriptedModel([KeyError('mine')])\n"
    )
    done = harness(tmp_path, "run", *PROBLEM, "-m", "python:mine:model", "--out", "r")
    assert done.returncode == 4, done.stderr
    assert "python:mine:model raised KeyError: 'mine'" in done.stderr
    assert "Traceback" not in done.stderr
