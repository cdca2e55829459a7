"""Proxies and certificates that the environment names."""

import asyncio
import http.server
import shutil
import ssl
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from for_each import for_each
from program import harness, run

from harness.models.clients.connections import certificates

ONE = ("run", "-b", "fixture", "-n", "3", "--out", "r")
KEYS = {"OPENAI_API_KEY": "x", "ANTHROPIC_API_KEY": "x"}


@for_each("model", ["gpt-5-mini", "claude-sonnet-4-5"])
@for_each(
    ("env", "message"),
    [
        (
            {"ALL_PROXY": "socks5://me:secret@127.0.0.1:9"},
            "ALL_PROXY names a SOCKS proxy, which needs the package socksio: pip install socksio, "
            "or name an HTTP proxy",
        ),
        (
            {"https_proxy": "odd://me:secret@127.0.0.1:9"},
            "https_proxy: not the address of a proxy: Unknown scheme for proxy URL "
            "URL('odd://127.0.0.1:9')",
        ),
        (
            {"SSL_CERT_FILE": "absent"},
            "SSL_CERT_FILE: absent holds no certificates: No such file or directory",
        ),
        ({"SSL_CERT_FILE": "."}, "SSL_CERT_FILE: . holds no certificates: Is a directory"),
        ({"SSL_CERT_FILE": "empty"}, "SSL_CERT_FILE: empty holds no certificates"),
    ],
)
def test_a_proxy_or_certificates_that_cannot_be_used_are_an_error_of_one_line(
    tmp_path: Path, model: str, env: dict[str, str], message: str
) -> None:
    (tmp_path / "empty").write_text("")
    done = harness(tmp_path, *ONE, "-m", model, **KEYS, **env)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].startswith(f"harness: {message}")
    assert "Traceback" not in done.stderr
    assert "secret" not in done.stderr


@pytest.fixture
def untrusted(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A server with a certificate of its own making; its address and that certificate."""
    openssl = shutil.which("openssl")
    if openssl is None:
        pytest.skip("openssl, which makes a certificate, is not installed")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    made = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=here"]
    named = ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out"]
    subprocess.run([openssl, *made, *named, str(certificate)], capture_output=True, check=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Denies) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"https://127.0.0.1:{server.server_address[1]}/v1", certificate
        server.shutdown()
        thread.join()


class Denies(http.server.BaseHTTPRequestHandler):
    """Knows no key."""

    def do_POST(self) -> None:
        self.send_error(401)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.mark.parametrize("model", ["gpt-5-mini", "claude-sonnet-4-5"])
def test_a_certificate_that_cannot_be_verified_stops_the_run_at_once(
    tmp_path: Path, untrusted: tuple[str, Path], model: str
) -> None:
    address, certificate = untrusted
    asked = (*ONE, "-m", model, "--base-url", address)
    code, _, err = asyncio.run(run(tmp_path, *asked, **KEYS))
    assert code == 4
    assert f"the certificate of {address} cannot be verified (self-signed certificate)" in err
    assert "SSL_CERT_FILE" in err
    assert "retry" not in err
    assert "paused" not in err
    trusting = ("run", "--resume", "r")
    code, _, err = asyncio.run(run(tmp_path, *trusting, **KEYS, SSL_CERT_FILE=str(certificate)))
    assert code == 4
    assert "HTTP 401" in err


def test_certificates_are_read_once_for_each_file(
    untrusted: tuple[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = certificates()
    assert certificates() is usual
    monkeypatch.setenv("SSL_CERT_FILE", str(untrusted[1]))
    assert certificates() is not usual
    assert certificates().cert_store_stats()["x509"] == 1
