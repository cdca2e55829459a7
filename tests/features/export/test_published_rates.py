"""Rates to publish: the hub's evaluation results, and records of Every Eval Ever."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from huggingface_hub import parse_eval_result_entries
from program import harness as program

from harness.errors import UsageError
from harness.features.export.every_eval_ever import every_eval_ever_text
from harness.features.export.published_rate import eval_results_text
from harness.grading.verdict import Verdict
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run

SCHEMA = Path(__file__).parent / "schemas" / "every_eval_ever-0.3.0.json"
ENTRY = {"dataset", "value", "verifyToken", "date", "source", "evaluation_framework", "notes"}
"""Keys of an entry, as https://huggingface.co/docs/hub/eval-results has them (2026-11-24)."""

MakeResult = Callable[..., SampleResult]
MakeRun = Callable[..., Run]


def results(make: MakeResult) -> list[SampleResult]:
    verdicts = [Verdict.ACCEPTED, Verdict.WRONG_ANSWER, Verdict.ACCEPTED]
    return [
        make(f"livecodebench/{n}").model_copy(update={"verdict": verdict})
        for n, verdict in enumerate(verdicts)
    ]


@pytest.fixture
def published(make_run: MakeRun, make_result: MakeResult) -> Run:
    return make_run(results(make_result), benchmark="livecodebench:v6", temperature=0.2)


def valid(text: str) -> dict[str, Any]:
    record = json.loads(text)
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft7Validator.check_schema(schema)
    jsonschema.validate(record, schema, jsonschema.Draft7Validator)
    return record


def test_the_hub_reads_the_entry(published: Run) -> None:
    (entry,) = yaml.safe_load("".join(eval_results_text(published)))
    assert set(entry) <= ENTRY
    (read,) = parse_eval_result_entries([entry])
    assert (read.dataset_id, read.task_id) == ("livecodebench/code_generation_lite", "v6")
    assert (read.value, read.date) == (66.67, "2026-01-01T00:00:00+00:00")
    assert read.notes == (
        "mode single_shot, prompt default, 3 problems, 1 sample each, public and hidden tests"
    )


def test_the_record_fits_its_schema(published: Run) -> None:
    record = valid("".join(every_eval_ever_text(published)))
    (result,) = record["evaluation_results"]
    assert result["score_details"]["score"] == pytest.approx(2 / 3)
    interval = result["score_details"]["uncertainty"]["confidence_interval"]
    assert 0 < interval["lower"] < 2 / 3 < interval["upper"] < 1
    assert result["source_data"]["hf_repo"] == "livecodebench/code_generation_lite"
    assert result["generation_config"]["generation_args"] == {"temperature": 0.2}


def test_a_real_run_of_own_problems_fits_the_schema(recorded_run: Path) -> None:
    done = program(recorded_run, "export", "agentic", "--to", "every-eval-ever")
    assert done.returncode == 0, done.stderr
    (result, *_) = valid(done.stdout)["evaluation_results"]
    assert result["source_data"] == {"dataset_name": "fixture", "source_type": "other"}
    tools = result["generation_config"]["generation_args"]["agentic_eval_config"]
    assert {"name": "run_tests"} in tools["available_tools"]
    refused = program(recorded_run, "export", "agentic", "--to", "eval-results")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert "data sets of the Hugging Face hub" in refused.stderr


@pytest.mark.parametrize("write", [eval_results_text, every_eval_ever_text])
def test_a_run_without_a_final_rate_is_refused(
    write: Callable[[Run], Any], make_run: MakeRun, make_result: MakeResult
) -> None:
    pending = make_run(results(make_result), more=1, benchmark="livecodebench")
    with pytest.raises(UsageError, match="pending"):
        list(write(pending))
