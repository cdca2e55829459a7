"""What the server takes: requests, bytes, seconds; and what it says beyond."""

import asyncio
import gc
import json
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
from for_each import for_each
from judge_server import JudgeServer
from program import start_after
from starlette.requests import Request

from harness.features.serve import app, parsed_size
from harness.features.serve import requests as admission
from harness.features.serve.app import ServerLimits
from harness.features.serve.grade_request import GivenTest, SolutionItem
from harness.features.serve.parsed_size import parsed_bytes
from harness.features.serve.requests import SLOWEST, Holding, read_body
from harness.features.serve.server import BoundedConnection

BUSY = "import time; time.sleep(600)"
RIGHT = {"code": "print(input())", "language": "python", "stdin": "1"}


class Busy:
    """Requests that keep workers busy until they are let go."""

    def __init__(self, judge: JudgeServer, number: int) -> None:
        self._judge = judge
        self._sockets = [self._begin() for _ in range(number)]
        wait_until(lambda: state(judge)["running"] + state(judge)["waiting"] >= number)

    def _begin(self) -> socket.socket:
        body = b'{"code": "%s", "language": "python", "run_timeout": 600}' % BUSY.encode()
        host, _, port = self._judge.place.partition(":")
        connection = socket.create_connection((host, int(port)))
        head = f"POST /run_code HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n\r\n"
        connection.sendall(head.encode() + body)
        return connection

    def leave(self) -> None:
        """Close their connections."""
        for each in self._sockets:
            each.close()
        self._sockets.clear()


def state(judge: JudgeServer) -> dict[str, Any]:
    return judge.client.get("/health").json()


def wait_until(there: Any) -> None:
    deadline = time.monotonic() + 60
    while not there():
        assert time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture(scope="module")
def bounded() -> Iterator[JudgeServer]:
    bounds = ServerLimits(requests=2, body_bytes=1 << 20, held_bytes=3 << 19)
    with JudgeServer(workers=1, bounds=bounds) as server:
        server.run_code("print(1)")
        yield server


@pytest.fixture
def small(bounded: JudgeServer) -> JudgeServer:
    """A server with one worker, which does nothing."""
    places = bounded.service.places
    wait_until(lambda: (places.taken, places.bytes, state(bounded)["running"]) == (0, 0, 0))
    return bounded


class TestWhenItIsFull:
    def test_a_request_is_told_to_come_again(
        self, small: JudgeServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(small.service, "bounds", small.service.bounds._replace(wait_s=0.3))
        busy = Busy(small, 1)
        late = small.client.post("/run_code", json=RIGHT)
        assert late.status_code == 504  # which verl's client asks again after
        assert "no worker was free within 0.3 s" in late.json()["detail"]
        assert int(late.headers["retry-after"]) >= 1
        busy.leave()

    @pytest.mark.thorough
    def test_the_number_of_requests_is_bounded(self, small: JudgeServer) -> None:
        with small.service.places.take(), small.service.places.take():
            full = small.client.post("/grade", json={})
            assert full.status_code == 503
            assert int(full.headers["retry-after"]) >= 1
            assert state(small)["status"] == "ok"
        assert small.client.post("/run_code", json=RIGHT).status_code == 200

    @pytest.mark.thorough
    def test_a_client_that_leaves_gives_its_worker_back(self, small: JudgeServer) -> None:
        busy = Busy(small, 2)
        busy.leave()
        wait_until(lambda: state(small)["running"] + state(small)["waiting"] == 0)
        assert small.client.post("/run_code", json=RIGHT).status_code == 200
        wait_until(lambda: small.service.places.taken == 0)
        assert small.service.places.bytes == 0
        assert 'path="/run_code",status="499"' in small.client.get("/metrics").text

    @pytest.mark.thorough
    def test_a_compile_timeout_bounds_the_wait(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(app, "MARGIN_S", 0.3)
        with JudgeServer(workers=1) as judge:
            judge.run_code("print(1)")
            busy = Busy(judge, 1)
            asked = time.monotonic()
            with ThreadPoolExecutor() as threads:
                waits = threads.submit(judge.client.post, "/run_code", json=RIGHT)
                bounded = judge.client.post("/run_code", json={**RIGHT, "compile_timeout": 0.2})
                assert bounded.status_code == 504
                assert 0.5 <= time.monotonic() - asked < 60
                busy.leave()
                assert waits.result().json()["status"] == "Success"

    @pytest.mark.thorough
    def test_a_client_that_leaves_a_batch_ends_it(self, small: JudgeServer) -> None:
        items = [{"tests": [{"input": "", "output": ""}], "code": "import time; time.sleep(9)"}]
        with small.client.stream("POST", "/grade", json={"items": items * 50}):
            wait_until(lambda: state(small)["running"])
        wait_until(lambda: small.service.places.taken == 0)
        assert state(small)["running"] + state(small)["waiting"] == 0

    @pytest.mark.thorough
    def test_a_client_that_does_not_read_gives_its_place_back(
        self, judge: JudgeServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(app, "SEND_S", 1.0)
        body = b'{"code": "print(\'x\' * 40_000_000)", "language": "python"}'
        host, _, port = judge.place.partition(":")
        with socket.create_connection((host, int(port))) as connection:
            head = f"POST /run_code HTTP/1.1\r\nHost: {host}\r\nContent-Length: {len(body)}\r\n\r\n"
            connection.sendall(head.encode() + body)
            wait_until(lambda: judge.service.places.bytes > 40_000_000)
            wait_until(lambda: judge.service.places.taken == 0)
        assert judge.run_code("print(1)")["status"] == "Success"
        whole = judge.run_code("print('x' * 40_000_000)")
        assert len(whole["run_result"]["stdout"]) == 40_000_001


class TestBodies:
    def test_a_body_that_is_too_long_is_refused(self, small: JudgeServer) -> None:
        code = "#" * (1 << 20)
        status, detail = small.refused("/run_code", {**RIGHT, "code": code})
        assert (status, "1 MiB" in detail) == (413, True)

    def test_a_long_body_without_a_length_is_refused(self, small: JudgeServer) -> None:
        def pieces() -> Iterator[bytes]:
            for _ in range(64):
                yield b"#" * (1 << 16)

        answer = small.client.post("/run_code", content=pieces())
        assert answer.status_code == 413

    @pytest.mark.thorough
    def test_a_body_is_refused_when_others_hold_the_memory(self, small: JudgeServer) -> None:
        with Holding(small.service.places) as holding:
            holding.hold(1 << 20)
            code = "#" * (1 << 19)
            answer = small.client.post("/run_code", json={**RIGHT, "code": code})
            assert (answer.status_code, "memory" in answer.json()["detail"]) == (503, True)
            assert "retry-after" in answer.headers
        assert small.client.post("/run_code", json={**RIGHT, "code": code}).status_code == 200

    @pytest.mark.thorough
    def test_a_body_that_does_not_arrive_is_cut_off(
        self, small: JudgeServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(admission.read_body, "__defaults__", (0.3, 0.3))
        host, _, port = small.place.partition(":")
        with socket.create_connection((host, int(port))) as connection:
            head = "POST /run_code HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{"
            connection.sendall(head.encode())
            answer = b"".join(iter(lambda: connection.recv(1_000), b""))
        assert b" 408 " in answer
        wait_until(lambda: small.service.places.taken == 0)


def opened(judge: JudgeServer, sent: bytes, length: int) -> socket.socket:
    """A connection with a request whose body has come as far as `sent`."""
    host, _, port = judge.place.partition(":")
    connection = socket.create_connection((host, int(port)), timeout=60)
    head = f"POST /run_code HTTP/1.1\r\nHost: {host}\r\nContent-Length: {length}\r\n\r\n"
    connection.sendall(head.encode() + sent)
    return connection


class TestSlowBodies:
    @pytest.mark.thorough
    def test_slow_bodies_hold_no_place(self, small: JudgeServer) -> None:
        slow = [opened(small, b"{", 10) for _ in range(small.service.places.most + 3)]
        wait_until(lambda: small.service.places.bytes == len(slow))
        assert small.service.places.taken == 0
        assert small.client.post("/run_code", json=RIGHT).status_code == 200
        for each in slow:
            each.close()
        wait_until(lambda: small.service.places.bytes == 0)

    @pytest.mark.thorough
    def test_slow_bodies_are_cut_off(
        self, small: JudgeServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(read_body, "__defaults__", (600.0, 0.3))
        with opened(small, b"{", 10) as connection:
            answer = b"".join(iter(lambda: connection.recv(1_000), b""))  # "connection: close"
        assert answer.startswith(b"HTTP/1.1 408 ")
        assert b"less than 16 KiB a second" in answer
        wait_until(lambda: small.service.places.bytes == 0)

    @pytest.mark.thorough
    async def test_bodies_that_keep_the_pace_are_read(self, small: JudgeServer) -> None:
        async def receive() -> dict[str, Any]:
            if pieces:
                return {"type": "http.request", "body": pieces.pop(), "more_body": True}
            await asyncio.sleep(0.4)  # later than a body that has no bytes
            return {"type": "http.request", "body": b"!", "more_body": False}

        pieces = [bytes(SLOWEST * 60)]
        request = Request({"type": "http", "method": "POST", "headers": []}, receive)
        with Holding(small.service.places) as holding:
            body = await read_body(request, holding, 1 << 20, first_s=0.3)
        assert len(body) == SLOWEST * 60 + 1


def peak_bytes(pid: int) -> int:
    """Most memory that a process has had resident."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    (peak,) = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
    return int(peak) << 10


def many_tests(number: int) -> list[dict[str, str]]:
    return [{"input": "1", "output": "1"}] * number


class TestParsedSize:
    @pytest.mark.thorough
    def test_a_body_of_many_tests_is_refused(self, judge: JudgeServer) -> None:
        body = {"code": "print(1)", "tests": many_tests(200_000)}
        status, detail = judge.refused("/grade", body)
        assert (status, "need more than 160 MiB of memory" in detail) == (413, True)
        assert "several requests" in detail
        status, detail = judge.refused("/grade", {**body, "tests": many_tests(60_000)})
        assert (status, "60,000 tests at a time and their results" in detail) == (413, True)
        column = {"inputs": ["1"] * 60_000, "outputs": ["1"] * 60_000}
        status, detail = judge.refused("/grade", {"code": "print(1)", "input_output": column})
        assert (status, "60,000 tests at a time and their results" in detail) == (413, True)
        status, _ = judge.refused("/grade", {"items": [{**body, "tests": many_tests(20_000)}] * 10})
        assert status == 413

    @pytest.mark.thorough
    def test_a_body_of_json_within_a_string_is_refused(self, judge: JudgeServer) -> None:
        column = json.dumps({"inputs": [""] * 1_000_000, "outputs": [""] * 1_000_000})
        status, detail = judge.refused("/grade", {"code": "print(1)", "input_output": column})
        assert (status, "160 MiB" in detail) == (413, True)

    @pytest.mark.thorough
    def test_the_parsed_size_of_long_texts_is_small(self, judge: JudgeServer) -> None:
        text = '[{"' * 4_000_000
        tests = [{"input": text, "output": "12000000\n"}]
        answer = judge.grade(code="print(len(input()))", tests=tests)
        assert answer["verdict"] == "accepted"

    @pytest.mark.thorough
    def test_many_solutions_with_few_tests_each_are_judged(self, judge: JudgeServer) -> None:
        item = {"code": "print(2)", "tests": many_tests(300), "all_tests": False}
        answer = judge.client.post("/grade", json={"items": [item] * 250})  # 75,000 tests
        assert answer.status_code == 200
        verdicts = [json.loads(line)["verdict"] for line in answer.text.splitlines()]
        assert verdicts == ["wrong_answer"] * 250

    @pytest.mark.thorough
    async def test_a_body_of_140_000_tests_keeps_the_server_below_300_mb(
        self, tmp_path: Path
    ) -> None:
        alone = {"PYTHONHASHSEED": "0"}  # not forked from a process that has imported much else
        serve = ("serve", "--port", "0", "--workers", "1")
        process = await start_after("", tmp_path, *serve, **alone)
        assert process.stderr is not None
        url = (await process.stderr.readline()).decode().split()[-1]
        test = '{"input":"1","output":"1"}'
        body = '{"code":"print(1)","tests":[' + ",".join([test] * 140_000) + "]}"
        statuses: list[int] = []
        for _ in range(4):  # what a refused request took is given back
            answer = await asyncio.to_thread(httpx2.post, f"{url}/grade", content=body, timeout=300)
            statuses.append(answer.status_code)
        peak = peak_bytes(process.pid)
        process.terminate()
        await process.communicate()
        assert statuses == [413] * 4
        assert peak < 300_000_000

    @pytest.mark.thorough
    def test_counts_among_the_bytes_that_are_held(
        self, judge: JudgeServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        places = judge.service.places
        monkeypatch.setattr(places, "most_bytes", 40 << 20)
        body = {"code": "print(1)", "tests": many_tests(40_000)}
        assert len(json.dumps(body)) < 10 << 20
        with Holding(places) as holding:
            holding.hold(1)
            status, detail = judge.refused("/grade", body)
        assert (status, "memory" in detail) == (503, True)
        assert places.bytes == 0

    @pytest.mark.thorough
    def test_a_parsed_body_is_freed_when_the_client_leaves(self, judge: JudgeServer) -> None:
        def parsed() -> int:
            gc.collect()
            return sum(isinstance(each, GivenTest | SolutionItem) for each in gc.get_objects())

        body = {"code": BUSY, "tests": many_tests(20_000), "test_timeout": 600}
        with (
            ThreadPoolExecutor() as threads,
            socket.create_connection((judge.place.partition(":")[0], _port(judge))) as connection,
        ):
            data = json.dumps(body).encode()
            head = f"POST /grade HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(data)}\r\n\r\n"
            threads.submit(connection.sendall, head.encode() + data).result()
            wait_until(lambda: state(judge)["running"])
        wait_until(lambda: judge.service.places.taken == 0)
        assert judge.service.places.bytes == 0
        wait_until(lambda: parsed() == 0)

    @for_each(
        ("text", "least", "most"),
        [
            (b'{"a": [' + b"1," * 20_000 + b"1]}", 20_000 * 60, 20_000 * 61),
            (b'["' + b"[{," * 20_000 + b'"]', 0, 1_000),
            (b'["' + b'\\"[' * 20_000 + b'"]', 0, 1_000),
            (b"[" * 20_000, 20_000 * 120, 20_000 * 121),
            (b'"' + b"," * 20_000, 0, 1_000),
        ],
        ids=["numbers", "text", "escapes", "nested", "no end"],
    )
    def test_the_parsed_size_counts_values_outside_of_texts(
        self, text: bytes, least: int, most: int
    ) -> None:
        assert least <= parsed_bytes(text) <= most

    def test_the_parsed_size_is_counted_no_further_than_it_must(self) -> None:
        most = parsed_size.PARSED_BYTES
        assert most < parsed_bytes(b"{" * 2_000_000) < most + 1_000


def _port(judge: JudgeServer) -> int:
    return int(judge.place.partition(":")[2])


class TestConnections:
    @pytest.mark.thorough
    def test_connections_without_headers_are_closed(
        self, judge: JudgeServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(BoundedConnection, "headers_s", 0.3)
        host, _, port = judge.place.partition(":")
        for head in (b"", b"POST /run"):
            with socket.create_connection((host, int(port)), timeout=60) as connection:
                connection.sendall(head)
                assert connection.recv(100) == b""

    def test_the_number_of_connections_is_bounded(
        self, judge: JudgeServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(BoundedConnection, "most", 0)
        answer = httpx2.get(f"{judge.url}/health")
        assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")

    @pytest.mark.thorough
    def test_connections_are_used_again(
        self, judge: JudgeServer, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(BoundedConnection, "headers_s", 1.0)
        with httpx2.Client(base_url=judge.url) as client:
            code = "import time; time.sleep(1.5); print(1)"
            answer = client.post("/run_code", json={**RIGHT, "code": code})
            assert answer.json()["status"] == "Success"
            stream = client.get("/health").extensions["network_stream"]
            time.sleep(1.5)  # an idle connection owes no headers
            assert client.get("/health").extensions["network_stream"] is stream


@pytest.mark.thorough
def test_many_requests_at_once_are_all_answered(judge: JudgeServer) -> None:
    def ask(number: int) -> int:
        body = {"code": f"print({number})", "language": "python"}
        answer = judge.client.post("/run_code", json=body)
        return int(answer.json()["run_result"]["stdout"])

    before = threading.active_count()
    with ThreadPoolExecutor(32) as threads:
        assert list(threads.map(ask, range(64))) == [*range(64)]
    assert threading.active_count() - before < 32
