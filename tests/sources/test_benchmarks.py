import hashlib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each

from harness.errors import UsageError
from harness.registry import LOADERS
from harness.sources.benchmarks import home_of, load, loader, parse_spec, reader
from harness.sources.hub_datasets import HOMES, PINNED


@for_each(
    ("spec", "parsed"),
    [
        ("fixture", ("fixture", None)),
        ("livecodebench:rows.jsonl", ("livecodebench", "rows.jsonl")),
        ("jsonl:a:b*.gz", ("jsonl", "a:b*.gz")),
        ("LiveCodeBench:Rows", ("livecodebench", "Rows")),
    ],
)
def test_a_spec_is_a_name_and_a_place(spec: str, parsed: tuple[str, str | None]) -> None:
    assert parse_spec(spec) == parsed


@for_each(
    ("spec", "complaint"),
    [
        ("livecodbench:x", "unknown problem source 'livecodbench'; did you mean 'livecodebench'?"),
        ("zzz", "unknown problem source 'zzz'; known: fixture, jsonl, livecodebench"),
        ("", "unknown problem source ''; known: fixture"),
        ("jsonl:", "'jsonl:' ends at the colon; give jsonl:WHERE"),
        ("jsonl", "jsonl needs a file: give --benchmark jsonl:PATH"),
        ("livecodebench:rows", "livecodebench has no 'rows', and there is no such file"),
        ("fixture:x", "fixture has no 'x'"),
        ("a/rows.jsonl", "give livecodebench:a/rows.jsonl or jsonl:a/rows.jsonl"),
        ("rows.JSONL.gz", "give livecodebench:rows.JSONL.gz or jsonl:rows.JSONL.gz"),
        ("jsonl:/none/such.jsonl", "/none/such.jsonl: no such file"),
        ("jsonl:/none/*.jsonl", "no file matches '/none/*.jsonl'"),
    ],
)
def test_a_spec_that_names_nothing_says_what_to_give(spec: str, complaint: str) -> None:
    with pytest.raises(UsageError) as error:
        load(spec)
    assert complaint in str(error.value)
    assert "\n" not in str(error.value)


def test_files_are_recorded_with_their_hashes(
    lcb_row: Callable[..., dict[str, Any]], write_rows: Callable[..., Path], tmp_path: Path
) -> None:
    paths = [
        write_rows(lcb_row(question_id="1"), name="a.jsonl"),
        write_rows(lcb_row(question_id="2"), name="b.jsonl.gz"),
    ]
    loaded = load(f"livecodebench:{tmp_path}/*")
    assert [problem.native_id for problem in loaded.problems] == ["1", "2"]
    assert [(file.path, file.sha256, file.size) for file in loaded.files] == [
        (str(path), hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size)
        for path in paths
    ]


def test_the_bundled_problems_load() -> None:
    loaded = load("fixture")
    assert len(loaded.problems) >= 16
    assert all(problem.source == "fixture" for problem in loaded.problems)
    assert [file.path for file in loaded.files] == ["fixtures/problems.jsonl"]


def test_every_source_has_a_loader() -> None:
    assert set(LOADERS) == {
        "apps",
        "codeforces",
        "fixture",
        "humaneval",
        "humanevalplus",
        "icpc",
        "jsonl",
        "leetcode",
        "leetcodedataset",
        "livecodebench",
        "mbpp",
        "mbppplus",
        "mercury",
    }
    for name in LOADERS:
        assert callable(loader(name))


def test_every_source_of_the_hub_reads_rows() -> None:
    for name in HOMES:
        assert callable(reader(name))


@for_each("spec", ["livecodebench", "apps:train", "humaneval", "mbpp:all"])
def test_data_sets_are_pinned_to_a_commit_unless_a_revision_is_given(spec: str) -> None:
    source, _, word = spec.partition(":")
    pinned = home_of(source, word or None)
    assert pinned is not None
    assert {each.revision for each in pinned.wanted} == {PINNED[pinned.wanted[0].repo]}
    assert all(re.fullmatch("[0-9a-f]{40}", each.revision) for each in pinned.wanted)
    newest = home_of(source, f"{word}@main")
    assert newest is not None
    assert {each.revision for each in newest.wanted} == {"main"}


def test_data_sets_whose_commit_is_not_known_follow_their_branch() -> None:
    for source in ("mercury", "leetcode", "codeforces", "humanevalplus", "mbppplus"):
        home = home_of(source, None)
        assert home is not None
        assert {each.revision for each in home.wanted} == {"main"}
