"""Verdicts that are kept: whose they are, and what is believed of a file."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each

from harness.excerpts import shorten
from harness.grading import reference_verdicts
from harness.grading.jobs import Options
from harness.grading.reference_verdicts import (
    KEY,
    REASON,
    Finding,
    VerifiedCache,
    keys_of,
    subject,
)
from harness.grading.verdict import Verdict
from harness.judged_by import Checker
from harness.languages.program_key import code_hash
from harness.problem import Problem, TestCase, TestSuite
from harness.sandbox.isolation import Level

CODES = [code_hash("print(1)"), code_hash("print(2)")]
FOUND = Finding(Verdict.ACCEPTED, 3, 0.25, isolation="landlock")


def problem(**changes: Any) -> Problem:
    plain: dict[str, Any] = {
        "id": "own/echo",
        "source": "own",
        "title": "",
        "statement": "",
        "platform": "",
        "difficulty": None,
        "difficulty_word": "",
        "tests": TestSuite((TestCase(input="", output="", public=True),)),
        "content_hash": "one",
    }
    return Problem(**plain | changes)


def key(number: int = 0) -> str:
    return keys_of(problem(), CODES, Options())[number]


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def cache(tmp_path: Path, said: list[str]) -> Callable[[], VerifiedCache]:
    """As another process opens it."""
    return lambda: VerifiedCache("own", tmp_path / "verified", said.append)


class TestKeys:
    def test_each_reference_has_a_key_of_its_own(self) -> None:
        first, second = keys_of(problem(), CODES, Options())
        assert first != second
        assert len(first) == len(second) == KEY
        assert first == keys_of(problem(title="Other"), CODES, Options())[0]

    @for_each(
        "other",
        [
            problem(id="own/other"),
            problem(content_hash="two"),
            problem(rule="tokens"),
            problem(checker=Checker(kind="check", code="")),
        ],
        ids=["id", "content", "rule", "checker"],
    )
    def test_another_problem_changes_the_subject_of_verdicts(self, other: Problem) -> None:
        assert subject(other, Options()) != subject(problem(), Options())

    def test_a_rule_that_takes_the_checker_s_place_is_that_rule(self) -> None:
        checked = problem(checker=Checker(kind="check", code=""))
        assert subject(checked, Options(rule="lcb")) == subject(problem(), Options())

    @pytest.mark.parametrize(("name", "value"), [("__version__", "9"), ("sys", None)])
    def test_another_version_changes_the_subject_of_verdicts(
        self, name: str, value: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = subject(problem(), Options())
        if name == "sys":
            import types

            value = types.SimpleNamespace(version_info=types.SimpleNamespace(major=3, minor=99))
        monkeypatch.setattr(reference_verdicts, name, value)
        assert subject(problem(), Options()) != before


class TestKeeping:
    def test_what_was_added_is_found(self, cache: Callable[[], VerifiedCache]) -> None:
        odd = Finding(Verdict.WRONG_ANSWER, 3, 0.125, 2, "\ud800 \n 'é'", "namespaces")
        with cache() as first:
            first.add(key(0), FOUND)
            first.add(key(1), odd)
        assert cache().find([key(0), key(1)], Level.LANDLOCK) == {key(0): FOUND, key(1): odd}
        assert cache().find([key(1)], Level.NONE) == {key(1): odd}

    def test_the_newest_kept_verdict_counts(self, cache: Callable[[], VerifiedCache]) -> None:
        newer = Finding(Verdict.TIME_LIMIT, 3, 9.0, 1, isolation="landlock")
        with cache() as one, cache() as other:
            one.add(key(), FOUND)
            other.add(key(), newer)
        assert cache().find([key()], Level.NONE) == {key(): newer}
        assert cache().quickest([subject(problem(), Options())]) == {}

    @pytest.mark.parametrize(
        "verdict", [Verdict.SANDBOX_ERROR, Verdict.CHECKER_ERROR, Verdict.MODEL_ERROR]
    )
    def test_infrastructure_is_not_kept(
        self, verdict: Verdict, cache: Callable[[], VerifiedCache]
    ) -> None:
        with cache() as first:
            first.add(key(), Finding(verdict, 0, 0.0))
            assert not first.path.exists()

    def test_a_long_reason_is_cut_the_same_before_and_after(
        self, cache: Callable[[], VerifiedCache]
    ) -> None:
        long = Finding(Verdict.RUNTIME_ERROR, 1, 0.0, 1, "\U0001f40d" * 10_000, "landlock")
        assert long.reason == shorten("\U0001f40d" * 10_000, REASON)
        with cache() as first:
            first.add(key(), long)
        assert cache().find([key()], Level.NONE) == {key(): long}

    def test_a_disk_that_is_full_is_said_once(
        self, cache: Callable[[], VerifiedCache], said: list[str]
    ) -> None:
        with cache() as first:
            first.path.parent.mkdir()
            first.path.symlink_to("/dev/full")
            assert first.keeps
            first.add(key(0), FOUND)
            first.add(key(1), FOUND)
            assert not first.keeps
        assert said == [f"verdicts are not kept: {first.path}: No space left on device"]

    def test_the_quickest_accepted_one_counts(self, cache: Callable[[], VerifiedCache]) -> None:
        about = subject(problem(), Options())
        with cache() as first:
            first.add(key(0), FOUND)
            first.add(key(1), Finding(Verdict.WRONG_ANSWER, 3, 0.001))
            other = keys_of(problem(), CODES, Options(memory_bytes=1 << 26))[1]
            first.add(other, Finding(Verdict.ACCEPTED, 3, 0.125))
        assert cache().quickest([about, "0" * len(about)]) == {about: 0.125}


@pytest.mark.parametrize(
    "values",
    [
        ["accepted", 3, 0.25, None, "", "landlock", "more"],
        ["accepted", 3, 0.25, None, ""],
        ["splendid", 3, 0.25, None, "", "landlock"],
        ["checker_error", 3, 0.25, None, "", "landlock"],
        ["accepted", "3", 0.25, None, "", "landlock"],
        ["accepted", 3, -1, None, "", "landlock"],
        ["accepted", 3, float("nan"), None, "", "landlock"],
        ["accepted", 3, float("inf"), None, "", "landlock"],
        ["accepted", 3, None, None, "", "landlock"],
        ["accepted", 3, 0.25, "1", "", "landlock"],
        ["accepted", 3, 0.25, None, "", "fortress"],
        ["accepted", 3, 0.25, None, "", None],
        [["accepted"], 3, 0.25, None, "", []],
    ],
    ids=str,
)
def test_a_line_that_says_what_none_of_ours_does_is_passed_over(
    values: list[Any], cache: Callable[[], VerifiedCache], said: list[str]
) -> None:
    with cache() as first:
        first.add(key(1), FOUND)
    with first.path.open("a") as file:
        file.write(json.dumps([key(0), *values], separators=(",", ":")) + "\n")
    assert cache().find([key(0), key(1)], Level.NONE) == {key(1): FOUND}
    assert said == []
