"""No key is in anything that a run leaves or says, whatever a provider makes of it."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from chat_server import ChatServer, Json, Reply, completion
from for_each import for_each
from messages_server import message
from redirected import run_redirected
from responses_server import response, said

SOLVE = "```python\nimport sys\nprint(sys.stdin.read())\n```"
SECRETS = {
    "OPENAI_API_KEY": "sk-proj-PLANTED-openai-0123456789",
    "ANTHROPIC_API_KEY": "sk-ant-PLANTED-0123456789",
    "GEMINI_API_KEY": "AIzaPLANTEDgemini0123456789",
    "GOOGLE_API_KEY": "AIzaPLANTEDgoogle0123456789",
    "HF_TOKEN": "hf_PLANTED0123456789",
}
# What the vendors' SDKs would send by themselves, here and everywhere.
HEADERS = {
    "OPENAI_CUSTOM_HEADERS": "x-gate:PLANTED_custom",
    "OPENAI_ORG_ID": "org_PLANTED",
    "OPENAI_PROJECT_ID": "proj_PLANTED",
    "ANTHROPIC_CUSTOM_HEADERS": "x-gate:PLANTED_custom",
}


def _chat() -> Reply:
    return completion(SOLVE)


def _responses() -> Reply:
    return response(said(SOLVE))


def _messages() -> Reply:
    return message(SOLVE, usage={"input_tokens": 1, "output_tokens": 1})


Answer = Callable[[], Reply]
PROVIDERS: dict[str, tuple[str, Answer]] = {
    "gpt-5": ("OPENAI_API_KEY", _responses),
    "openai-chat/gpt-5": ("OPENAI_API_KEY", _chat),
    "claude-x": ("ANTHROPIC_API_KEY", _messages),
    "gemini-3": ("GEMINI_API_KEY", _chat),
    "gemini/second": ("GOOGLE_API_KEY", _chat),
    "org/model": ("HF_TOKEN", _chat),
}


class Echo(ChatServer):
    """Says the key back: in errors of every kind and their headers, then in answers' own ids."""

    def __init__(self, answer: Answer, *, errors: bool) -> None:
        super().__init__(self._say)
        self._answer = answer
        self._errors = errors
        self.keys: set[str] = set()

    @property
    def base_url(self) -> str:
        return super().base_url.removesuffix("/v1")

    def serves(self, method: str, path: str) -> bool:
        return method == "POST" and bool(path)

    def _say(self, _body: Json, number: int) -> Reply:
        headers = self.requests[number].headers
        key = headers.get("x-api-key") or headers["authorization"].removeprefix("Bearer ")
        self.keys.add(key)
        good = self._answer()
        if not self._errors:
            return Reply(body={**good.body, "id": key}, headers=_echoing(key))
        # A key that is refused before there was any answer is not tried again.
        return next((each for n, each in enumerate(_errors(key), 1) if n == number), good)


def _errors(key: str) -> Iterator[Reply]:
    """What is repeated first, then what ends a sample."""
    reply_headers = _echoing(key)
    soon = {**reply_headers, "retry-after-ms": "1"}
    error_text = f"Incorrect API key provided: {key}. Authorization: Bearer {key}"
    inside: Json = {"error": {"message": error_text, "type": key, "code": key, "param": key}}
    page = f"<html><title>{error_text}</title></html>".encode()
    yield Reply(body=inside, status=500, headers=soon)
    yield Reply(body=page, status=503, headers=soon, content_type="text/html")
    yield Reply(body={"detail": [error_text]}, status=429, headers=soon)
    yield Reply(body=inside, status=401, headers=reply_headers)
    yield Reply(
        body=error_text.encode(), status=403, headers=reply_headers, content_type=f"text/{key}"
    )
    yield Reply(
        body={"message": error_text}, status=302, headers={**reply_headers, "location": f"/{key}"}
    )
    yield Reply(body={key: error_text}, status=400, headers=reply_headers)


def _echoing(key: str) -> dict[str, str]:
    names = ("x-request-id", "request-id", "www-authenticate", "set-cookie", "x-debug")
    return dict.fromkeys(names, f"{key}")


def _refuse_secrets(folder: Path, out: str, err: str) -> None:
    """Look at all that was said, and at everything on disk but what the test itself put there."""
    files = [path for path in folder.rglob("*") if path.is_file() and path.name != ".env"]
    left = {str(path): path.read_bytes().decode("utf-8", "replace") for path in files}
    assert any("transcripts" in where for where in left)
    for where, text in {**left, "stdout": out, "stderr": err}.items():
        for secret in SECRETS.values():
            assert secret not in text, where


@pytest.mark.parametrize(
    ("name", "place"),
    [
        *((name, "environment") for name in PROVIDERS),
        ("gpt-5", ".env"),
        *(pytest.param(name, ".env", marks=pytest.mark.thorough) for name in [*PROVIDERS][1:]),
    ],
)
async def test_no_key_is_in_what_a_run_leaves_or_says(
    name: str, place: str, tmp_path: Path
) -> None:
    variable, answer = PROVIDERS[name]
    planted = dict(SECRETS)
    if variable == "GOOGLE_API_KEY":
        del planted["GEMINI_API_KEY"]
    environ = HEADERS | (planted if place == "environment" else {})
    if place == ".env":
        (tmp_path / ".env").write_text("".join(f"{k}={v}\n" for k, v in planted.items()))
    async with Echo(answer, errors=True) as server:
        flags = ["-b", "fixture", "-n", "6", "--concurrency", "1", "--out", "r", "-m", name]
        code, out, err = await run_redirected(
            tmp_path, server.base_url, "run", *flags, "--json", **environ
        )
    assert server.keys == {SECRETS[variable]}, "the key was sent, and no other"
    headers = "".join(str(request.headers) for request in server.requests)
    assert not any(value.rpartition(":")[2] in headers for value in HEADERS.values())
    assert code == 4, err
    summary = json.loads(out)
    assert summary["graded"] >= 1
    assert summary["graded"] + sum(summary["pending"].values()) == 6
    text = "".join(path.read_text() for path in (tmp_path / "r" / "transcripts").iterdir())
    assert "[redacted]" in text, "the errors were recorded"
    _refuse_secrets(tmp_path, out, err)


@for_each("name", ["gpt-5", "openai-chat/gpt-5", "claude-x"])
async def test_no_key_that_an_answer_has_for_its_id_is_kept(name: str, tmp_path: Path) -> None:
    variable, answer = PROVIDERS[name]
    async with Echo(answer, errors=False) as server:
        flags = ["-b", "fixture", "-n", "1", "--out", "r", "-m", name]
        code, out, err = await run_redirected(tmp_path, server.base_url, "run", *flags, **SECRETS)
    assert code == 0, err
    assert server.keys == {SECRETS[variable]}
    _refuse_secrets(tmp_path, out, err)


@for_each("name", ["models", "run"])
async def test_no_key_is_in_the_error_for_an_unusable_key(name: str, tmp_path: Path) -> None:
    arguments = {"models": ["models", "gpt-5"], "run": ["run", "-b", "fixture", "-m", "gpt-5"]}
    broken = f"{SECRETS['OPENAI_API_KEY']}\u00e4"
    code, out, err = await run_redirected(
        tmp_path, "http://127.0.0.1:9", *arguments[name], OPENAI_API_KEY=broken
    )
    assert code == 2
    assert "OPENAI_API_KEY (environment)" in err
    assert "PLANTED" not in out + err
