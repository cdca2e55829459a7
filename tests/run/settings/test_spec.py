from contextlib import suppress
from pathlib import Path

import pytest
import typer
from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st

from harness.cli.app import app
from harness.errors import UsageError
from harness.models.prices.price import Price, cost
from harness.models.protocol import Usage
from harness.run.plan.plan import prepare
from harness.run.settings.spec import SETTINGS, RunSpec, read_spec


def test_every_key_but_those_without_a_flag_is_a_flag_and_every_flag_a_key() -> None:
    group = typer.main.get_command(app)
    command = group.get_command(typer.Context(group), "run")  # type: ignore[attr-defined]
    flags = {parameter.name for parameter in command.params}
    about_the_invocation = {"out", "resume", "only", "config", "as_json", "dry_run", "fail_under"}
    about_the_invocation |= {"observer", "notify", "help_all", "quiet", "no_progress"}
    spellings = {"source", "agentic_mode", "texts"}
    keys = {key for key, setting in SETTINGS.items() if not setting.key_only}
    assert flags - about_the_invocation - spellings == keys


def test_flags_win_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text("mode: agentic\nmax-turns: 3\nseed: 1\n")
    spec = read_spec(path, {"seed": 2})
    assert (spec.max_turns, spec.seed) == (3, 2)


def test_a_single_value_stands_for_a_list_of_one(tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text("task: two-sum\nfilter_platform: leetcode\n")
    spec = read_spec(path, {})
    assert (spec.task, spec.filter_platform) == (("two-sum",), ("leetcode",))


@for_each("key", RunSpec.model_fields)
def test_a_misspelt_key_is_answered_with_the_right_one(key: str, tmp_path: Path) -> None:
    path = tmp_path / "spec.yaml"
    path.write_text(f"{key}x: 1\n")
    with pytest.raises(UsageError, match=f"{key}x.*did you mean '{key}'"):
        read_spec(path, {})


@given(st.text(max_size=80))
def test_any_yaml_is_a_spec_or_a_usage_error(text: str) -> None:
    import tempfile

    with tempfile.NamedTemporaryFile("w", suffix=".yaml", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        with suppress(UsageError):
            assert isinstance(read_spec(Path(file.name), {}), RunSpec)


def test_cached_tokens_are_paid_for_once_at_their_own_price() -> None:
    usage = Usage(input_tokens=1_000_000, cached_input_tokens=400_000, output_tokens=100_000)
    assert cost(usage, Price(input=2, output=10)) == pytest.approx(3.0)
    assert cost(usage, Price(input=2, output=10, cached_input=0.5)) == pytest.approx(2.4)
    assert cost(usage, None) is None
    assert cost(None, Price(input=2, output=10)) is None


def test_a_value_of_several_parts_is_named_by_its_flag_and_by_its_place_in_a_file(
    tmp_path: Path,
) -> None:
    price = {"input": -1, "output": 2}
    with pytest.raises(UsageError, match=r"^--price: .*given: -1"):
        read_spec(None, {"price": price})
    path = tmp_path / "spec.yaml"
    path.write_text("price: {input: -1, output: 2}\n")
    with pytest.raises(UsageError, match=r"spec.yaml: price\.input: .*given: -1"):
        read_spec(path, {})


def test_a_run_of_more_samples_than_a_directory_may_hold_is_refused_before_it_is_planned() -> None:
    spec = read_spec(None, {"model": "replay:bundled", "samples_per_problem": 100_000})
    error = "36 problems with 100,000 samples each are 3,600,000 samples; a run has at most 500,000"
    with pytest.raises(UsageError, match=error):
        prepare(spec, {})
