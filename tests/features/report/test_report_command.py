"""`harness report`, run as its users do, on runs of the bundled recordings."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from browser import PHONE, in_one_browser, needs_chromium, overflow, page, watch
from for_each import for_each
from program import harness


@pytest.fixture(scope="module")
def both_modes(written_runs: Callable[..., Path]) -> Path:
    return written_runs("agentic", "single")


@pytest.fixture(scope="module")
def written(both_modes: Path) -> Path:
    done = harness(
        both_modes, "report", "single", "agentic", "-o", "both.html", "--cutoff", "2025-06",
        "--title", "Bundled & recorded",
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "report: both.html\n"
    return both_modes / "both.html"


def test_the_file_says_what_the_summaries_say(both_modes: Path, written: Path) -> None:
    text = re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", written.read_text().split("<script")[0]))
    assert "Bundled &amp; recorded" in text
    assert "Agentic against single shot" in text
    for name in ("single", "agentic"):
        rate = json.loads((both_modes / name / "summary.json").read_text())["pass_at_1"]
        low, high = 100 * rate["low"], 100 * rate["high"]
        assert f"{100 * rate['value']:.1f} % ({low:.1f} to {high:.1f})" in text
    assert "until 2025-06" in text
    assert list(both_modes.glob(".*")) == []  # no draft is left


@pytest.mark.thorough
def test_the_commands_it_names_show_transcripts(both_modes: Path, written: Path) -> None:
    (command, *_) = re.findall(r"<code>harness (transcript [^<]*)</code>", written.read_text())
    name, run, sample = re.sub("&#39;|'", "", command).split()
    done = harness(both_modes, name, run, sample)
    assert done.returncode == 0
    assert len(done.stdout) > 500


@pytest.mark.thorough
@needs_chromium
@in_one_browser[0]
@in_one_browser[1]
async def test_the_report_opens_offline_on_a_phone(written: Path) -> None:
    async with page(width=PHONE, dark=True) as shown:
        seen = watch(shown)
        await shown.goto(written.as_uri())
        await shown.wait_for_selector("html[data-charts=drawn]", state="attached")
        assert seen.errors == []
        assert seen.beyond(written.as_uri(), "data:") == []
        assert await overflow(shown) == []
        assert await shown.inner_text("#found") == "40 samples"


@pytest.mark.thorough
def test_without_o_it_is_report_html_and_is_written_again(both_modes: Path) -> None:
    (both_modes / "report.html").write_text("what was here before")
    assert harness(both_modes, "report", "single").returncode == 0
    assert (both_modes / "report.html").read_text().startswith("<!doctype html>")


@for_each(
    ("arguments", "message"),
    [
        (["nothing"], "harness: nothing: no such run"),
        (["single", "-o", "."], "harness: . is a directory; -o takes the name of a file"),
        (
            ["single", "-o", "no/where.html"],
            "harness: no/where.html cannot be written: there is no directory no",
        ),
        (
            ["single", "--cutoff", "2024"],
            "harness: --cutoff '2024' is not a month (YYYY-MM)",
        ),
        (
            ["single", "--cutoff", "2024-13"],
            "harness: --cutoff '2024-13' is not a month (YYYY-MM)",
        ),
    ],
)
def test_bad_input_gets_one_line(both_modes: Path, arguments: list[str], message: str) -> None:
    before = sorted(path.name for path in both_modes.iterdir())
    done = harness(both_modes, "report", *arguments)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", f"{message}\n")
    assert sorted(path.name for path in both_modes.iterdir()) == before


def test_no_run_is_a_mistake(both_modes: Path) -> None:
    done = harness(both_modes, "report")
    assert done.returncode == 2
    assert "RUN" in done.stderr
