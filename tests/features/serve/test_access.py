"""Who may ask: anybody on this machine but a web page; elsewhere whoever has the token."""

from collections.abc import Iterator

import httpx2
import pytest
from for_each import for_each
from judge_server import JudgeServer

TOKEN = "0123456789abcdef-ü".replace("ü", "u")
RUN = {"code": "print(1)", "language": "python"}
PATHS = ("/run_code", "/grade", "/metrics", "/elsewhere")


@pytest.fixture(scope="module")
def guarded() -> Iterator[JudgeServer]:
    with JudgeServer(workers=1, token=TOKEN) as server:
        yield server


class TestWithAToken:
    @for_each("path", PATHS)
    @for_each(
        "shown",
        ["", "Bearer", "Bearer x", f"Bearer {TOKEN}x", f"Token {TOKEN}", "Basic !!", "Basic AAAA"],
    )
    def test_strangers_are_refused(self, guarded: JudgeServer, path: str, shown: str) -> None:
        answer = guarded.client.post(path, json=RUN, headers={"authorization": shown})
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"] == "Bearer"
        assert TOKEN not in answer.text

    def test_the_token_is_taken_as_a_bearer_token(self, guarded: JudgeServer) -> None:
        headers = {"authorization": f"Bearer {TOKEN}"}
        answer = guarded.client.post("/run_code", json=RUN, headers=headers)
        assert answer.json()["status"] == "Success"

    def test_the_token_is_taken_from_the_address(self, guarded: JudgeServer) -> None:
        address = f"http://any:{TOKEN}@{guarded.place}/run_code"
        assert httpx2.post(address, json=RUN).json()["status"] == "Success"

    def test_health_needs_no_token(self, guarded: JudgeServer) -> None:
        assert guarded.client.get("/health").status_code == 200

    def test_refusals_are_counted(self, guarded: JudgeServer) -> None:
        guarded.client.post("/grade", json={})
        headers = {"authorization": f"Bearer {TOKEN}"}
        text = guarded.client.get("/metrics", headers=headers).text
        assert 'harness_requests_total{path="/grade",status="401"}' in text


class TestWithoutOne:
    @for_each(
        "headers",
        [
            {"origin": "http://evil.example"},
            {"origin": "null"},
            {"host": "evil.example"},
            {"host": "evil.example:8080"},
            {"host": "127.0.0.1.evil.example"},
        ],
    )
    def test_a_web_page_is_refused(self, judge: JudgeServer, headers: dict[str, str]) -> None:
        answer = judge.client.post("/run_code", json=RUN, headers=headers)
        assert answer.status_code == 403

    @for_each("host", ["localhost", "127.0.0.1", "LOCALHOST:1", "[::1]:8080"])
    def test_every_name_of_this_machine_is_accepted_as_host(
        self, judge: JudgeServer, host: str
    ) -> None:
        answer = judge.client.post("/run_code", json=RUN, headers={"host": host})
        assert answer.status_code == 200


def test_other_paths_and_methods_are_refused(judge: JudgeServer) -> None:
    assert judge.client.get("/").status_code == 404
    assert judge.client.get("/run_code").status_code == 405
    assert judge.client.post("/health").status_code == 405
