"""Only the browser that was given the key sees anything, and a page may do nothing else."""

import re
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import quote

import pytest
from runs_made import result, write_run, write_transcript
from starlette.testclient import TestClient

from harness.features.viewer.server import _bound, make_app

PORT, TOKEN = 9_999, "a-token"
HERE = f"http://127.0.0.1:{PORT}"


@pytest.fixture
def stranger(tmp_path: Path) -> Iterator[TestClient]:
    write_run(tmp_path / "r", [result("p/one")])
    client = TestClient(make_app(tmp_path, PORT, TOKEN), base_url=HERE)
    yield client
    client.close()


@pytest.fixture
def guest(stranger: TestClient) -> TestClient:
    assert stranger.get("/", params={"token": TOKEN}).status_code == 200
    return stranger


EVERYWHERE = ["/", "/runs/x", "/runs/x/samples/y", "/assets/view.js", "/assets/view.css", "/no"]


class TestTheKey:
    @pytest.mark.parametrize("path", EVERYWHERE)
    def test_nothing_is_seen_without_the_key(self, stranger: TestClient, path: str) -> None:
        answer = stranger.get(path)
        assert answer.status_code == 403
        assert "harness view" in answer.text

    @pytest.mark.parametrize("given", ["", "a-toke", "a-token2", "A-TOKEN", "\ud800", "é"])
    def test_another_key_is_refused(self, stranger: TestClient, given: str) -> None:
        word = quote(given.encode("utf-8", "surrogatepass"))
        answer = stranger.get(f"/?token={word}")
        assert answer.status_code == 403
        assert "set-cookie" not in answer.headers

    def test_gives_a_cookie_that_scripts_and_other_sites_do_not_get(
        self, stranger: TestClient
    ) -> None:
        answer = stranger.get("/", params={"token": TOKEN})
        cookie = answer.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=strict" in cookie
        assert cookie.startswith(f"harness_view_{PORT}=")
        assert TOKEN not in cookie
        assert TOKEN not in answer.text

    def test_opens_no_other_page_than_the_first(self, stranger: TestClient) -> None:
        assert stranger.get("/assets/view.js", params={"token": TOKEN}).status_code == 403

    def test_a_forged_cookie_is_none(self, stranger: TestClient) -> None:
        headers = {"Cookie": f"harness_view_{PORT}={TOKEN}"}
        assert stranger.get("/", headers=headers).status_code == 403

    def test_a_guest_with_the_key_sees_the_runs(self, guest: TestClient) -> None:
        assert ">r</a>" in guest.get("/").text

    def test_each_start_of_the_viewer_has_another_key(
        self, tmp_path: Path, guest: TestClient
    ) -> None:
        again = TestClient(make_app(tmp_path, PORT, "b"), base_url=HERE, cookies=guest.cookies)
        assert again.get("/").status_code == 403
        again.close()


@pytest.mark.parametrize(
    "host", ["evil.example", f"evil.example:{PORT}", "127.0.0.1", "127.0.0.1:1", "", "[::1]:9999"]
)
def test_another_host_name_is_refused(guest: TestClient, host: str) -> None:
    assert guest.get("/", headers={"Host": host}).status_code == 403
    assert guest.get("/", params={"token": TOKEN}, headers={"Host": host}).status_code == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
def test_nothing_can_be_changed(guest: TestClient, method: str) -> None:
    assert guest.request(method, "/").status_code == 405


@pytest.mark.parametrize(
    "path",
    [
        "/runs/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/runs/r",
        "/assets/..%2fapp.py",
        "/assets/../app.py",
        "/assets/%2e%2e/app.py",
        "/app.py",
        "/etc/passwd",
        "/%00",
        "/runs/r/run.json",
    ],
)
def test_no_address_leads_to_a_file(guest: TestClient, path: str) -> None:
    answer = guest.get(path)
    assert answer.status_code == 404
    assert "import" not in answer.text
    assert "root:" not in answer.text


class TestEveryAnswer:
    @pytest.mark.parametrize("path", [*EVERYWHERE, "/?token=wrong"])
    def test_says_what_a_page_may_do(self, guest: TestClient, path: str) -> None:
        headers = guest.get(path).headers
        rules = dict(
            rule.partition(" ")[::2] for rule in headers["content-security-policy"].split("; ")
        )
        assert rules["default-src"] == "'none'"
        assert re.fullmatch(r"'nonce-[\w-]{20,}'", rules["script-src"])
        assert rules["frame-ancestors"] == rules["base-uri"] == "'none'"
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "same-origin"
        assert headers["cache-control"] == "no-store"
        assert headers["cross-origin-resource-policy"] == "same-origin"

    def test_every_answer_has_a_nonce_of_its_own(self, guest: TestClient) -> None:
        nonces = {guest.get("/").headers["content-security-policy"] for _ in range(5)}
        assert len(nonces) == 5

    def test_refused_answers_have_a_content_security_policy(self, stranger: TestClient) -> None:
        assert "default-src 'none'" in stranger.get("/").headers["content-security-policy"]


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def test_pages_hold_no_script_and_no_style_of_their_own(guest: TestClient, tmp_path: Path) -> None:
    write_transcript(tmp_path / "r", "p/one", [])
    run = re.findall(r'href="(/runs/[^"]+)"', guest.get("/").text)[0]
    sample = re.findall(r'href="(/runs/\w+/samples/[^"]+)"', guest.get(run).text)[0]
    for path in ("/", run, sample, "/?token=x"):
        answer = guest.get(path)
        tags = _Tags()
        tags.feed(answer.text)
        assert tags.found
        for tag, attributes in tags.found:
            assert not [name for name in attributes if name.startswith("on") or name == "style"]
            assert tag not in {"style", "iframe", "object", "embed", "base"}
            for name in ("src", "href", "action"):
                assert (attributes.get(name) or "/").startswith(("/", "?", "#", "data:,")), tag
            if tag == "script":
                nonce = attributes["nonce"]
                assert f"'nonce-{nonce}'" in answer.headers["content-security-policy"]
                assert attributes["src"] == "/assets/view.js"


def test_the_viewer_listens_on_this_machine_alone() -> None:
    with _bound(0) as bound:
        assert bound.getsockname()[0] == "127.0.0.1"
