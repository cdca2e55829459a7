"""Inspect's `.eval` log of a run, for its viewer and its data frames.

`inspect_ai` itself writes the file, from its own types; see https://inspect.aisi.org.uk.
"""

# The type checker may run without the extra `inspect`.
# pyright: reportMissingImports=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false
# pyright: reportMissingTypeStubs=false

import hashlib
import json
from collections.abc import Sequence
from datetime import timedelta
from itertools import takewhile
from pathlib import Path
from typing import Any

from harness.agent.events import Event, SampleStart
from harness.errors import UsageError
from harness.features.export.conversations import transcript_of
from harness.features.export.inspect_events import SampleLog, time_of, usage_of
from harness.features.export.sample_rows import EFFICIENCY_FIELDS
from harness.run.store.results import SampleResult
from harness.run.store.transcripts import Transcripts
from harness.run.summary.loaded_run import Run
from harness.run.summary.summary import Summary
from harness.stats.rates import Rate

SCORER = "harness"
SOLVED, UNSOLVED = "C", "I"


def write_inspect(run: Run, path: Path) -> None:
    """Write a run as an Inspect log.

    Raises:
        UsageError: inspect_ai is not installed.
        RunDirectoryError: a transcript cannot be read.
        OSError: the disk refused a write.
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
    transcripts = Transcripts(run.path)
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
    began = time_of(run.manifest.get("created")).isoformat()
    done = max((each.completed_at for each in samples if each.completed_at), default=began)
    benchmark = str(spec.get("benchmark") or "fixture")
    return EvalLog(
        status="success" if len(run.results) >= run.planned else "started",
        eval=EvalSpec(
            created=began,
            eval_id=_key(run, "eval"),
            run_id=_key(run, "run"),
            task=f"{benchmark} {spec['mode']}",
            task_id=_key(run, "task"),
            dataset=EvalDataset(
                name=benchmark,
                samples=len(run.manifest["problems"]),
                sample_ids=list(run.manifest["problems"]),
            ),
            model=model,
            model_generate_config=GenerateConfig(
                temperature=spec.get("temperature"), max_tokens=spec.get("max_tokens")
            ),
            config=EvalConfig(epochs=int(spec["samples_per_problem"])),
            packages={"harness": str(run.manifest.get("harness", ""))},
            metadata={"prompt": run.prompt, "run": run.name},
        ),
        results=EvalResults(
            total_samples=run.planned, completed_samples=len(run.results), scores=[score]
        ),
        stats=EvalStats(
            started_at=began,
            completed_at=done,
            model_usage={model: usage_of(summary.usage)},
        ),
        samples=samples,
    )


def _sample(run: Run, result: SampleResult, events: Sequence[Event]) -> Any:
    from inspect_ai.dataset import Sample
    from inspect_ai.log import EvalSample, condense_sample
    from inspect_ai.model import ChatCompletionChoice, ChatMessageAssistant, ModelOutput
    from inspect_ai.scorer import Score

    model = str(run.spec["model"])
    start = next((event for event in events if isinstance(event, SampleStart)), None)
    began = time_of(start.time) if start and start.time else None
    key = _key(run, result.sample)
    log = SampleLog(key, model, began or time_of(run.manifest.get("created")), run.tools_sent)
    log.read(events)
    opening = list(takewhile(lambda message: message.role != "assistant", log.messages))
    answers = [message for message in log.messages if message.role == "assistant"]
    final = answers[-1] if answers else ChatMessageAssistant(content="", model=model)
    shown = opening or result.title
    score = Score(
        value=SOLVED if result.solved else UNSOLVED,
        answer=result.code,
        explanation=result.verdict.replace("_", " "),
        metadata={
            "verdict": str(result.verdict),
            "public_passed": result.public_passed,
            "public_total": result.public_total,
            "hidden_passed": result.hidden_passed,
            "hidden_total": result.hidden_total,
            **({} if result.score is None else {"score": result.score.model_dump()}),
            **_efficiency(result),
        },
    )
    log.begin(Sample(id=result.problem_id, input=shown, target=""))
    if result.graded:
        log.score(score, SCORER)
    sample = EvalSample(
        id=result.problem_id,
        epoch=result.index + 1,
        uuid=key,
        input=shown,
        target="",
        messages=log.messages,
        events=log.events,
        output=ModelOutput(
            model=model,
            choices=[ChatCompletionChoice(message=final)],
            usage=usage_of(result.usage) if result.usage else None,
        ),
        scores={SCORER: score} if result.graded else None,
        metadata={
            "title": result.title,
            "platform": result.platform,
            "difficulty": result.difficulty,
            "tags": list(result.tags),
            "release_date": result.release_date.isoformat() if result.release_date else None,
            "stop_reason": str(result.stop_reason),
            "cost": result.cost,
        },
        model_usage={model: usage_of(result.usage)} if result.usage else {},
        started_at=began.isoformat() if began else None,
        completed_at=(began + timedelta(seconds=result.seconds)).isoformat() if began else None,
        total_time=result.seconds,
    )
    return condense_sample(sample)


def _key(run: Run, *names: object) -> str:
    """Return an id, as long as Inspect's own, that is stable across exports."""
    identity = json.dumps([run.manifest.get("created"), run.prompt, run.spec, *names])
    return hashlib.sha256(identity.encode()).hexdigest()[:22]


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
    efficiency = result.efficiency
    if efficiency is None:
        return {}
    return {name: getattr(efficiency, name) for name in EFFICIENCY_FIELDS}
