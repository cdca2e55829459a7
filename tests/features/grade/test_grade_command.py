"""`harness grade`, as its users run it."""

import asyncio
import gzip
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each
from json_lines import json_lines
from jsonschema import Draft202012Validator
from marks import TIMES, Marks, overlap
from own_problems import ECHO, TESTED, UNTESTED
from program import PROGRAM, environment, finish, harness, heard, start

from harness import HarnessError
from harness import grade as library_grade

RIGHT = "print(input())"


def write(folder: Path, *rows: dict[str, Any], name: str = "solutions.jsonl") -> None:
    data = json_lines(rows).encode()
    (folder / name).write_bytes(gzip.compress(data) if name.endswith("gz") else data)


def grade(
    folder: Path, *flags: str, name: str = "solutions.jsonl", problems: str = "jsonl:own.jsonl"
) -> Any:
    arguments = ("grade", "--problems", problems, "--solutions", name, "--json", *flags)
    done = harness(folder, *arguments)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def results(graded: Any) -> list[tuple[str, int, str]]:
    return [(r["problem_id"], r["index"], r["verdict"]) for r in graded["results"]]


class TestVerdicts:
    def test_each_solution_has_one_in_the_file_s_order(self, two_problems: Path) -> None:
        write(
            two_problems,
            {"problem_id": "own/echo", "code": RIGHT},
            {"problem_id": "double", "code": "def double(n): return n"},
            {"problem_id": "ECHO", "code": "print(1)"},
            {"problem_id": "jsonl/double", "code": "def double(n): return n + n"},
            {"problem_id": "echo", "code": "1 +"},
            {"problem_id": "echo", "code": ""},
        )
        graded = grade(two_problems)
        assert results(graded) == [
            ("own/echo", 0, "accepted"),
            ("jsonl/double", 0, "wrong_answer"),
            ("own/echo", 1, "wrong_answer"),
            ("jsonl/double", 1, "accepted"),
            ("own/echo", 2, "compile_error"),
            ("own/echo", 3, "no_solution"),
        ]
        partly = graded["results"][2]
        assert (partly["passed"], partly["tests_run"], partly["tests_passed"]) == (False, 3, 1)
        assert [test["verdict"] for test in partly["tests"]] == [
            "accepted",
            "wrong_answer",
            "wrong_answer",
        ]
        assert all(test["cpu_s"] > 0 and test["wall_s"] > 0 for test in partly["tests"])
        summary = graded["summary"]
        assert (summary["solutions"], summary["graded"], summary["accepted"]) == (6, 6, 2)
        assert summary["pass_at_1"]["value"] == (1 / 4 + 1 / 2) / 2

    def test_bundled_solutions_agree_with_their_manifest(self, tmp_path: Path) -> None:
        solutions = Path(__file__).parents[3] / "fixtures" / "solutions"
        whole = json.loads((solutions / "manifest.json").read_text())
        some = ("quorum-signals/", "beacon-schedules/")
        manifest = {name: entry for name, entry in whole.items() if name.startswith(some)}
        write(
            tmp_path,
            *(
                {
                    "problem_id": name.partition("/")[0],
                    "code": (solutions / name).read_text(),
                    "verdict": entry["verdict"],
                }
                for name, entry in manifest.items()
            ),
        )
        flags = ("--problems", "fixture", "--solutions", "solutions.jsonl", "--test-timeout", "0.3")
        done = harness(tmp_path, "grade", *flags, "--json")
        assert done.returncode == 0, done.stderr
        published = json.loads(done.stdout)["summary"]["published"]
        assert published["compared"] == published["agree"] == len(manifest)
        assert published["same_verdict"] == published["worded"] == len(manifest)

    def test_code_is_found_in_a_model_s_words_by_a_rule_that_is_named(
        self, two_problems: Path
    ) -> None:
        answer = f"```python\n{RIGHT}\n```\nThis prints:\n```\n1\n```"
        write(two_problems, {"question_id": "echo", "output": answer})
        (ours,) = grade(two_problems)["results"]
        assert (ours["verdict"], ours["extraction"]) == (
            "accepted",
            "python block with entry point",
        )
        (upstream,) = grade(two_problems, "--extract", "lcb")["results"]
        assert upstream["verdict"] == "wrong_answer"
        assert upstream["extraction"] == "last two fences"

    def test_a_problem_without_tests_is_in_no_rate(self, two_problems: Path) -> None:
        (two_problems / "apps.jsonl").write_text(json_lines((UNTESTED, TESTED)))
        write(
            two_problems,
            {"problem_id": "apps/7", "code": "x", "passed": True},
            {"problem_id": "apps/8", "code": RIGHT},
        )
        graded = grade(two_problems, problems="apps:apps.jsonl")
        assert graded["results"][0]["verdict"] == "ungraded"
        assert graded["results"][0]["agrees"] is None
        assert graded["summary"]["ungraded"] == graded["summary"]["graded"] == 1
        assert graded["summary"]["pass_at_1"]["problems"] == 1

    def test_what_belongs_to_no_problem_is_counted_and_named(self, two_problems: Path) -> None:
        write(
            two_problems,
            {"problem_id": "nobody", "code": RIGHT},
            {"problem_id": "echo", "code": RIGHT},
            {"problem_id": "nobody", "code": RIGHT},
        )
        graded = grade(two_problems)
        assert len(graded["results"]) == 1
        assert graded["summary"]["unmatched"] == 2
        assert graded["summary"]["unmatched_names"] == ["nobody"]
        done = harness(
            two_problems, "grade", "--problems", "jsonl:own.jsonl", "--solutions", "solutions.jsonl"
        )
        assert (
            "2 skipped: 1 problem is not in --problems (or matches several): nobody" in done.stdout
        )

    def test_nothing_that_matches_is_an_empty_selection(self, two_problems: Path) -> None:
        write(two_problems, {"problem_id": "nobody", "code": RIGHT})
        done = harness(
            two_problems, "grade", "--problems", "jsonl:own.jsonl", "--solutions", "solutions.jsonl"
        )
        assert done.returncode == 3
        assert "none of 1 solution" in done.stderr
        assert "'nobody'" in done.stderr


class TestForms:
    def test_livecodebench_s_custom_evaluator(self, two_problems: Path) -> None:
        rows = [{"question_id": "echo", "code_list": [RIGHT, "print(1)"]}]
        (two_problems / "lcb.json").write_text(json.dumps(rows, indent=4))
        graded = grade(two_problems, name="lcb.json")
        assert results(graded) == [("own/echo", 0, "accepted"), ("own/echo", 1, "wrong_answer")]
        assert graded["summary"]["published"] is None

    def test_livecodebench_s_evaluation_and_where_it_disagrees(self, two_problems: Path) -> None:
        rows = [
            {
                "question_id": "echo",
                "output_list": ["words"] * 3,
                "code_list": [RIGHT, RIGHT, "print(1)"],
                "graded_list": [True, False, True],
                "pass@1": 0.5,
                "metadata": ["{}", '{"error_message": "Time Limit Exceeded"}', "{}"],
            }
        ]
        data = json.dumps(rows).encode()
        (two_problems / "lcb.json.gz").write_bytes(gzip.compress(data))
        graded = grade(two_problems, name="lcb.json.gz")
        assert [r["agrees"] for r in graded["results"]] == [True, False, False]
        published = graded["summary"]["published"]
        assert (published["compared"], published["agree"]) == (3, 1)
        assert (published["passed_there_only"], published["passed_here_only"]) == (1, 1)
        flags = ("--problems", "jsonl:own.jsonl", "--solutions", "lcb.json.gz")
        table = harness(two_problems, "grade", *flags).stdout
        assert "1 of 3 agree (33.3 %); 1 passed there and fail here, 1 the reverse" in table
        assert "failed: Time Limit Exceeded" in table
        assert "test 2: '2' expected, '1' given" in table

    def test_outputs_of_an_evaluation_without_code(self, two_problems: Path) -> None:
        rows = [{"question_id": "echo", "output_list": [f"```\n{RIGHT}\n```"]}]
        (two_problems / "lcb.json").write_text(json.dumps(rows))
        (only,) = grade(two_problems, name="lcb.json")["results"]
        assert only["verdict"] == "accepted"

    def test_grade_reads_gzipped_lines(self, two_problems: Path) -> None:
        write(two_problems, {"problem_id": "echo", "code": RIGHT}, name="s.jsonl.gz")
        assert results(grade(two_problems, name="s.jsonl.gz")) == [("own/echo", 0, "accepted")]

    def test_published_verdicts_of_lines(self, two_problems: Path) -> None:
        published: list[tuple[dict[str, Any], bool]] = [
            ({"passed": True}, True),
            ({"passed": False}, False),
            ({"passed": 3, "total": 3}, True),
            ({"passed": 2, "total": 3}, False),
            ({"verdict": "accepted"}, True),
            ({"verdict": "time_limit"}, False),
        ]
        write(two_problems, *({"problem_id": "echo", "code": RIGHT, **row} for row, _ in published))
        for graded, (row, passed) in zip(grade(two_problems)["results"], published, strict=True):
            assert graded["published"]["passed"] is passed, row
            assert graded["agrees"] is passed, row


class TestFlags:
    def test_the_flag_rule_changes_the_comparison(self, two_problems: Path) -> None:
        write(two_problems, {"problem_id": "echo", "code": "print(float(input()) + 1e-9)"})
        assert results(grade(two_problems))[0][2] == "wrong_answer"
        (loose,) = grade(two_problems, "--rule", "apps_legacy")["results"]
        assert loose["verdict"] == "accepted"
        (tokens,) = grade(two_problems, "--rule", "tokens")["results"]
        assert [test["verdict"] for test in tokens["tests"]] == [
            "wrong_answer",
            "wrong_answer",
            "accepted",
        ]

    @pytest.mark.thorough
    def test_the_flag_test_timeout_bounds_a_test(self, two_problems: Path) -> None:
        write(two_problems, {"problem_id": "echo", "code": "while True: pass"})
        (only,) = grade(two_problems, "--test-timeout", "0.2")["results"]
        assert only["verdict"] == "time_limit"
        assert (only["tests_run"], only["tests_total"]) == (1, 3)
        assert 0.2 <= only["tests"][0]["cpu_s"] < 2

    def test_the_flag_isolate_tests_needs_no_confirmation(self, two_problems: Path) -> None:
        write(two_problems, {"problem_id": "echo", "code": "print(1 if input() == '1' else 0)"})
        in_batch, alone = grade(two_problems), grade(two_problems, "--set", "isolate_tests=true")
        assert in_batch["summary"]["judged_again"]["confirmed"] == [2, 0]
        assert alone["summary"]["judged_again"]["confirmed"] == [0, 0]
        assert results(in_batch) == results(alone) == [("own/echo", 0, "wrong_answer")]

    @pytest.mark.thorough
    async def test_the_flag_workers_sets_how_many_judge(self, two_problems: Path) -> None:
        row = {
            "id": "one",
            "statement": "?",
            "tests": [{"input": "", "output": "", "public": True}],
        }
        (two_problems / "own.jsonl").write_text(json.dumps(row) + "\n")
        marks = Marks()
        write(two_problems, *({"problem_id": "one", "code": marks.sleeper} for _ in range(2)))
        files = ("--problems", "jsonl:own.jsonl", "--solutions", "solutions.jsonl")
        process = await start(
            two_problems, "grade", *files, "--workers", "2", "--set", "wall_timeout=600"
        )
        try:
            await asyncio.to_thread(marks.wait_for_both, 60)
        finally:
            process.kill()
            await finish(process)
        write(two_problems, *({"problem_id": "one", "code": TIMES} for _ in range(2)))
        graded = grade(two_problems, "--workers", "1", "--set", "isolate_tests=true")
        assert not overlap(each["tests"][0]["got"] for each in graded["results"])
        done = harness(
            two_problems,
            *("grade", "--problems", "jsonl:own.jsonl", "--solutions", "solutions.jsonl"),
            *("--workers", "0"),
        )
        assert done.returncode == 2
        assert "--workers: must be at least 1" in done.stderr

    def test_the_flag_skip_bad_rows_counts_them(self, two_problems: Path) -> None:
        with (two_problems / "own.jsonl").open("a") as file:
            file.write("{}\n")
        write(two_problems, {"problem_id": "echo", "code": RIGHT})
        flags = ("grade", "--problems", "jsonl:own.jsonl", "--solutions", "solutions.jsonl")
        assert harness(two_problems, *flags).returncode == 2
        done = harness(two_problems, *flags, "--set", "skip_bad_rows=true")
        assert done.returncode == 0
        assert "1 bad row skipped" in done.stderr

    @pytest.mark.parametrize(
        ("flags", "message"),
        [
            (
                ["--rule", "loose"],
                "--rule: known are lcb, equality, tokens, apps_legacy (given: loose)",
            ),
            (["--extract", "magic"], "--extract magic: known are harness, lcb"),
            (["--test-timeout", "-1"], "--test-timeout: give CPU seconds, more than 0"),
            (["--test-timeout", "nan"], "or reference*FACTOR (given: nan)"),
            (
                ["--test-timeout", "1e9"],
                "--test-timeout: give CPU seconds, more than 0, at most 604800",
            ),
            (["--solutions", "missing"], "missing: no such file"),
            (["--problems", "nothing:x"], "unknown problem source 'nothing'"),
        ],
    )
    def test_a_value_that_cannot_be(
        self, flags: list[str], message: str, two_problems: Path
    ) -> None:
        write(two_problems, {"problem_id": "echo", "code": RIGHT})
        done = harness(
            two_problems,
            *("grade", "--problems", "jsonl:own.jsonl", "--solutions", "solutions.jsonl", *flags),
        )
        assert done.returncode == 2
        assert message in done.stderr
        assert done.stdout == ""
        assert len(done.stderr.splitlines()) == 1


@for_each(
    ("text", "message"),
    [
        ("", "s holds no solution"),
        ("[]", "s holds no solution"),
        ("{", "s:1: not JSON"),
        ("[{]", "s: not JSON"),
        ("[1]", "s: item 1: not a JSON object"),
        ("{}", "s:1: field 'problem_id': missing"),
        ('{"problem_id": "echo"}', "s:1: field 'code': missing"),
        ('{"problem_id": "echo", "code": 5}', "s:1: field 'code': not a string but 5"),
        (
            '{"problem_id": "echo", "code": "", "verdict": "AC"}',
            "s:1: field 'verdict': 'AC' is not one of accepted",
        ),
        ('[{"question_id": "echo", "code_list": 5}]', "s: item 1: field 'code_list': not a list"),
        (
            '[{"question_id": "echo", "code_list": ["", 5]}]',
            "s: item 1: field 'code_list': entry 2 is not a string but 5",
        ),
        (
            '[{"question_id": "echo", "code_list": ["", ""], "graded_list": [true]}]',
            "s: item 1: field 'graded_list': 1 entries where there are 2 samples",
        ),
    ],
)
def test_a_bad_file_is_named_with_the_place(text: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "s").write_text(text)
    with pytest.raises(HarnessError) as raised:
        library_grade([ECHO], tmp_path / "s")
    assert message in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_bad_file_is_told_in_one_line(two_problems: Path) -> None:
    (two_problems / "s").write_text("[{]")
    done = harness(two_problems, "grade", "--problems", "jsonl:own.jsonl", "--solutions", "s")
    assert done.returncode == 2
    assert "s: not JSON" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_checker_that_fails_leaves_the_solution_ungraded(two_problems: Path) -> None:
    row = {**ECHO, "id": "own/checked", "checker": "def check(i, e, a): return 1 / 0"}
    (two_problems / "own.jsonl").write_text(json.dumps(row) + "\n")
    write(two_problems, {"problem_id": "checked", "code": RIGHT})
    flags = ("grade", "--problems", "jsonl:own.jsonl", "--solutions", "solutions.jsonl")
    done = harness(two_problems, *flags, "--json")
    assert done.returncode == 4
    graded = json.loads(done.stdout)
    assert graded["results"][0]["verdict"] == "checker_error"
    assert "ZeroDivisionError" in graded["results"][0]["cause"]
    assert graded["summary"]["infrastructure"] == 1
    assert graded["summary"]["pass_at_1"] is None
    assert harness(two_problems, *flags, "--rule", "lcb").returncode == 0, "a rule takes its place"


async def test_an_interrupt_reports_what_was_judged(two_problems: Path) -> None:
    write(
        two_problems,
        {"problem_id": "echo", "code": RIGHT},
        *({"problem_id": "double", "code": "while True: pass"} for _ in range(19)),
    )
    process = await start(
        two_problems,
        *("grade", "--problems", "jsonl:own.jsonl", "--solutions", "solutions.jsonl"),
        *("--json", "--workers", "1", "--test-timeout", "100"),
    )
    await heard(process, "accepted 1")
    process.send_signal(signal.SIGINT)
    code, out, err = await finish(process)
    assert code == 130
    graded = json.loads(out)
    assert results(graded) == [("own/echo", 0, "accepted")]
    assert graded["summary"]["not_judged"] == 19
    assert "interrupted: 19 solutions not judged" in err


def test_an_example_of_one_s_own_rows_is_printed_and_their_schema(tmp_path: Path) -> None:
    done = harness(tmp_path, "problems", "--schema", "--json")
    assert (done.returncode, done.stdout) == (2, "")
    assert "leave --json out" in done.stderr
    done = harness(tmp_path, "problems", "--schema")
    assert done.returncode == 0
    row, _, schema = done.stdout.partition("\n")
    assert json.loads(schema)["required"] == ["statement"]
    Draft202012Validator(json.loads(schema)).validate(json.loads(row))
    (tmp_path / "mine.jsonl").write_text(f"{row}\n")
    verified = harness(tmp_path, "verify", "jsonl:mine.jsonl")
    assert (verified.returncode, "1 of 1" in verified.stdout) == (0, True), verified.stdout


def test_samples_of_evalplus_are_graded(two_problems: Path) -> None:
    row = {
        "task_id": "HumanEval/0",
        "prompt": 'def twice(n):\n    """Double it.\n    >>> twice(2)\n    4\n    """\n',
        "entry_point": "twice",
        "canonical_solution": "    return 2 * n\n",
        "test": "def check(candidate):\n    assert candidate(3) == 6\n",
    }
    (two_problems / "he.jsonl").write_text(json.dumps(row))
    samples = [
        {"task_id": "HumanEval/0", "completion": "    return 2 * n\n"},
        {"task_id": "HumanEval/0", "completion": "def twice(n):\n    return n + n\n"},
        {"task_id": "HumanEval/0", "solution": "def twice(n):\n    return n\n"},
        {"task_id": "HumanEval/0", "solution": "    return 2 * n\n"},
    ]
    write(two_problems, *samples)
    verdicts = ("accepted", "accepted", "wrong_answer", "compile_error")
    grades = results(grade(two_problems, problems="humaneval:he.jsonl"))
    assert grades == [("humaneval/0", n, verdict) for n, verdict in enumerate(verdicts)]


class TestHarshFiles:
    """Files as others write them."""

    def test_words_that_were_cut_in_the_middle_of_a_letter(self, two_problems: Path) -> None:
        answer = f"```python\n{RIGHT}\n```\nthinking \ud83d"
        write(two_problems, {"problem_id": "echo", "output": answer})
        assert results(grade(two_problems)) == [("own/echo", 0, "accepted")]
        rows = [{"question_id": "echo", "code_list": [RIGHT], "output_list": [answer]}]
        (two_problems / "lcb.json").write_text(json.dumps(rows))
        assert results(grade(two_problems, name="lcb.json")) == [("own/echo", 0, "accepted")]

    def test_a_sample_without_code_is_no_solution_or_its_output(self, two_problems: Path) -> None:
        rows = [
            {
                "question_id": "echo",
                "code_list": [None, None],
                "output_list": [None, f"```\n{RIGHT}\n```"],
            }
        ]
        (two_problems / "lcb.json").write_text(json.dumps(rows))
        graded = grade(two_problems, name="lcb.json")
        assert [r["verdict"] for r in graded["results"]] == ["no_solution", "accepted"]

    def test_verdicts_that_are_numbers_or_missing(self, two_problems: Path) -> None:
        rows = [{"question_id": "echo", "code_list": [RIGHT] * 3, "graded_list": [1, 0, None]}]
        (two_problems / "lcb.json").write_text(json.dumps(rows))
        graded = grade(two_problems, name="lcb.json")
        assert [r["agrees"] for r in graded["results"]] == [True, False, None]

    def test_a_missing_id_beside_another(self, two_problems: Path) -> None:
        write(two_problems, {"problem_id": None, "question_id": "echo", "code": RIGHT})
        assert results(grade(two_problems)) == [("own/echo", 0, "accepted")]

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ({"passed": "yes"}, "'yes' is neither true nor false"),
            ({"passed": 1}, "1 is neither true nor false, nor a number of tests with a total"),
        ],
    )
    def test_a_verdict_that_says_nothing(
        self, row: dict[str, Any], message: str, two_problems: Path
    ) -> None:
        write(two_problems, {"problem_id": "echo", "code": RIGHT, **row})
        flags = ("--problems", "jsonl:own.jsonl", "--solutions", "solutions.jsonl")
        done = harness(two_problems, "grade", *flags)
        assert done.returncode == 2
        assert message in done.stderr


@pytest.mark.thorough
def test_the_json_holds_every_test_whatever_the_order_of_judging(two_problems: Path) -> None:
    pause = "import time\ntime.sleep(0.3)\nprint(input())"
    write(
        two_problems,
        {"problem_id": "echo", "code": pause},
        *({"problem_id": "echo", "code": RIGHT} for _ in range(3)),
    )
    graded = grade(two_problems, "--workers", "2")
    assert [(r["index"], len(r["tests"])) for r in graded["results"]] == [
        (0, 3),
        (1, 3),
        (2, 3),
        (3, 3),
    ]


def test_what_could_not_be_judged_is_listed_with_its_cause(two_problems: Path) -> None:
    row = {**ECHO, "id": "own/checked", "checker": "def check(i, e, a): return undefined"}
    (two_problems / "own.jsonl").write_text(json.dumps(row) + "\n")
    write(two_problems, {"problem_id": "checked", "code": RIGHT})
    flags = ("--problems", "jsonl:own.jsonl", "--solutions", "solutions.jsonl")
    table = harness(two_problems, "grade", *flags).stdout
    assert "own/checked" in table
    assert "NameError: name 'undefined' is not defined" in table


@pytest.mark.thorough
def test_memory_is_limited_by_its_flag(two_problems: Path) -> None:
    write(two_problems, {"problem_id": "echo", "code": "x = bytearray(150 << 20)\nprint(input())"})
    assert grade(two_problems)["results"][0]["verdict"] == "accepted"
    assert grade(two_problems, "--memory", "128")["results"][0]["verdict"] == "memory_limit"
    flags = ("--problems", "jsonl:own.jsonl", "--solutions", "solutions.jsonl", "--memory", "1")
    done = harness(two_problems, "grade", *flags)
    assert done.returncode == 2
    assert "--memory: must be at least 64" in done.stderr


@pytest.mark.thorough
@pytest.mark.parametrize("command", ["grade", "verify"])
def test_a_reader_that_has_gone_is_no_error(command: str, two_problems: Path) -> None:
    write(two_problems, {"problem_id": "echo", "code": RIGHT})
    arguments = {
        "grade": ["--problems", "jsonl:own.jsonl", "--solutions", "solutions.jsonl"],
        "verify": ["jsonl:own.jsonl"],
    }
    read, written = os.pipe()
    os.close(read)
    done = subprocess.run(
        [PROGRAM, command, *arguments[command], "--json"],
        cwd=two_problems,
        env=environment(),
        stdout=written,
        stderr=subprocess.PIPE,
        timeout=120,
        check=False,
    )
    os.close(written)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
