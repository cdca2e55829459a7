"""The observer `otel`: a run and its samples as OpenTelemetry spans of the `gen_ai` conventions.

A run is a span, each sample a span `invoke_agent` below it with its model, tokens and cost, and its
verdict an event `gen_ai.evaluation.result`. Spans go to the collector that the environment names
(`OTEL_EXPORTER_OTLP_ENDPOINT`), in a thread of their own. Texts of the model are not sent.
"""

import logging
from collections.abc import Sequence
from datetime import datetime
from importlib.util import find_spec
from typing import Any

from harness.errors import UsageError
from harness.features.observers.observer_events import (
    Observed,
    RunEnded,
    RunFailed,
    RunStarted,
    SampleEnded,
    SampleFailed,
    SamplePutOff,
    SampleStarted,
)
from harness.run.store.results import SampleResult
from harness.version import __version__

TIMEOUT_S = 3.0
"""Most seconds for one request to the collector, its repetitions included."""
NEEDED = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")


def check_installed() -> None:
    """Refuse the observer without its packages. Raises UsageError."""
    try:
        missing = [name for name in NEEDED if find_spec(name) is None]
    except ModuleNotFoundError:
        missing = [NEEDED[0]]
    if missing:
        raise UsageError("--observer otel needs OpenTelemetry: pip install 'harness[otel]'")


class GenAiSpans:
    """Turns events into spans; made and called in a thread of its own.

    Args:
        timeout_s: most seconds for one request to the collector.
    """

    def __init__(self, timeout_s: float = TIMEOUT_S) -> None:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        for name in ("opentelemetry.exporter", "opentelemetry.sdk"):
            logging.getLogger(name).setLevel(logging.CRITICAL)  # `close` says it in one line
        self._sent = CountingExporter(OTLPSpanExporter(timeout=timeout_s))
        resource = Resource.create({"service.name": "harness", "service.version": __version__})
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        exporter: Any = self._sent  # it has the methods of a SpanExporter
        self._provider.add_span_processor(BatchSpanProcessor(exporter))
        self._tracer: Any = self._provider.get_tracer("harness", __version__)
        self._run: Any = None
        self._model = ""
        self._samples: dict[str, Any] = {}

    def __call__(self, event: Observed) -> None:
        """Begin or end the span of an event."""
        match event:
            case RunStarted():
                self._begin_run(event)
            case SampleStarted():
                self._begin_sample(event.sample, event.time)
            case SampleEnded():
                span = self._sample(event.sample, event.time)
                _describe(span, event.result)
                span.end(_nanoseconds(event.time))
            case SampleFailed():
                self._fail(event.sample, str(event.verdict), event.time)
            case SamplePutOff():
                self._fail(event.sample, "put_off", event.time)
            case RunEnded():
                self._end_run(event.time, event.outcome)
            case RunFailed():
                self._end_run(event.time, "failed")

    def close(self) -> None:
        """Send what is left. Raises RuntimeError if spans were not delivered."""
        self._provider.shutdown()
        if self._sent.lost:
            raise RuntimeError(f"{self._sent.lost:,} spans did not reach the collector")

    def _begin_run(self, event: RunStarted) -> None:
        self._model = event.model
        attributes = {
            "gen_ai.request.model": event.model,
            "harness.mode": event.mode,
            "harness.prompt": event.prompt,
            "harness.problems": event.problems,
            "harness.samples": event.samples,
        }
        self._run = self._tracer.start_span(
            "harness run", attributes=attributes, start_time=_nanoseconds(event.time)
        )

    def _begin_sample(self, sample: str, time: str) -> Any:
        from opentelemetry.trace import SpanKind, set_span_in_context

        context = None if self._run is None else set_span_in_context(self._run)
        attributes = {
            "gen_ai.operation.name": "invoke_agent",
            "gen_ai.agent.name": "harness",
            "gen_ai.request.model": self._model,
            "harness.sample": sample,
        }
        span = self._tracer.start_span(
            "invoke_agent harness",
            context,
            SpanKind.INTERNAL,
            attributes,
            start_time=_nanoseconds(time),
        )
        self._samples[sample] = span
        return span

    def _sample(self, sample: str, time: str) -> Any:
        spans = self._samples.pop(sample, None)
        if spans is None:  # its start was lost
            spans = self._begin_sample(sample, time)
            del self._samples[sample]
        return spans

    def _fail(self, sample: str, why: str, time: str) -> None:
        from opentelemetry.trace import StatusCode

        span = self._sample(sample, time)
        span.set_attribute("error.type", why)
        span.set_status(StatusCode.ERROR)
        span.end(_nanoseconds(time))

    def _end_run(self, time: str, outcome: str) -> None:
        for span in self._samples.values():
            span.end(_nanoseconds(time))
        self._samples.clear()
        if self._run is not None:
            self._run.set_attribute("harness.outcome", outcome)
            self._run.end(_nanoseconds(time))
            self._run = None


class CountingExporter:
    """An exporter that counts the spans that another one could not deliver."""

    def __init__(self, exporter: Any) -> None:
        self._exporter = exporter
        self.lost = 0

    def export(self, spans: Sequence[Any]) -> Any:
        """Send spans, and count them if that failed."""
        from opentelemetry.sdk.trace.export import SpanExportResult

        try:
            result = self._exporter.export(spans)
        except Exception:  # noqa: BLE001 - of the exporter; a run must not notice
            result = SpanExportResult.FAILURE
        if result is not SpanExportResult.SUCCESS:
            self.lost += len(spans)
        return result

    def shutdown(self) -> None:
        """End the exporter."""
        self._exporter.shutdown()

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Send what waits."""
        return bool(self._exporter.force_flush(timeout_millis))


def _describe(span: Any, result: SampleResult) -> None:
    """Add tokens, cost and the verdict to a sample's span."""
    if result.usage is not None:
        span.set_attribute("gen_ai.usage.input_tokens", result.usage.input_tokens)
        span.set_attribute("gen_ai.usage.output_tokens", result.usage.output_tokens)
    if result.cost is not None:
        span.set_attribute("harness.cost_usd", result.cost)
    span.set_attribute("harness.model_calls", result.model_calls)
    span.set_attribute("harness.stop_reason", str(result.stop_reason))
    evaluation: dict[str, Any] = {
        "gen_ai.evaluation.name": "tests",
        "gen_ai.evaluation.score.label": str(result.verdict),
    }
    if result.graded:
        evaluation["gen_ai.evaluation.score.value"] = float(result.solved)
    if result.impossible is not None:
        evaluation["harness.impossible.outcome"] = str(result.impossible.outcome)
    span.add_event("gen_ai.evaluation.result", evaluation)


def _nanoseconds(time: str) -> int:
    """Return an event's time in nanoseconds of Unix time."""
    return int(datetime.fromisoformat(time).timestamp() * 1_000_000_000)
