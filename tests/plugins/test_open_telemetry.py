"""`--observer otel`: spans of a run at a collector; a dead collector harms no run."""

import gzip
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from program import harness, harness_after, results

pytest.importorskip("opentelemetry.sdk", reason="harness[otel] is not installed")
trace_service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")

RUN = ("run", "--agentic-mode", "-n", "2", "--observer", "otel", "--out", "r")


class Collector(ThreadingHTTPServer):
    """A collector on the loopback interface that keeps the spans it gets."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"


class Handler(BaseHTTPRequestHandler):
    server: Collector

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        request = trace_service.ExportTraceServiceRequest.FromString(body)
        for resource in request.resource_spans:
            for scope in resource.scope_spans:
                self.server.spans += scope.spans
        self.send_response(200)
        self.send_header("content-type", "application/x-protobuf")
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[Collector]:
    server = Collector()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.shutdown()
    server.server_close()
    thread.join()


def attributes(entries: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, each.value.WhichOneof("value")) for each in entries}


def test_a_run_and_its_samples_are_spans(collector: Collector, tmp_path: Path) -> None:
    done = harness(tmp_path, *RUN, OTEL_EXPORTER_OTLP_ENDPOINT=collector.address)
    assert done.returncode == 0, done.stderr
    (run,) = [span for span in collector.spans if span.name == "harness run"]
    samples = [span for span in collector.spans if span.name == "invoke_agent harness"]
    committed = {each["sample"]: each for each in results(tmp_path / "r")}
    assert len(samples) == len(committed) == 2
    assert {span.parent_span_id for span in samples} == {run.span_id}
    assert attributes(run.attributes)["harness.outcome"] == "done"
    for span in samples:
        spans = attributes(span.attributes)
        result = committed[spans["harness.sample"]]
        assert spans["gen_ai.operation.name"] == "invoke_agent"
        assert spans["gen_ai.request.model"] == "replay:bundled"
        assert spans["gen_ai.usage.output_tokens"] == result["usage"]["output_tokens"]
        assert span.end_time_unix_nano >= span.start_time_unix_nano > 0
        (event,) = span.events
        verdict = attributes(event.attributes)
        assert event.name == "gen_ai.evaluation.result"
        assert verdict["gen_ai.evaluation.score.label"] == result["verdict"]


@pytest.mark.thorough
def test_a_dead_collector_costs_a_run_one_line(tmp_path: Path) -> None:
    plain = harness(tmp_path, *RUN[:4], "--out", "plain")
    done = harness(tmp_path, *RUN, OTEL_EXPORTER_OTLP_ENDPOINT="http://127.0.0.1:9")
    assert done.returncode == plain.returncode == 0, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if "otel" in line]
    assert "did not reach the collector" in line
    assert len(done.stderr.splitlines()) == len(plain.stderr.splitlines()) + 1
    assert len(results(tmp_path / "r")) == len(results(tmp_path / "plain"))


ABSENT = """
import importlib.abc, sys

class Absent(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.startswith("opentelemetry.sdk"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Absent())
for name in [name for name in sys.modules if name.startswith("opentelemetry.sdk")]:
    del sys.modules[name]
"""


def test_without_its_packages_it_is_refused_in_one_line(tmp_path: Path) -> None:
    done = harness_after(ABSENT, tmp_path, *RUN)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[-1].endswith("pip install 'harness[otel]'")
    assert not (tmp_path / "r").exists()
