"""Inspect's `.eval` log of a run, for its viewer and its data frames (https://inspect.aisi.org.uk).

It is written by `inspect_ai` itself, from its own model of a log.
"""

# The extra need not be installed where this is checked.
# pyright: reportMissingImports=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from harness.agent.events import Event, SampleStart
from harness.errors import UsageError
from harness.exports.messages import arguments_of, said_in, transcript_of
from harness.exports.sample_records import EFFICIENCY_FIELDS
from harness.models.protocol import (
    AssistantMessage,
    Message,
    SystemMessage,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
)
from harness.runs.reading import Run
from harness.runs.results import SampleResult
from harness.runs.summary import Summary
from harness.runs.transcripts import Transcripts
from harness.stats.rates import Rate

SCORER = "harness"
SOLVED, UNSOLVED = "C", "I"


def write_inspect(run: Run, path: Path) -> None:
    """Write a run as a log.

    Raises:
        UsageError: inspect_ai is not installed.
        RunDirectoryError: a transcript cannot be read.
        OSError: the disk refused.
    """
    try:
        from inspect_ai.log import write_eval_log
    except ImportError as error:
        raise UsageError(
            "--to inspect needs inspect_ai: pip install 'harness[inspect]', or take another format"
        ) from error
    write_eval_log(_log(run), str(path.absolute()), format="eval")


def _log(run: Run) -> Any:
    from inspect_ai.log import (
        EvalConfig,
        EvalDataset,
        EvalLog,
        EvalMetric,
        EvalResults,
        EvalScore,
        EvalSpec,
        EvalStats,
    )
    from inspect_ai.model import GenerateConfig

    spec, summary = run.spec, run.summary
    model = str(spec["model"])
    with Transcripts(run.path) as transcripts:
        samples = [
            _sample(run, result, transcript_of(transcripts, result.problem_id, result.index) or [])
            for result in run.results
        ]
    score = EvalScore(
        name=SCORER,
        scorer=SCORER,
        reducer="mean",
        scored_samples=summary.graded,
        unscored_samples=summary.ungraded,
        metrics={
            name: EvalMetric(
                name=name,
                value=rate.value,
                metadata={"low": rate.low, "high": rate.high, "problems": rate.problems},
            )
            for name, rate in _metrics(summary).items()
        },
    )
    began = _time(run.manifest.get("created"))
    return EvalLog(
        status="success" if len(run.results) >= run.planned else "started",
        eval=EvalSpec(
            created=began,
            task=f"{spec.get('benchmark') or 'fixture'} {spec['mode']}",
            dataset=EvalDataset(
                name=str(spec.get("benchmark") or "fixture"),
                samples=len(run.manifest["problems"]),
                sample_ids=list(run.manifest["problems"]),
            ),
            model=model,
            model_generate_config=GenerateConfig(
                temperature=spec.get("temperature"), max_tokens=spec.get("max_tokens")
            ),
            config=EvalConfig(epochs=int(spec["samples_per_problem"])),
            packages={"harness": str(run.manifest.get("harness", ""))},
            metadata={"prompt": run.manifest["prompt"], "run": run.name},
        ),
        results=EvalResults(
            total_samples=run.planned, completed_samples=len(run.results), scores=[score]
        ),
        stats=EvalStats(started_at=began, model_usage={model: _usage(summary.usage)}),
        samples=samples,
    )


def _sample(run: Run, result: SampleResult, events: Sequence[Event]) -> Any:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput
    from inspect_ai.scorer import Score

    model = str(run.spec["model"])
    said = [message for each in said_in(events).conversations for message in each]
    opening: list[Message] = []
    for message in said:
        if isinstance(message, AssistantMessage):
            break
        opening.append(message)
    last = next((m for m in reversed(said) if isinstance(m, AssistantMessage)), None)
    final = ChatMessageAssistant(content=last.text if last else "", model=model)
    start = next((event for event in events if isinstance(event, SampleStart)), None)
    value = SOLVED if result.solved else UNSOLVED
    return EvalSample(
        id=result.problem_id,
        epoch=result.index + 1,
        input=[_message(message, model) for message in opening] or result.title,
        target="",
        messages=[_message(message, model) for message in said],
        output=ModelOutput(
            model=model,
            choices=[ChatCompletionChoice(message=final)],
            usage=_usage(result.usage) if result.usage else None,
        ),
        scores={
            SCORER: Score(
                value=value,
                answer=result.code,
                explanation=result.verdict.replace("_", " "),
                metadata={
                    "verdict": str(result.verdict),
                    "public_passed": result.public_passed,
                    "public_total": result.public_total,
                    "hidden_passed": result.hidden_passed,
                    "hidden_total": result.hidden_total,
                    **_efficiency(result),
                },
            )
        }
        if result.graded
        else None,
        metadata={
            "title": result.title,
            "platform": result.platform,
            "difficulty": result.difficulty,
            "tags": list(result.tags),
            "release_date": result.release_date.isoformat() if result.release_date else None,
            "stop_reason": str(result.stop_reason),
            "cost": result.cost,
        },
        model_usage={model: _usage(result.usage)} if result.usage else {},
        started_at=_time(start.time) if start and start.time else None,
        total_time=result.seconds,
    )


def _metrics(summary: Summary) -> dict[str, Rate]:
    timed = summary.efficiency
    named = {
        "accuracy": summary.pass_at_1,
        "beyond_at_1": timed.beyond if timed else None,
        "beyond_at_1_passed": timed.beyond_passed if timed else None,
        "percentile_rank": timed.percentile if timed else None,
    }
    return {name: rate for name, rate in named.items() if rate is not None}


def _efficiency(result: SampleResult) -> dict[str, Any]:
    found = result.efficiency
    if found is None:
        return {}
    return {name: getattr(found, name) for name in EFFICIENCY_FIELDS}


def _message(message: Message, model: str) -> Any:
    from inspect_ai.model import (
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageTool,
        ChatMessageUser,
    )
    from inspect_ai.tool import ToolCallError

    match message:
        case SystemMessage():
            return ChatMessageSystem(content=message.content)
        case UserMessage():
            return ChatMessageUser(content=message.content)
        case ToolMessage():
            kind = "parsing" if message.malformed else "unknown"
            error = ToolCallError(kind, message.content) if message.is_error else None
            return ChatMessageTool(
                content=message.content,
                tool_call_id=message.call_id,
                function=message.name,
                error=error,
            )
        case AssistantMessage():
            calls = [_call(call) for call in message.tool_calls]
            return ChatMessageAssistant(
                content=message.text, tool_calls=calls or None, model=model, source="generate"
            )


def _call(call: ToolCall) -> Any:
    from inspect_ai.tool import ToolCall as InspectCall

    arguments, error = arguments_of(call.arguments)
    return InspectCall(id=call.id, function=call.name, arguments=arguments, parse_error=error)


def _usage(usage: Usage) -> Any:
    from inspect_ai.model import ModelUsage

    return ModelUsage(
        input_tokens=usage.input_tokens - usage.cached_input_tokens - usage.cache_write_tokens,
        output_tokens=usage.output_tokens,
        total_tokens=usage.total_tokens,
        input_tokens_cache_read=usage.cached_input_tokens,
        input_tokens_cache_write=usage.cache_write_tokens,
        reasoning_tokens=usage.reasoning_tokens,
    )


def _time(text: object) -> str:
    """A time with its zone, as a log has to have it."""
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        found = datetime.fromtimestamp(0, UTC)
    return found.astimezone(UTC).isoformat()
