"""Which names are whose, and where keys and addresses are found."""

from pathlib import Path

import pytest
from for_each import for_each

from harness.errors import UsageError
from harness.models.environment import MOST_BYTES, NAMES, Environment, FoundVariable
from harness.models.providers import PROVIDERS, Api, Protocol
from harness.models.route import Route, ollama_url, resolve
from harness.models.servers import missing


def environment(**environ: str) -> Environment:
    return Environment(environ, hub_token=lambda: None)


def route(name: str, base_url: str | None = None, **environ: str) -> Route:
    return resolve(name, base_url=base_url, environment=environment(**environ))


OPENAI = "https://api.openai.com/v1"
GEMINI = "https://generativelanguage.googleapis.com/v1beta/openai"
HUB = "https://router.huggingface.co/v1"
LOCAL = "http://localhost:11434/v1"
RESPONSES, CHAT = "responses", "chat/completions"
ANTHROPIC = "https://api.anthropic.com/v1/messages"


def test_a_gateway_that_speaks_anthropic_s_protocol() -> None:
    there = route("claude-x", ANTHROPIC_BASE_URL="http://gateway:1/anthropic")
    assert (there.base_url, there.protocol) == ("http://gateway:1/anthropic", Protocol.MESSAGES)
    assert route("gpt-5", ANTHROPIC_BASE_URL=MINE).base_url == OPENAI
    with pytest.raises(UsageError, match="base URL"):
        route("claude-x", ANTHROPIC_BASE_URL="nowhere")


@for_each(
    ("name", "sent", "endpoint"),
    [
        ("gpt-5-mini", "gpt-5-mini", f"{OPENAI}/{RESPONSES}"),
        ("o1-preview", "o1-preview", f"{OPENAI}/{RESPONSES}"),
        ("o3-mini", "o3-mini", f"{OPENAI}/{RESPONSES}"),
        ("o4-mini", "o4-mini", f"{OPENAI}/{RESPONSES}"),
        ("o1", "o1", f"{OPENAI}/{RESPONSES}"),
        ("o3", "o3", f"{OPENAI}/{RESPONSES}"),
        ("o4", "o4", f"{OPENAI}/{RESPONSES}"),
        ("openai/gpt-5", "gpt-5", f"{OPENAI}/{RESPONSES}"),
        ("openai/ft:anything", "ft:anything", f"{OPENAI}/{RESPONSES}"),
        ("openai/gemini-like", "gemini-like", f"{OPENAI}/{RESPONSES}"),
        ("openai-chat/gpt-5", "gpt-5", f"{OPENAI}/{CHAT}"),
        ("gpt-4.1", "gpt-4.1", f"{OPENAI}/{CHAT}"),
        ("gpt-4o-mini", "gpt-4o-mini", f"{OPENAI}/{CHAT}"),
        ("openai/gpt-4o", "gpt-4o", f"{OPENAI}/{CHAT}"),
        ("gpt-5-chat-latest", "gpt-5-chat-latest", f"{OPENAI}/{CHAT}"),
        ("chatgpt-4o-latest", "chatgpt-4o-latest", f"{OPENAI}/{CHAT}"),
        ("claude-sonnet-4-5", "claude-sonnet-4-5", ANTHROPIC),
        ("anthropic/claude-x", "claude-x", ANTHROPIC),
        ("gemini-2.5-pro", "gemini-2.5-pro", f"{GEMINI}/{CHAT}"),
        ("gemini/gemini-3", "gemini-3", f"{GEMINI}/{CHAT}"),
        ("Qwen/Qwen3-Coder", "Qwen/Qwen3-Coder", f"{HUB}/{CHAT}"),
        ("Qwen/Qwen3-Coder:fastest", "Qwen/Qwen3-Coder:fastest", f"{HUB}/{CHAT}"),
        ("gpt-org/model", "gpt-org/model", f"{HUB}/{CHAT}"),
        ("hf/Qwen/Qwen3-Coder", "Qwen/Qwen3-Coder", f"{HUB}/{CHAT}"),
        ("ollama/qwen3:8b", "qwen3:8b", f"{LOCAL}/{CHAT}"),
        ("ollama/hf.co/org/model", "hf.co/org/model", f"{LOCAL}/{CHAT}"),
    ],
)
def test_a_name_leads_to_its_provider(name: str, sent: str, endpoint: str) -> None:
    target = route(name)
    assert (target.name, target.model, target.endpoint) == (name, sent, endpoint)


@for_each(
    ("name", "nearest"),
    [
        ("gtp-5", "gpt-*"),
        ("GPT-5", "gpt-*"),
        ("cluade-x", "claude*"),
        ("llama3.1", "ollama/"),
        ("pyhton:a:b", "python:"),
        ("antropic/claude/x", "anthropic/"),
        ("oops/a/b", None),
        ("weird name", None),
        ("org/", None),
        ("/model", None),
        ("org/a model", None),
    ],
)
def test_a_name_that_is_nobodys_is_answered_with_what_is_possible(
    name: str, nearest: str | None
) -> None:
    with pytest.raises(UsageError) as caught:
        route(name)
    text = str(caught.value)
    assert "\n" not in text
    if nearest is not None:
        assert f"nearest is {nearest};" in text
    for phrase in (repr(name), "gpt-*", "claude*", "ORG/MODEL", "hf/", "python:", "--base-url"):
        assert phrase in text


@for_each("prefix", [each.prefix for each in PROVIDERS])
def test_a_prefix_is_followed_by_a_name(prefix: str) -> None:
    with pytest.raises(UsageError, match="follow the prefix"):
        route(prefix)


MINE = "http://mine:8000/v1"
EVERY_NAME = ["gpt-5", "claude-x", "gemini-3", "org/model", "a/b/c", "weird name", "llama"]
PREFIXED = ["anthropic/claude-x", "gemini/gemini-3", "hf/org/model", "ollama/llama"]


@for_each("name", [*EVERY_NAME, *PREFIXED, "openai/gpt-5", "openai-chat/gpt-5"])
def test_a_base_url_that_is_given_takes_every_name_as_it_is(name: str) -> None:
    target = route(name, MINE, OPENAI_BASE_URL="http://other/v1")
    assert (target.model, target.endpoint) == (name, f"{MINE}/chat/completions")
    assert target.protocol is Protocol.CHAT_COMPLETIONS
    assert not target.needs_key


@for_each("name", [*EVERY_NAME, "openai/gpt-5", "openai-chat/gpt-5"])
def test_a_base_url_of_the_environment_takes_any_model_name(name: str) -> None:
    target = route(name, OPENAI_BASE_URL=MINE)
    assert (target.model, target.endpoint) == (name, f"{MINE}/chat/completions")


@for_each(
    ("name", "url", "endpoint", "variable"),
    [
        ("gpt-5", "https://api.openai.com/v1", f"{OPENAI}/{RESPONSES}", "OPENAI_API_KEY"),
        ("gpt-4o", "https://api.openai.com/v1", f"{OPENAI}/{CHAT}", "OPENAI_API_KEY"),
        ("ft:gpt-4o:mine", "https://api.openai.com/v1", f"{OPENAI}/{CHAT}", "OPENAI_API_KEY"),
        (
            "nova",
            "https://eu.api.openai.com/v1",
            f"https://eu.api.openai.com/v1/{RESPONSES}",
            "OPENAI_API_KEY",
        ),
        ("claude-x", "https://api.anthropic.com", ANTHROPIC, "ANTHROPIC_API_KEY"),
        ("any", f"{GEMINI}/", f"{GEMINI}/{CHAT}", "GEMINI_API_KEY"),
    ],
)
def test_a_providers_own_address_brings_its_protocol_and_its_key(
    name: str, url: str, endpoint: str, variable: str
) -> None:
    keys = dict.fromkeys(("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"), "sk-any")
    target = route(name, url, **keys)
    assert (target.model, target.endpoint, target.remark) == (name, endpoint, "")
    assert target.key is not None
    assert target.key.variable == variable


@for_each(
    ("name", "base_url", "api", "endpoint"),
    [
        ("m", MINE, "chat", f"{MINE}/{CHAT}"),
        ("m", MINE, "responses", f"{MINE}/{RESPONSES}"),
        ("m", "http://mine:8000", "messages", f"{MINE}/messages"),
        ("gpt-5", None, "chat", f"{OPENAI}/{CHAT}"),
        ("gpt-4o", None, "responses", f"{OPENAI}/{RESPONSES}"),
        ("openai-chat/gpt-5", None, "responses", f"{OPENAI}/{RESPONSES}"),
        ("hf/org/m", None, "responses", f"{HUB}/{RESPONSES}"),
        ("ollama/m", None, "responses", f"{LOCAL}/{RESPONSES}"),
        ("claude-x", None, "messages", ANTHROPIC),
    ],
)
def test_the_protocol_can_be_named(
    name: str, base_url: str | None, api: Api, endpoint: str
) -> None:
    provider = resolve(name, base_url=base_url, environment=environment(), api=api)
    assert provider.endpoint == endpoint


@for_each(
    ("name", "api", "message"),
    [
        ("claude-x", "chat", "Anthropic has messages"),
        ("gemini-3", "responses", "Gemini has chat"),
        ("gpt-5", "messages", "OpenAI has chat and responses"),
    ],
)
def test_a_protocol_that_a_provider_does_not_speak_is_refused(
    name: str, api: Api, message: str
) -> None:
    with pytest.raises(UsageError, match=f"--api {api}: {message}"):
        resolve(name, base_url=None, environment=environment(), api=api)


@for_each("name", PREFIXED)
def test_a_provider_s_prefix_goes_before_a_base_url_of_the_environment(name: str) -> None:
    assert route(name, OPENAI_BASE_URL=MINE) == route(name)


@for_each("name", ["gpt-5", "openai-chat/gpt-5", "claude-x"])
def test_openais_own_address_in_the_environment_changes_nothing(name: str) -> None:
    assert route(name, OPENAI_BASE_URL=f"{OPENAI}/") == route(name)


KEYS = {
    "gpt-5": "OPENAI_API_KEY",
    "openai-chat/gpt-5": "OPENAI_API_KEY",
    "claude-x": "ANTHROPIC_API_KEY",
    "gemini-3": "GEMINI_API_KEY",
    "org/model": "HF_TOKEN",
}


@for_each("name", KEYS)
def test_each_provider_has_its_key(name: str) -> None:
    others = {key: "other" for key in NAMES if key.endswith(("KEY", "TOKEN"))}
    if name == "gemini-3":
        del others["GOOGLE_API_KEY"]
    target = route(name, **{**others, KEYS[name]: " mine\n"})
    assert target.key == FoundVariable(KEYS[name], "environment", "mine")
    del others[KEYS[name]]
    without = route(name, **others)
    assert without.key is None
    assert without.needs_key
    assert KEYS[name] in missing(without.keys)


def test_googles_variable_is_geminis_second() -> None:
    second = route("gemini-3", GOOGLE_API_KEY="second").key
    assert second == FoundVariable("GOOGLE_API_KEY", "environment", "second")
    both = route("gemini-3", GOOGLE_API_KEY="second", GEMINI_API_KEY="first").key
    assert both == FoundVariable("GEMINI_API_KEY", "environment", "first")


def test_ollama_needs_no_key_and_gets_none() -> None:
    target = route("ollama/x", OPENAI_API_KEY="sk-x", HF_TOKEN="hf_x")
    assert (target.key, target.needs_key) == (None, False)


def test_the_hubs_kept_token_is_the_last_that_counts() -> None:
    def key(environ: dict[str, str], dotenv: dict[str, str]) -> FoundVariable | None:
        place = Environment(environ, dotenv, hub_token=lambda: "kept")
        return resolve("org/model", base_url=None, environment=place).key

    assert key({}, {}) == FoundVariable("HF_TOKEN", "huggingface_hub", "kept")
    assert key({}, {"HF_TOKEN": "file"}) == FoundVariable("HF_TOKEN", ".env", "file")
    assert key({"HF_TOKEN": "env"}, {"HF_TOKEN": "file"}) == FoundVariable(
        "HF_TOKEN", "environment", "env"
    )


@for_each("variable", KEYS.values())
@for_each("key", ["sk-a\nb", "sk-ä", "sk-\x00", "sk-\ufffd"])
def test_a_key_with_impossible_characters_is_refused_unseen(variable: str, key: str) -> None:
    name = next(name for name in KEYS if KEYS[name] == variable)
    with pytest.raises(UsageError, match=rf"{variable} \(environment\)") as caught:
        route(name, **{variable: key})
    assert key not in str(caught.value)


def test_a_key_is_not_in_what_is_printed_of_it() -> None:
    assert "planted" not in repr(route("gpt-5", OPENAI_API_KEY="planted"))


@for_each(
    ("host", "url"),
    [
        ("", "http://localhost:11434/v1"),
        ("10.0.0.7", "http://10.0.0.7:11434/v1"),
        ("10.0.0.7:99", "http://10.0.0.7:99/v1"),
        ("box.lan", "http://box.lan:11434/v1"),
        (":99", "http://127.0.0.1:99/v1"),
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0:99", "http://127.0.0.1:99/v1"),
        ("[::]:99", "http://127.0.0.1:99/v1"),
        ("[fe80::1]:99", "http://[fe80::1]:99/v1"),
        ("http://box:99", "http://box:99/v1"),
        ("https://box/ollama/", "https://box/ollama/v1"),
        ("https://box", "https://box/v1"),
        (' "box" ', "http://box:11434/v1"),
        ("http://me:pass@box:99", "http://me:pass@box:99/v1"),
        ("me:p%40ss@0.0.0.0", "http://me:p%40ss@127.0.0.1:11434/v1"),
    ],
)
def test_ollamas_address_is_read_as_ollama_reads_it(host: str, url: str) -> None:
    assert ollama_url(host) == url
    assert route("ollama/x", OLLAMA_HOST=host).base_url == url


@for_each("host", ["ftp://box", "box:many", "box:99999", "http://box?x=1", "a b"])
def test_an_address_that_is_none_is_refused(host: str) -> None:
    with pytest.raises(UsageError, match=r"OLLAMA_HOST|base URL"):
        ollama_url(host)


def test_only_known_variables_are_read_from_dotenv(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text(
        "# keys\n"
        "export OPENAI_API_KEY=sk-1 # mine\n"
        'ANTHROPIC_API_KEY="sk ant"\n'
        "GEMINI_API_KEY='$HOME'\n"
        "HF_TOKEN=\n"
        "MODEL_ID=org/model\n"
        "OLLAMA_HOST=box\nPATH=/nowhere\nDATABASE_URL=${OPENAI_API_KEY}\nGOOGLE_API_KEY\n"
        'this is "no setting\n'
    )
    variables = Environment.read({}, path)
    assert variables.find("OPENAI_API_KEY") == FoundVariable("OPENAI_API_KEY", str(path), "sk-1")
    assert variables.text("ANTHROPIC_API_KEY") == "sk ant"
    assert variables.text("GEMINI_API_KEY") == "$HOME"
    assert variables.text("MODEL_ID") == "org/model"
    assert variables.find("GOOGLE_API_KEY") is None
    for name in ("OLLAMA_HOST", "PATH", "DATABASE_URL"):
        assert variables.find(name) is None


def test_the_environment_wins_over_the_file_even_when_it_says_nothing(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text("OPENAI_BASE_URL=http://file/v1\nMODEL_ID=file\n")
    variables = Environment.read({"OPENAI_BASE_URL": "", "MODEL_ID": "real"}, path)
    assert variables.find("OPENAI_BASE_URL") is None
    assert variables.find("MODEL_ID") == FoundVariable("MODEL_ID", "environment", "real")


def test_a_file_changes_no_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import os

    monkeypatch.delenv("MODEL_ID", raising=False)
    path = tmp_path / ".env"
    path.write_text("MODEL_ID=file\n")
    assert Environment.read(os.environ, path).text("MODEL_ID") == "file"
    assert "MODEL_ID" not in os.environ


def test_a_missing_dotenv_or_a_folder_of_its_name_is_ignored(tmp_path: Path) -> None:
    assert Environment.read({}, tmp_path / ".env").find("MODEL_ID") is None
    (tmp_path / ".env").mkdir()
    assert Environment.read({}, tmp_path / ".env").find("MODEL_ID") is None


def test_a_broken_line_of_ours_is_named_and_not_shown(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_text('X=1\n\nOPENAI_API_KEY="planted\n')
    with pytest.raises(UsageError, match=r"\.env:\d: OPENAI_API_KEY") as caught:
        Environment.read({}, path)
    assert "planted" not in str(caught.value)


def test_a_file_of_no_use_is_no_harm(tmp_path: Path) -> None:
    path = tmp_path / ".env"
    path.write_bytes(b"\xff\xfe\x00binary\nMODEL_ID=x\n")
    assert Environment.read({}, path).text("MODEL_ID") == "x"
    path.write_bytes(b"\xef\xbb\xbfMODEL_ID=marked\n")
    assert Environment.read({}, path).text("MODEL_ID") == "marked"
    path.write_bytes(b"#" * (MOST_BYTES + 1))
    with pytest.raises(UsageError, match="larger than 1 MiB"):
        Environment.read({}, path)


def test_the_table_can_be_read_without_doubt() -> None:
    prefixes = [each.prefix for each in PROVIDERS]
    assert len(set(prefixes)) == len(prefixes)
    assert not any(a != b and a.startswith(b) for a in prefixes for b in prefixes)
    assert all(each._replace(keys=()).base_url.startswith("http") for each in PROVIDERS)
