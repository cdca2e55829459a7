"""A comparison as GitHub's Markdown: all of it, and nothing that others wrote as markup."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.features.compare.comparison import compare_runs
from harness.features.compare.markdown import code, comparison_markdown
from harness.grading.verdict import Verdict
from harness.run.store.results import SampleResult

MakeResult = Callable[..., SampleResult]
WriteRun = Callable[..., Path]
MakeRun = Callable[..., Path]


def test_the_markdown_table_has_all_that_the_terminal_has(run_of: MakeRun) -> None:
    a, b = run_of("a", "abcdE"), run_of("b", "ABcde", {"sandbox": {"level": "none"}})
    lines = comparison_markdown(compare_runs([a, b])).splitlines()
    assert lines[0].startswith("**b against a: made-model")
    assert lines[2].startswith("`b` solves 20.0 points more than `a` (95 %")
    table = lines.index("|  | `a` | `b` |")
    assert lines[table + 1] == "| --- | ---: | ---: |"
    assert f"| run | `{a}` | `{b}` |" in lines
    assert "### `b` against `a`" in lines
    assert any(line.startswith("- **not comparable:** the sandbox's level") for line in lines)
    assert "| `a` | `a` wrong answer; `b` accepted |  |" in lines
    assert "<details><summary>`b` did better on 2 problems</summary>" in lines


@pytest.mark.parametrize(
    "hostile",
    [
        *("a|b", "`code` | c", "@everyone #1 www.example.org", "<script>alert(1)</script>"),
        *("x\n| y |\n", "[a](javascript:b)", "\x1b[2J\u202e", "a\\|b", "``", "\t|\t"),
    ],
)
def test_nothing_foreign_is_markup(
    make_result: MakeResult, write_run: WriteRun, hostile: str
) -> None:
    made = make_result("p", platform=hostile, difficulty=None)
    a = write_run("a", [made.model_copy(update={"problem_id": hostile, "sample": hostile})])
    b = write_run("b", [made.model_copy(update={"problem_id": hostile, "sample": hostile,
                                                "verdict": Verdict.ACCEPTED})])  # fmt: skip
    text = comparison_markdown(compare_runs([a, b]))
    outside = "".join("".join(line.split("`")[::2]) for line in text.splitlines())
    for part in ("@everyone", "#1", "<script", "javascript", "\x1b", "www."):
        assert part not in outside
    for line in text.splitlines():
        assert line.count("`") % 2 == 0
        if line.startswith("|"):
            assert line.count("|") in {4, 7}  # of tables of three columns, and of six


def test_a_code_span_is_never_empty() -> None:
    assert (code(""), code("  "), code("a`|b")) == ("", "", r"`a\x60\x7cb`")
