"""Inspect's log, written by inspect_ai and opened by its own reader.

Skipped where the extra is not installed: pip install -e '.[dev,inspect]'.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from program import harness

from harness.agent.attempt import ChosenBy
from harness.features.export.inspect_log import write_inspect
from harness.grading.verdict import Verdict
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run, read_run

inspect_log = pytest.importorskip(
    "inspect_ai.log", reason="inspect_ai is not installed: pip install -e '.[dev,inspect]'"
)
MakeRun = Callable[..., Run]
MakeResult = Callable[..., SampleResult]


def _opened(run: Run, folder: Path) -> Any:
    path = folder / "a.eval"
    write_inspect(run, path)
    assert path.read_bytes()[:2] == b"PK"
    return inspect_log.read_eval_log(str(path))


def test_inspect_s_own_reader_finds_what_the_run_has(agentic: Run, tmp_path: Path) -> None:
    log = _opened(agentic, tmp_path)
    assert (log.status, log.eval.model, len(log.samples)) == ("success", "replay:written", 20)
    (score,) = log.results.scores
    assert score.metrics["accuracy"].value == 0.75
    by_id = {sample.id: sample for sample in log.samples}
    for result in agentic.results:
        sample = by_id[result.problem_id]
        assert sample.scores["harness"].value == ("C" if result.solved else "I")
        assert sample.scores["harness"].answer == result.code
        assert sample.epoch == result.index + 1
        answers = [message for message in sample.messages if message.role == "assistant"]
        assert len(answers) == result.model_calls
        calls = [call.id for message in answers for call in message.tool_calls or ()]
        result_ids = [message.tool_call_id for message in sample.messages if message.role == "tool"]
        assert calls == result_ids
        assert result.usage is not None
        usage = sample.model_usage["replay:written"]
        assert usage.total_tokens == result.usage.total_tokens
        assert [message.role for message in sample.input] == ["system", "user"]


def test_inspect_s_readers_of_a_sample_and_of_headers_work(agentic: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.eval"
    write_inspect(agentic, path)
    result = agentic.results[3]
    sample = inspect_log.read_eval_log_sample(str(path), id=result.problem_id, epoch=1)
    assert sample.metadata["title"] == result.title
    summaries = inspect_log.read_eval_log_sample_summaries(str(path))
    assert len(summaries) == 20
    assert inspect_log.read_eval_log(str(path), header_only=True).samples is None


def test_a_run_under_way_and_without_transcripts_is_a_log_too(
    make_run: MakeRun, make_result: MakeResult, tmp_path: Path
) -> None:
    results = [
        make_result("made/a", solved=True, usage=None),
        make_result("made/b", verdict=Verdict.UNGRADED),
    ]
    log = _opened(make_run(results, more=3), tmp_path)
    assert log.status == "started"
    assert (log.results.total_samples, log.results.completed_samples) == (5, 2)
    assert [bool(sample.scores) for sample in log.samples] == [True, False]
    assert log.samples[0].input == "made/a"


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # pandas, of what inspect_ai does
def test_inspect_s_data_frames_have_every_message_and_event(agentic: Run, tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    from inspect_ai.analysis import events_df, messages_df, samples_df

    _opened(agentic, tmp_path)
    path = str(tmp_path / "a.eval")
    messages = messages_df(path, quiet=True)
    asked = sum(result.model_calls for result in agentic.results)
    assert (messages.role == "assistant").sum() == asked
    assert messages.message_id.is_unique
    events = events_df(path, quiet=True)
    counts = events.event.value_counts()
    calls = sum(result.tool_calls for result in agentic.results)
    assert (counts["model"], counts["tool"], counts["score"]) == (asked, calls, 20)
    samples = samples_df(path, quiet=True)
    assert len(samples) == 20


def test_a_conversation_reads_as_it_went(agentic: Run, tmp_path: Path) -> None:
    log = _opened(agentic, tmp_path)
    for sample in log.samples:
        (first, *rest) = [event for event in sample.events if event.event == "model"]
        assert [message.role for message in first.input] == ["system", "user"]
        for before, event in zip([first, *rest], rest, strict=False):
            known = [message.id for message in before.input]
            assert [message.id for message in event.input][: len(known)] == known
            assert before.output.message.id in {message.id for message in event.input}
        times = [event.timestamp for event in sample.events]
        assert times == sorted(times)


def test_ids_and_times_are_filled_and_the_same_in_every_export(
    agentic: Run, tmp_path: Path
) -> None:
    first, again = (_opened(agentic, tmp_path) for _ in range(2))
    for log in (first, again):
        assert log.eval.task_id == first.eval.task_id
        assert len({log.eval.task_id, log.eval.run_id, log.eval.eval_id, ""}) == 4
        assert log.stats.completed_at >= log.stats.started_at
        assert log.stats.completed_at >= max(sample.completed_at for sample in log.samples)
    assert [s.uuid for s in first.samples] == [s.uuid for s in again.samples]
    assert len({sample.uuid for sample in first.samples}) == 20


def test_importing_the_log_gives_the_same_revisions(agentic: Run, tmp_path: Path) -> None:
    path = tmp_path / "a.eval"
    write_inspect(agentic, path)
    given = ("--problems", "fixture", "--out", "back")
    done = harness(tmp_path, "import", path, *given)
    assert done.returncode == 0, done.stderr
    assert "20 of 20 published verdicts agree" in done.stderr
    back = {result.sample: result for result in read_run(tmp_path / "back").results}
    for result in agentic.results:
        other = back[result.sample]
        assert (other.verdict, other.code, other.model_calls, other.usage) == (
            result.verdict, result.code, result.model_calls, result.usage,
        )  # fmt: skip
        assert other.stop_reason == result.stop_reason
        if result.chosen_by is not ChosenBy.PROSE:  # else earlier answers hold code as well
            steps = [(step.turn, step.tokens) for step in result.steps]
            assert [(step.turn, step.tokens) for step in other.steps] == steps
