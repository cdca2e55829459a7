"""`harness verify`, as its users run it."""

import asyncio
import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest
from json_lines import json_lines
from own_problems import DOUBLE, ECHO, TESTED, UNTESTED
from program import Done, finish, harness, heard, start

ALL = 3  # references
BURN = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass\n"


def put(folder: Path, *rows: dict[str, Any]) -> None:
    (folder / "own.jsonl").write_text(json_lines(rows))


@pytest.fixture
def lcb_like() -> dict[str, Any]:
    test = {"input": "1", "output": "1", "testtype": "stdin"}
    return {
        "question_title": "t",
        "question_content": "c",
        "platform": "atcoder",
        "question_id": "",
        "contest_id": "",
        "contest_date": "2024-01-01",
        "starter_code": "",
        "difficulty": "easy",
        "public_test_cases": json.dumps([test]),
        "private_test_cases": "",
        "metadata": "{}",
    }


class TestVerify:
    async def test_an_interrupt_takes_no_reference_from_the_data(self, two_problems: Path) -> None:
        slow = {**ECHO, "id": "own/slow", "references": ["while True: pass"]}
        rows = (ECHO, slow, {**slow, "id": "own/later"})
        (two_problems / "own.jsonl").write_text(json_lines(rows))
        flags = ("--json", "--workers", "1", "--test-timeout", "100", "--references", "1")
        home = str(two_problems / "home")
        process = await start(two_problems, "verify", "jsonl:own.jsonl", *flags, HF_HOME=home)
        await heard(process, "[1/3]")
        process.send_signal(signal.SIGINT)
        code, out, err = await finish(process)
        assert code == 130
        verified = json.loads(out)
        assert [len(p["references"]) for p in verified["problems"]] == [1, 0, 0]
        assert verified["summary"]["without_references"] == []
        assert "interrupted: 2 references not judged" in err

    @pytest.mark.thorough
    def test_what_fails_and_what_cannot_be_judged_is_listed(self, two_problems: Path) -> None:
        done = harness(two_problems, "verify", "jsonl:own.jsonl", "--json")
        assert done.returncode == 1, done.stderr
        verified = json.loads(done.stdout)
        echo, double = verified["problems"]
        assert [r["verdict"] for r in echo["references"]] == ["accepted", "wrong_answer"]
        assert echo["references"][1]["failed_test"] == 2
        assert echo["references"][1]["reason"] == "'2' expected, '1' given"
        assert [r["verdict"] for r in double["references"]] == ["accepted"]
        summary = verified["summary"]
        assert (summary["references"], summary["accepted"]) == (3, 2)
        assert summary["unsound"] == []
        table = harness(two_problems, "verify", "jsonl:own.jsonl").stdout
        assert "2 of 3 pass every test" in table
        assert "test 2: '2' expected, '1' given" in table

    def test_a_problem_without_tests_is_named(self, two_problems: Path) -> None:
        (two_problems / "apps.jsonl").write_text(json_lines((UNTESTED, TESTED)))
        done = harness(two_problems, "verify", "apps:apps.jsonl", "--json")
        verified = json.loads(done.stdout)
        assert [each["tests"] for each in verified["problems"]] == [0, 1]
        assert verified["summary"]["without_tests"] == ["apps/7"]
        table = harness(two_problems, "verify", "apps:apps.jsonl").stdout
        assert "1 problem: apps/7" in table

    def test_a_problem_of_which_no_reference_passes(self, two_problems: Path) -> None:
        row = {**ECHO, "references": ["print(1)"]}
        (two_problems / "own.jsonl").write_text(json.dumps(row) + "\n")
        verified = json.loads(harness(two_problems, "verify", "jsonl:own.jsonl", "--json").stdout)
        assert verified["summary"]["unsound"] == ["own/echo"]

    @pytest.mark.thorough
    def test_a_reference_that_needs_most_of_the_limit_is_slow(self, two_problems: Path) -> None:
        burn = "import time\nwhile time.process_time() < 0.5: pass\nprint(input())"
        (two_problems / "own.jsonl").write_text(json.dumps({**ECHO, "references": [burn]}) + "\n")
        own = ("--json", "--set", "isolate_tests=true")
        flags = ("verify", "jsonl:own.jsonl", *own, "--test-timeout")
        slow = json.loads(harness(two_problems, *flags, "0.9").stdout)["summary"]
        assert (slow["accepted"], slow["slow"]) == (1, ["own/echo"])
        assert json.loads(harness(two_problems, *flags, "9").stdout)["summary"]["slow"] == []

    def test_references_and_tasks_can_be_limited(self, two_problems: Path) -> None:
        flags = ("verify", "jsonl:own.jsonl", "--json", "--references", "1", "--task", "echo")
        verified = json.loads(harness(two_problems, *flags).stdout)
        assert [p["problem_id"] for p in verified["problems"]] == ["own/echo"]
        assert verified["summary"]["references"] == 1
        done = harness(two_problems, "verify", "jsonl:own.jsonl", "--references", "0")
        assert done.returncode == 2

    def test_the_bundled_references_all_pass(self, tmp_path: Path) -> None:
        summary = json.loads(harness(tmp_path, "verify", "fixture", "--json").stdout)["summary"]
        assert summary["problems"] == 56
        assert summary["accepted"] == summary["references"] > 56
        assert summary["slow"] == summary["unsound"] == summary["without_tests"] == []


def verify(folder: Path, *flags: str, home: Path | None = None) -> Done:
    """The program with a cache folder of this test's own."""
    where = str(home or folder / "home")
    return harness(folder, "verify", "jsonl:own.jsonl", *flags, HF_HOME=where)


def kept(folder: Path) -> Path:
    return folder / "home" / "assets" / "harness" / "verified" / "jsonl.jsonl"


def lines(folder: Path) -> list[list[Any]]:
    return [json.loads(line) for line in kept(folder).read_text().split("\n") if line]


def rewrite(folder: Path, place: int, value: Any) -> None:
    """Have the cache say something else of every reference."""
    changed = [[*line[:place], value, *line[place + 1 :]] for line in lines(folder)]
    kept(folder).write_text(
        "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in changed)
    )


def counts(done: Done) -> tuple[int, int]:
    """How many verdicts were known, and how many references were judged, as stderr says."""
    known = re.search(r"^([\d,]+) of [\d,]+ verdicts? known already", done.stderr, re.MULTILINE)
    judged = re.findall(r"^\[(\d+)/\d+\] references", done.stderr, re.MULTILINE)
    return int(known[1]) if known else 0, int(judged[-1]) if judged else 0


class TestKnownVerdicts:
    def test_a_second_time_nothing_is_judged_and_the_report_is_the_same(
        self, two_problems: Path
    ) -> None:
        first, second = verify(two_problems), verify(two_problems)
        assert counts(first) == (0, ALL)
        assert counts(second) == (ALL, 0)
        assert second.returncode == 1
        assert second.stdout == first.stdout
        assert f"{ALL} of {ALL} verdicts known already; --fresh judges anew" in second.stderr
        assert verify(two_problems, "--json").stdout == verify(two_problems, "--json").stdout

    @pytest.mark.thorough
    async def test_a_killed_one_goes_on_where_it_stopped(self, two_problems: Path) -> None:
        codes = [BURN.format(0.3) + f"print(input())  # {number}" for number in range(6)]
        put(two_problems, {**ECHO, "tests": ECHO["tests"][:1], "references": codes})
        home = str(two_problems / "home")
        process = await start(
            two_problems, "verify", "jsonl:own.jsonl", "--workers", "1", HF_HOME=home
        )
        await heard(process, "[1/6]")
        process.kill()
        code, out, _ = await finish(process)
        assert (code, out) == (-signal.SIGKILL, "")
        done = verify(two_problems, "--json")
        known, judged = counts(done)
        assert known + judged == 6
        assert 1 <= known < 6
        assert json.loads(done.stdout)["summary"]["accepted"] == 6
        assert counts(verify(two_problems)) == (6, 0)

    async def test_an_interrupted_one_says_that_it_can_go_on(self, two_problems: Path) -> None:
        endless = {**ECHO, "id": "own/slow", "references": ["while True: pass"]}
        put(two_problems, ECHO, endless)
        flags = ("--workers", "1", "--test-timeout", "100")
        process = await start(
            two_problems, "verify", "jsonl:own.jsonl", *flags, HF_HOME=str(two_problems / "home")
        )
        await heard(process, "[2/3]")
        process.send_signal(signal.SIGINT)
        code, _, err = await finish(process)
        assert code == 130
        assert "interrupted: 1 reference not judged; run the same command again" in err
        assert len(lines(two_problems)) == 2

    @pytest.mark.parametrize(
        ("change", "again"),
        [
            ({"references": ["print(input())", "print(2)"]}, 1),
            ({"references": ["print(1)", "print(input())"]}, 0),
            ({"tests": [*ECHO["tests"], {"input": "4", "output": "4", "public": False}]}, 2),
        ],
        ids=["reference", "order of references", "tests"],
    )
    def test_what_changed_in_the_data_is_judged_again(
        self, change: dict[str, Any], again: int, two_problems: Path
    ) -> None:
        verify(two_problems)
        put(two_problems, {**ECHO, **change}, DOUBLE)
        done = verify(two_problems, "--json")
        assert counts(done) == (ALL - again, again)
        echo = json.loads(done.stdout)["problems"][0]
        right = [(r["index"], r["verdict"] == "accepted") for r in echo["references"]]
        codes = {**ECHO, **change}["references"]
        assert right == [(n, code == "print(input())") for n, code in enumerate(codes)]

    @pytest.mark.thorough
    def test_verify_under_other_settings_judges_all_again(self, two_problems: Path) -> None:
        settings = (
            (),
            ("--test-timeout", "3"),
            ("--set", "wall_timeout=3"),
            ("--memory", "512"),
            ("--rule", "tokens"),
            ("--set", "isolate_tests=true"),
            ("--all-tests",),
            ("--fail-fast",),
        )
        tallies = [counts(verify(two_problems, *flags)) for flags in settings]
        assert tallies == [(0, ALL)] * len(settings)
        again = [counts(verify(two_problems, *flags)) for flags in (settings[0], settings[3])]
        assert again == [(ALL, 0)] * 2

    @pytest.mark.thorough
    def test_the_number_of_references_changes_no_verdict(self, two_problems: Path) -> None:
        verify(two_problems, "--references", "1")
        assert counts(verify(two_problems)) == (ALL - 1, 1)
        assert counts(verify(two_problems, "--task", "double", "--workers", "1")) == (1, 0)

    @pytest.mark.thorough
    def test_fresh_judges_anew_and_replaces(self, two_problems: Path) -> None:
        verify(two_problems)
        rewrite(two_problems, 1, "wrong_answer")
        assert "0 of 3 pass every test" in verify(two_problems).stdout
        fresh = verify(two_problems, "--fresh")
        assert counts(fresh) == (0, ALL)
        assert "2 of 3 pass every test" in fresh.stdout
        again = verify(two_problems)
        assert counts(again) == (ALL, 0)
        assert again.stdout == fresh.stdout

    @pytest.mark.thorough
    def test_a_verdict_of_a_weaker_sandbox_than_required_is_not_believed(
        self, two_problems: Path
    ) -> None:
        verify(two_problems)
        rewrite(two_problems, 6, "seccomp")
        assert counts(verify(two_problems, "--require-isolation", "seccomp")) == (ALL, 0)
        assert counts(verify(two_problems)) == (0, ALL)

    def test_what_infrastructure_kept_from_a_verdict_is_tried_again(
        self, two_problems: Path
    ) -> None:
        put(two_problems, {**ECHO, "checker": "def check(i, e, a): return 1 / 0"}, DOUBLE)
        first, second = verify(two_problems), verify(two_problems)
        assert first.returncode == second.returncode == 4
        assert (counts(first), counts(second)) == ((0, 3), (1, 2))

    def test_the_same_text_twice_is_judged_once(self, two_problems: Path) -> None:
        put(two_problems, {**ECHO, "references": ["print(input())"] * 3})
        done = verify(two_problems, "--json")
        assert counts(done) == (0, 1)
        (echo,) = json.loads(done.stdout)["problems"]
        assert [(r["index"], r["verdict"]) for r in echo["references"]] == [
            (0, "accepted"),
            (1, "accepted"),
            (2, "accepted"),
        ]
        assert verify(two_problems, "--json").stdout == done.stdout


class TestTheFolder:
    def test_lines_that_are_torn_or_not_ours_are_passed_over(self, two_problems: Path) -> None:
        verify(two_problems)
        data = kept(two_problems).read_bytes()
        first, *_, last = data.splitlines(keepends=True)
        noise = b"\xff\x00{}\n[]\n" + b"[" * 100_000 + b"\n" + first[:64] + b",1,2]\n"
        kept(two_problems).write_bytes(noise + data[: len(data) - len(last) // 2])
        assert counts(verify(two_problems)) == (ALL - 1, 1)
        assert counts(verify(two_problems)) == (ALL, 0)

    @pytest.mark.thorough
    def test_verify_says_once_that_its_verdicts_cannot_be_kept(self, two_problems: Path) -> None:
        (two_problems / "file").write_text("")
        for _ in range(2):
            done = verify(two_problems, home=two_problems / "file")
            assert done.returncode == 1
            assert counts(done) == (0, ALL)
            beside = ("[", "sandbox level", "2 of 3 known solutions")
            (line,) = [line for line in done.stderr.splitlines() if not line.startswith(beside)]
            assert line.endswith("Not a directory")
            assert "2 of 3 pass every test" in done.stdout

    @pytest.mark.thorough
    async def test_two_at_once_do_not_tear_each_other_s_lines(self, two_problems: Path) -> None:
        codes = [f"print(input())  # {number}" for number in range(60)]
        put(two_problems, {**ECHO, "references": codes})
        home = str(two_problems / "home")
        pair = [
            await start(two_problems, "verify", "jsonl:own.jsonl", "--fresh", HF_HOME=home)
            for _ in range(2)
        ]
        ends = await asyncio.gather(*(finish(process) for process in pair))
        assert [code for code, *_ in ends] == [0, 0]
        assert len(lines(two_problems)) == 120
        assert counts(verify(two_problems)) == (60, 0)

    def test_nothing_is_made_before_there_is_something_to_keep(self, two_problems: Path) -> None:
        put(two_problems, {**ECHO, "references": []})
        assert verify(two_problems).returncode == 3
        assert not (two_problems / "home").exists()


def test_a_limit_that_follows_references_is_none_for_themselves(two_problems: Path) -> None:
    done = verify(two_problems, "--test-timeout", "reference*4")
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert "--test-timeout reference" in line


@pytest.mark.thorough
def test_memory_is_limited_by_its_flag(two_problems: Path) -> None:
    put(two_problems, {**ECHO, "references": ["x = bytearray(150 << 20)\nprint(input())"]})
    assert "accepted 1" in verify(two_problems).stdout
    assert "memory limit 1" in verify(two_problems, "--memory", "128").stdout
    assert verify(two_problems, "--memory", "1").returncode == 2


def test_verify_goes_on_past_a_suite_that_cannot_be_read(
    tmp_path: Path, lcb_like: dict[str, Any]
) -> None:
    rows = [
        {**lcb_like, "question_id": "good"},
        {
            **lcb_like,
            "question_id": "bad",
            "private_test_cases": "bm90IHpsaWI=",
            "public_test_cases": "[]",
        },
    ]
    (tmp_path / "rows.jsonl").write_text(json_lines(rows))
    done = harness(tmp_path, "verify", "livecodebench:rows.jsonl", "--json")
    assert done.returncode == 3, done.stderr
    good, bad = json.loads(done.stdout)["problems"]
    assert (good["tests"], bad["tests"]) == (1, None)
