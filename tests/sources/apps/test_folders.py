import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.errors import DataError, UsageError
from harness.sources.apps import apps as folders
from harness.sources.apps.apps import load

Make = Callable[..., Path]

FILES = {
    "question.txt": "Twice.\n\nInput\n1\n\nOutput\n2\n",
    "input_output.json": json.dumps({"inputs": ["1\n", "2\n"], "outputs": ["2\n", "4\n"]}),
    "solutions.json": json.dumps(["print(2 * int(input()))"]),
    "metadata.json": json.dumps(
        {"difficulty": "competition", "url": "https://atcoder.jp/contests/a/tasks/a_b"}
    ),
}


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Writes a problem's folder, with files changed or left out at will."""

    def build(where: str, **files: str | bytes | None) -> Path:
        folder = tmp_path / where
        folder.mkdir(parents=True)
        named = {name.replace("__", "."): text for name, text in files.items()}
        for name, text in (FILES | named).items():
            if text is not None:
                data = text if isinstance(text, bytes) else text.encode()
                (folder / name).write_bytes(data)
        return folder

    return build


def test_a_folder_is_read(make: Make) -> None:
    (read,) = load(str(make("0042"))).problems
    assert (read.id, read.aliases) == ("apps/42", ("apps_42",))
    assert (read.title, read.platform) == ("a_b", "atcoder")
    assert (read.difficulty, read.difficulty_word) == ("hard", "competition")
    assert read.programs() == ("print(2 * int(input()))",)
    assert [test.input for test in read.tests.public] == ["1\n"]
    assert [test.input for test in read.tests.load_hidden()] == ["2\n"]


def test_a_function_is_read(make: Make) -> None:
    tests = json.dumps({"fn_name": "f", "inputs": [[1]], "outputs": [[2]]}, indent=2)
    folder = make("1", input_output__json=tests, starter_code__py="def f(n):\n\t")
    (read,) = load(str(folder)).problems
    assert read.entry_point == "f"
    assert read.starter_code == "def f(n):\n\t"
    assert [(test.input, test.output) for test in read.tests.all()] == [("1", "2")]


def test_an_apps_folder_needs_a_question_alone(make: Make) -> None:
    folder = make("7", input_output__json=None, solutions__json=None, metadata__json=None)
    (read,) = load(str(folder)).problems
    assert read.tests.all() == ()
    assert read.programs() == ()
    assert (read.title, read.difficulty) == ("Twice.", None)


def test_a_folder_and_a_row_are_the_same_problem(make: Make, tmp_path: Path) -> None:
    folder = make("0042")
    row = {
        "id": 42,
        "question": FILES["question.txt"],
        "solutions": FILES["solutions.json"],
        "input_output": FILES["input_output.json"],
    }
    (tmp_path / "rows.jsonl").write_text(json.dumps(row))
    (one,) = load(str(folder)).problems
    (other,) = load(str(tmp_path / "rows.jsonl")).problems
    assert (one.id, one.content_hash) == (other.id, other.content_hash)


def test_a_split_is_read_in_the_order_of_its_numbers(make: Make, tmp_path: Path) -> None:
    for name in ("10", "0009", "2", "notes"):
        make(f"train/{name}")
    (tmp_path / "train" / "README").write_text("not a problem")
    (tmp_path / "train" / "0001").write_text("not a folder")
    for where in (tmp_path / "train", tmp_path):
        assert [problem.native_id for problem in load(str(where)).problems] == ["2", "9", "10"]


def test_the_archive_has_two_splits(make: Make, tmp_path: Path) -> None:
    make("test/0003")
    make("train/0005")
    assert [problem.native_id for problem in load(str(tmp_path)).problems] == ["5", "3"]


def test_two_problems_of_one_number_are_refused(make: Make, tmp_path: Path) -> None:
    make("train/0003")
    make("test/0003", question__txt="Other.")
    with pytest.raises(DataError) as error:
        load(str(tmp_path))
    assert str(error.value) == (
        f"{tmp_path}/test/0003: 'apps/3' was already at {tmp_path}/train/0003; "
        "name one of the folders"
    )
    loaded = load(str(tmp_path), skip_bad_rows=True)
    assert [problem.statement for problem in loaded.problems] == [FILES["question.txt"]]
    assert len(loaded.skipped) == 1


def test_one_file_record_stands_for_all_folders(make: Make, tmp_path: Path) -> None:
    make("train/0001")
    make("train/0002")
    (before,) = load(str(tmp_path)).files
    assert before.path == str(tmp_path)
    assert before.size == 2 * sum(len(text) for text in FILES.values())
    (tmp_path / "train" / "0002" / "gen_solutions.json").write_text("not looked at")
    assert load(str(tmp_path)).files == (before,)
    (tmp_path / "train" / "0002" / "solutions.json").write_text("[]")
    assert load(str(tmp_path)).files != (before,)


@pytest.mark.parametrize("name", ["input_output.json", "question.txt"])
def test_a_folder_that_changed_since_is_not_graded_with(
    make: Make, name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = make("train/0001")
    monkeypatch.chdir(tmp_path)
    (problem,) = load("train").problems
    monkeypatch.chdir(folder)
    assert len(problem.tests.load_hidden()) == 1
    (folder / name).write_text("")
    with pytest.raises(DataError) as error:
        problem.tests.load_hidden()
    assert str(error.value) == "train/0001: no longer the problem 'apps/1' that was loaded"
    shutil.rmtree(folder)
    with pytest.raises(DataError, match="no longer the problem"):
        problem.tests.load_hidden()


def test_links_are_followed_within_the_folder_only(make: Make, tmp_path: Path) -> None:
    outside = make("elsewhere/0001")
    inside = make("train/0001", solutions__json=None)
    (inside / "solutions.json").symlink_to(inside / "solutions-2.json")
    (inside / "solutions-2.json").write_text('["inside"]')
    split = tmp_path / "train"
    (problem,) = load(str(split)).problems
    assert problem.programs() == ("inside",)
    (inside / "solutions.json").unlink()
    (inside / "solutions.json").symlink_to(outside / "solutions.json")
    with pytest.raises(DataError, match=r"solutions.json: links out of .*, which is not followed"):
        load(str(split))
    (inside / "solutions.json").unlink()
    (split / "0002").symlink_to(outside)
    with pytest.raises(DataError, match="links out of"):
        load(str(split))
    loaded = load(str(split), skip_bad_rows=True)
    assert [problem.native_id for problem in loaded.problems] == ["1"]
    assert len(loaded.skipped) == 1


def test_a_split_that_links_elsewhere_is_refused(make: Make, tmp_path: Path) -> None:
    make("elsewhere/0001")
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "train").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="links out of"):
        load(str(tmp_path / "root"))
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    assert len(load(str(tmp_path / "link")).problems) == 1


def test_what_is_no_regular_file_is_refused(make: Make) -> None:
    folder = make("0001", solutions__json=None, metadata__json=None)
    os.mkfifo(folder / "solutions.json")
    with pytest.raises(DataError, match=r"solutions.json: not a regular file"):
        load(str(folder))
    (folder / "solutions.json").unlink()
    (folder / "metadata.json").symlink_to("metadata.json")
    with pytest.raises(DataError, match=r"metadata.json: cannot be read"):
        load(str(folder))


def test_a_file_is_bounded(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folders, "MAX_LINE_BYTES", 100)
    folder = make("0001", question__txt="x" * 101)
    with pytest.raises(DataError, match=r"question.txt: longer than 100 bytes"):
        load(str(folder))


@pytest.mark.parametrize(
    ("name", "content", "complaint"),
    [
        ("question__txt", b"\xff", "question.txt: not UTF-8: byte 0"),
        ("metadata__json", "[]", "metadata.json: not an object"),
        ("metadata__json", '{"url": 1}', "metadata.json: not a string but '1'"),
        ("metadata__json", '{"difficulty": "x"}', "field 'difficulty': 'x' is not one of"),
        ("input_output__json", "[]", "field 'input_output': not an object"),
        ("solutions__json", "{}", "field 'solutions': not a list"),
    ],
)
def test_a_bad_file_is_named(
    make: Make, name: str, content: str | bytes, complaint: str, tmp_path: Path
) -> None:
    folder = make("0001", **{name: content})
    with pytest.raises(DataError) as error:
        load(str(folder))
    assert str(error.value).startswith(f"{tmp_path}/0001")
    assert complaint in str(error.value)


def test_a_problem_without_a_question_is_refused(make: Make, tmp_path: Path) -> None:
    make("train/0001", question__txt=None)
    with pytest.raises(DataError, match=r"train/0001: has no question\.txt"):
        load(str(tmp_path))


def test_a_folder_without_a_number_is_named_by_its_content(make: Make) -> None:
    (read,) = load(str(make("mine"))).problems
    assert read.native_id == read.content_hash[:16]


def test_a_folder_without_problems_says_what_to_give(tmp_path: Path) -> None:
    with pytest.raises(UsageError) as error:
        load(str(tmp_path))
    assert str(error.value) == (
        f"{tmp_path} has no folders of APPS problems; for rows name its files, as "
        f"'{tmp_path}/*.jsonl'"
    )


def test_real_apps_folders_load(test_data: Path) -> None:
    loaded = load(str(test_data / "apps_coderl_raw"))
    summaries = [
        (problem.native_id, problem.platform, problem.entry_point, len(problem.tests.all()))
        for problem in loaded.problems
    ]
    assert summaries == [
        ("1", "codeforces", None, 1),
        ("111", "codeforces", None, 1),
        ("2287", "atcoder", None, 3),
        ("2404", "leetcode", "findKthPositive", 1),
        ("4184", "codewars", "is_prime", 8),
    ]
    is_prime = loaded.problems[-1]
    assert {test.output for test in is_prime.tests.all()} == {"true", "false"}
    rows = load(f"{test_data}/apps_codechain_minival/interview.jsonl").problems
    same = next(problem for problem in rows if problem.native_id == "1")
    assert same.tests.all() == loaded.problems[0].tests.all()
