"""A record of Every Eval Ever: a run's rates, model and settings as one JSON object.

Fields follow version 0.3.0 of its schema (https://github.com/evaleval/every_eval_ever,
`every_eval_ever/schemas/eval.schema.json`, commit 9bce4136 of 2026-08-13).
"""

import json
import time
from collections.abc import Iterator, Mapping
from typing import Any

from harness.features.export.published_rate import PublishedRate, published_rate
from harness.run.summary.loaded_run import Run
from harness.stats.rates import Rate
from harness.version import __version__

TO = "every-eval-ever"
SCHEMA = "0.3.0"
URL = "https://github.com/evaleval/every_eval_ever"


def every_eval_ever_text(run: Run) -> Iterator[str]:
    """Yield the record. Raises UsageError if the run has no final rate."""
    rate = published_rate(run, TO)
    now = f"{time.time():.0f}"
    model = str(run.spec.get("model") or "unknown")
    record = {
        "schema_version": SCHEMA,
        "evaluation_id": f"{rate.benchmark}/{model}/{now}",
        "evaluation_timestamp": str(run.manifest.get("created") or now),
        "retrieved_timestamp": now,
        "source_metadata": {
            "source_name": "harness",
            "source_type": "evaluation_run",
            "source_organization_name": "unknown",
            "evaluator_relationship": "other",
        },
        "eval_library": {
            "name": "harness",
            "version": str(run.manifest.get("harness") or __version__),
        },
        "model_info": {
            "name": model,
            "id": model,
            "additional_details": {
                "deployment_type": "unknown",
                "model_availability": "unknown",
            },
        },
        "evaluation_results": [_result(run, rate, *each) for each in _metrics(run)],
    }
    yield json.dumps(record, ensure_ascii=False, indent=2) + "\n"


def _metrics(run: Run) -> Iterator[tuple[str, dict[str, Any], Rate]]:
    """Yield name, parameters and rate of each metric."""
    summary = run.summary
    if summary.pass_at_1 is not None:
        yield "pass@1", {"k": 1}, summary.pass_at_1
    for several in summary.of_several:
        if several.any_right is not None and several.k > 1:
            yield f"pass@{several.k}", {"k": several.k}, several.any_right


def _result(
    run: Run, published: PublishedRate, name: str, parameters: Mapping[str, Any], rate: Rate
) -> dict[str, Any]:
    evaluation = " ".join(filter(None, (published.benchmark, published.where)))
    return {
        "evaluation_result_id": f"{evaluation}/{name}",
        "evaluation_name": evaluation,
        "source_data": _source(published),
        "metric_config": {
            "evaluation_description": "Share of problems whose solution passes all tests.",
            "metric_id": name.replace("@", "_at_"),
            "metric_name": name,
            "metric_kind": "pass_rate",
            "metric_unit": "proportion",
            "metric_parameters": dict(parameters),
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": 0,
            "max_score": 1,
        },
        "score_details": {
            "score": rate.value,
            "details": {"setup": published.notes},
            "uncertainty": {
                "confidence_interval": {
                    "lower": rate.low,
                    "upper": rate.high,
                    "confidence_level": 0.95,
                    "method": "Wilson's interval over problems",
                },
                "num_samples": run.summary.graded,
            },
        },
        "generation_config": _generation(run),
    }


def _source(published: PublishedRate) -> dict[str, Any]:
    if published.dataset is None:
        return {"dataset_name": published.benchmark, "source_type": "other"}
    return {
        "dataset_name": published.benchmark,
        "source_type": "hf_dataset",
        "hf_repo": published.dataset,
        "samples_number": published.rate.problems,
    }


def _generation(run: Run) -> dict[str, Any]:
    """Return the settings of the requests that were given, and of the mode."""
    given = {key: run.spec.get(key) for key in ("temperature", "top_p", "top_k", "max_tokens")}
    known = {key: value for key, value in given.items() if value is not None}
    if "tools" in run.manifest:
        names = [{"name": name} for name in str(run.manifest["tools"]["name"]).split(", ")]
        known["agentic_eval_config"] = {"available_tools": names}
    mode, prompt = str(run.spec.get("mode")), str(run.manifest["prompt"].get("name"))
    return {
        "generation_args": known,
        "additional_details": {"mode": mode, "prompt_set": prompt},
    }
