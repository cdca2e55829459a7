"""`harness verify --generated`: references on inputs that no test has."""

import json
import signal
from pathlib import Path
from typing import Any

import pytest
from program import Done, finish, harness, heard, start

SUM = "class Solution:\n    def solve(self, nums): return sum(nums)"
LOOP = "class Solution:\n    def solve(self, nums):\n        n = 0\n        for x in nums: n += x\n"
AGREES = f"{LOOP}        return n"
WRONG_ABOVE_2 = f"{LOOP}        return n if len(nums) < 3 else -1"
RAISES_AT_3 = f"{LOOP}        return n // (len(nums) != 3)"
SPINS_AT_3 = f"{LOOP}        while len(nums) == 3: pass\n        return n"
# So many sevens.
COUNTED = "def generate_test_case():\n    return [[7] * {}]\n"
RANDOM = (
    "import random\ndef generate_test_case():\n"
    "    return [[random.randint(-9, 9) for _ in range(random.randint(0, 9))]]\n"
)
EVALUATE = "def evaluate_offline(inputs, outputs, expected): return outputs == expected"
INFRASTRUCTURE, INTERRUPTED = 4, 130


def row(slug: str, generator: str | None, *references: str, **columns: Any) -> dict[str, Any]:
    return {
        "slug_name": slug,
        "entry_point": "solve",
        "convert_offline": "def convert_offline(case): return case",
        "evaluate_offline": EVALUATE,
        "test_cases": '[{"input": [[1, 2]], "expected": 3}]',
        "solutions": [{"solution": code} for code in references],
        "generator_code": generator,
        **columns,
    }


def put(folder: Path, *rows: dict[str, Any]) -> None:
    (folder / "rows.jsonl").write_text("".join(json.dumps(each) + "\n" for each in rows))


def verify(folder: Path, *flags: str, inputs: int | None = 10) -> Done:
    generated = () if inputs is None else ("--generated", str(inputs))
    home = str(folder / "home")
    return harness(folder, "verify", "mercury:rows.jsonl", *generated, *flags, HF_HOME=home)


def found(folder: Path, *flags: str, inputs: int = 10) -> dict[str, Any]:
    """What the JSON has of the only problem's generated inputs."""
    done = verify(folder, "--json", *flags, inputs=inputs)
    assert done.returncode == 0, done.stderr
    (problem,) = json.loads(done.stdout)["problems"]
    return problem["generated"]


def test_references_that_agree(tmp_path: Path) -> None:
    put(tmp_path, row("p", RANDOM, SUM, AGREES, SUM))
    said = found(tmp_path, inputs=30)
    assert (said["references"], said["tried"], said["made"]) == (3, 30, 30)
    assert 1 < said["different"] == said["compared"] <= 30
    assert (said["disagreements"], said["generator_fails"], said["not_compared"]) == (
        [],
        None,
        None,
    )
    assert said["isolation"]
    done = verify(tmp_path, inputs=30)
    assert "made for 1 of 1 problem" in done.stdout
    assert f"on {said['compared']} of {said['different']} different inputs" in done.stdout
    assert "(30 made of 30 tried)" in done.stdout
    assert "disagree" not in done.stdout
    assert "problems without disagreement 1" in done.stderr


def test_references_that_do_not_are_rows_and_change_no_exit_code(tmp_path: Path) -> None:
    put(tmp_path, row("p", RANDOM, SUM, AGREES, WRONG_ABOVE_2), row("q", RANDOM, SUM, AGREES))
    done = verify(tmp_path, "--json")
    assert done.returncode == 0, done.stderr
    verified = json.loads(done.stdout)
    assert verified["summary"]["generated"]["disagree"] == ["mercury/p"]
    assert verified["summary"]["accepted"] == 5
    wrong, right = (each["generated"] for each in verified["problems"])
    assert right["disagreements"] == []
    (one,) = wrong["disagreements"]
    assert (one["reference"], one["verdict"]) == (2, "wrong_answer")
    assert 1 < one["inputs"] <= wrong["compared"]
    given = json.loads(one["input"])
    assert len(given) > 2
    assert one["detail"] == f"{sum(given)} by the first, -1 by this one"
    done = verify(tmp_path)
    assert "1 problem: mercury/p" in done.stdout
    (line,) = [line for line in done.stdout.splitlines() if "wrong answer" in line]
    assert line.split()[:2] == ["mercury/p", "2"]
    assert f"{one['inputs']} of {wrong['compared']}" in line
    assert f"seed {one['seed']}, {one['input']}: " in " ".join(done.stdout.split())


def test_the_seed_that_is_named_makes_that_input(tmp_path: Path) -> None:
    put(tmp_path, row("p", RANDOM, SUM, WRONG_ABOVE_2))
    (one,) = found(tmp_path, inputs=40)["disagreements"]
    fewer = found(tmp_path, inputs=one["seed"] + 1)["disagreements"]
    assert [(each["seed"], each["input"]) for each in fewer] == [(one["seed"], one["input"])]
    assert one["seed"] == 0 or not found(tmp_path, inputs=one["seed"])["disagreements"]


def test_of_each_verdict_there_is_one_row(tmp_path: Path) -> None:
    made = COUNTED.format("random.randint(3, 4)")
    either = f"{LOOP}        return n // (len(nums) != 3) + 1"
    put(tmp_path, row("p", made, SUM, either, "class Solution:"))
    said = found(tmp_path, inputs=30)
    assert (said["made"], said["different"], said["compared"]) == (30, 2, 2)
    assert [(d["reference"], d["verdict"], d["inputs"]) for d in said["disagreements"]] == [
        (1, "runtime_error", 1),
        (1, "wrong_answer", 1),
        (2, "compile_error", 2),
    ]
    assert "ZeroDivisionError" in said["disagreements"][0]["detail"]


def test_a_generator_that_loops_is_named_and_soon_left(tmp_path: Path) -> None:
    loops = "def generate_test_case():\n    while True: pass\n"
    put(tmp_path, row("p", loops, SUM, AGREES), row("q", RANDOM, SUM, AGREES))
    done = verify(tmp_path, "--json", "--test-timeout", "0.2", inputs=1000)
    assert done.returncode == 0, done.stderr
    verified = json.loads(done.stdout)
    looping, sound = (each["generated"] for each in verified["problems"])
    assert (looping["made"], looping["compared"]) == (0, 0)
    assert looping["tried"] < 1000
    assert looping["generator_fails"]["inputs"] == looping["tried"]
    assert "cpu" in looping["generator_fails"]["why"]
    assert sound["made"] == 1000
    summary = verified["summary"]["generated"]
    assert (summary["made_for"], summary["generator_fails"]) == (1, ["mercury/p"])


def test_a_generator_that_raises_now_and_then(tmp_path: Path) -> None:
    raises = (
        f"{RANDOM}\nmake = generate_test_case\n"
        "def generate_test_case():\n"
        "    if random.random() < 0.5: raise KeyError('\\x1b[31mred')\n"
        "    return make()\n"
    )
    put(tmp_path, row("p", raises, SUM, AGREES))
    said = found(tmp_path, inputs=40)
    fault = said["generator_fails"]
    assert 0 < said["made"] < said["tried"] == 40
    assert fault["inputs"] == 40 - said["made"]
    assert fault["why"].startswith("KeyError")
    done = verify(tmp_path, inputs=40)
    assert done.returncode == 0, done.stderr
    assert f"{fault['inputs']} of 40" in done.stdout
    assert f"seed {fault['seed']}: KeyError" in done.stdout
    assert "\x1b" not in done.stdout


def test_an_input_that_the_first_reference_fails_on_tells_nothing(tmp_path: Path) -> None:
    put(tmp_path, row("p", COUNTED.format("random.randint(1, 4)"), RAISES_AT_3, SUM))
    said = found(tmp_path, inputs=40)
    assert (said["different"], said["compared"], said["disagreements"]) == (4, 3, [])
    assert said["not_compared"]["inputs"] == 1
    assert "the first reference: ZeroDivisionError" in said["not_compared"]["why"]
    assert "not compared" in verify(tmp_path, inputs=40).stdout


class TestWhereAProblemIsLeft:
    @pytest.mark.parametrize(
        ("flags", "reference", "tried"),
        [
            ((), SPINS_AT_3, 20),
            (("--all-tests",), SPINS_AT_3, 50),
            (("--fail-fast",), WRONG_ABOVE_2, 20),
            ((), WRONG_ABOVE_2, 50),
        ],
    )
    def test_as_the_flags_say(
        self, flags: tuple[str, ...], reference: str, tried: int, tmp_path: Path
    ) -> None:
        put(tmp_path, row("p", COUNTED.format("random.randint(1, 4)"), SUM, reference))
        said = found(tmp_path, "--test-timeout", "0.5", *flags, inputs=50)
        assert said["tried"] == tried
        assert said["disagreements"]


def test_references_can_be_limited_and_one_alone_disagrees_with_nothing(tmp_path: Path) -> None:
    put(tmp_path, row("p", RANDOM, SUM, AGREES, WRONG_ABOVE_2))
    two = found(tmp_path, "--references", "2")
    assert (two["references"], two["disagreements"]) == (2, [])
    one = found(tmp_path, "--references", "1")
    assert (one["references"], one["compared"]) == (1, 0)
    shown = verify(tmp_path, "--references", "1").stdout
    assert "fewer than two references" in shown


def test_the_rule_that_is_asked_for_compares(tmp_path: Path) -> None:
    takes_all = "def evaluate_offline(inputs, outputs, expected): return True"
    put(tmp_path, row("p", RANDOM, SUM, WRONG_ABOVE_2, evaluate_offline=takes_all))
    assert not found(tmp_path)["disagreements"]
    assert found(tmp_path, "--rule", "lcb")["disagreements"]


def test_memory_is_limited_by_its_flag(tmp_path: Path) -> None:
    large = f"{LOOP}        x = bytearray(150 << 20)\n        return n"
    put(tmp_path, row("p", RANDOM, SUM, large))
    assert not found(tmp_path, inputs=2)["disagreements"]
    (one,) = found(tmp_path, "--memory", "128", inputs=2)["disagreements"]
    assert one["verdict"] == "memory_limit"


class TestWhatIsNoReferencesDoing:
    def test_hooks_that_fail_on_a_right_answer_are_counted_apart(self, tmp_path: Path) -> None:
        # On the data's own test, whose expected output is 3, they do not fail.
        fails = (
            "def evaluate_offline(inputs, outputs, expected):\n"
            "    if expected != 3 and not inputs[0]: raise KeyError('lost')\n"
            "    return outputs == expected"
        )
        empties = f"{LOOP}        nums.clear()\n        return n"
        made = COUNTED.format("3")
        put(tmp_path, row("p", made, SUM, empties, evaluate_offline=fails))
        done = verify(tmp_path, "--json")
        assert done.returncode == INFRASTRUCTURE, done.stderr
        verified = json.loads(done.stdout)
        assert verified["summary"]["infrastructure"] == 0
        generated = verified["summary"]["generated"]
        assert (generated["infrastructure"], generated["disagree"]) == (1, [])
        (one,) = verified["problems"][0]["generated"]["disagreements"]
        assert (one["reference"], one["verdict"]) == (1, "checker_error")
        assert "KeyError" in one["detail"]
        done = verify(tmp_path)
        assert done.returncode == INFRASTRUCTURE
        assert "1 problem could not be checked, or not wholly" in done.stdout
        assert "not judged 1" in done.stderr
        assert verify(tmp_path, inputs=None).returncode == 0

    def test_an_input_that_the_hooks_cannot_take_tells_nothing(self, tmp_path: Path) -> None:
        picky = "def convert_offline(case):\n    assert len(case[0][0]) != 4\n    return case"
        made = COUNTED.format("random.randint(3, 4)")
        put(tmp_path, row("p", made, SUM, AGREES, convert_offline=picky))
        said = found(tmp_path, inputs=20)
        assert (said["different"], said["compared"]) == (2, 1)
        assert "AssertionError" in said["not_compared"]["why"]


async def test_an_interrupt_reports_what_was_found(tmp_path: Path) -> None:
    endless = "def generate_test_case():\n    while True: pass\n"
    put(tmp_path, row("p", RANDOM, SUM, WRONG_ABOVE_2), row("q", endless, SUM, AGREES))
    assert verify(tmp_path, "--test-timeout", "100", inputs=None).returncode == 0
    flags = ("--generated", "10", "--workers", "1", "--test-timeout", "100", "--json")
    process = await start(
        tmp_path, "verify", "mercury:rows.jsonl", *flags, HF_HOME=str(tmp_path / "home")
    )
    await heard(process, "without disagreement")
    process.send_signal(signal.SIGINT)
    code, out, err = await finish(process)
    assert code == INTERRUPTED
    verified = json.loads(out)
    first, second = (each["generated"] for each in verified["problems"])
    assert first["disagreements"]
    assert second is None
    summary = verified["summary"]["generated"]
    assert (summary["with_generator"], summary["checked"]) == (2, 1)
    assert "interrupted: generated inputs of 1 problem not compared" in err


class TestUse:
    @pytest.mark.parametrize("inputs", [0, -1, 1001])
    def test_a_number_out_of_range_is_refused_in_one_line(
        self, inputs: int, tmp_path: Path
    ) -> None:
        put(tmp_path, row("p", RANDOM, SUM))
        done = verify(tmp_path, inputs=inputs)
        assert (done.returncode, done.stdout) == (2, "")
        (line,) = done.stderr.splitlines()
        assert f"--generated {inputs}: give" in line
        assert "from 1 to 1000" in line

    def test_where_no_problem_has_a_generator_that_is_said_before_anything_runs(
        self, tmp_path: Path
    ) -> None:
        put(tmp_path, row("p", None, SUM), row("q", " \n", SUM))
        done = verify(tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        (line,) = done.stderr.splitlines()
        assert "of 2 selected problems none has a generator" in line
        assert "Mercury" in line

    def test_a_problem_without_one_is_passed_over(self, tmp_path: Path) -> None:
        put(tmp_path, row("p", None, SUM, WRONG_ABOVE_2), row("q", RANDOM, SUM, AGREES))
        verified = json.loads(verify(tmp_path, "--json").stdout)
        without, having = (each["generated"] for each in verified["problems"])
        assert without is None
        assert having["made"] == 10
        summary = verified["summary"]["generated"]
        assert (summary["problems"], summary["with_generator"], summary["checked"]) == (2, 1, 1)
        shown = verify(tmp_path).stdout
        assert "made for 1 of 2 problems; 1 without a generator" in shown

    def test_nothing_is_generated_unless_asked_for(self, tmp_path: Path) -> None:
        put(tmp_path, row("p", RANDOM, SUM, WRONG_ABOVE_2))
        verified = json.loads(verify(tmp_path, "--json", inputs=None).stdout)
        assert "generated" not in verified["problems"][0]
        assert "generated" not in verified["summary"]
        assert "generated" not in verify(tmp_path, inputs=None).stdout

    def test_it_is_not_cached(self, tmp_path: Path) -> None:
        put(tmp_path, row("p", RANDOM, SUM, AGREES))
        for _ in range(2):
            assert "problems without disagreement 1" in verify(tmp_path).stderr
