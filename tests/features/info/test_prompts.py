"""`harness prompts` as a user meets it."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each
from program import harness

from harness.agent.templates.prompt_set import load_prompt
from harness.problem import Kind

PROBLEM = "beacon-schedules"
HIDDEN = "7919104729"
ROW = {
    "id": "sum",
    "title": "Sum",
    "statement": "Add up. \x1b[31m",
    "tests": [
        {"input": "1 2", "output": "3", "public": True},
        {"input": "3 4", "output": HIDDEN, "public": False},
    ],
}
EXECUTION = {
    "question_id": "9002",
    "contest_id": "biweekly-contest-90",
    "contest_date": "2023-07-08T00:00:00",
    "difficulty": "hard",
    "function_name": "twice",
    "code": "def twice(x):\n    return x + x\n",
    "input": "twice(x = 3)",
    "output": HIDDEN,
    "id": "sample_7",
    "problem_id": 12,
    "numsteps": 4,
}


ASKED = ("-b", "fixture", "-m", "x", "--base-url", "http://127.0.0.1:9/v1")
SHOT = ("--mode", "single_shot")

WHOLE = (
    "{{ problem.statement }} {{ problem.starter_code }} {{ problem.entry_point }} stdin stdout "
    "in place {% for test in problem.public_tests %}{{ test.input }} {{ test.output }}{% endfor %}"
)


def section(text: str, title: str) -> str:
    """Return what stands below one title of a rendering."""
    return text.partition(f"--- {title}\n")[2].partition("\n--- ")[0]


def write_set(folder: Path, user: str, **others: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in {"system": "Be brief.\n", "user": user, **others}.items():
        (folder / f"{name}.j2").write_text(text)


class TestList:
    def test_every_set_stands_in_a_line_with_its_words_and_kinds(self, tmp_path: Path) -> None:
        done = harness(tmp_path, "prompts", "list", COLUMNS="200")
        assert (done.returncode, done.stderr) == (0, "")
        for name in ("default", "livecodebench", "reasoning", "terse", "tests_first"):
            described = re.escape(load_prompt(name, "agentic").description)
            line = rf"^ *{name} +{described} *\n +for code generation"
            assert re.search(line, done.stdout, re.MULTILINE), name
        described = re.escape(
            load_prompt("cot", "agentic", Kind.TEST_OUTPUT_PREDICTION).description
        )
        line = rf"^ *cot +{described} *\n +for test output prediction, code execution *$"
        assert re.search(line, done.stdout, re.MULTILINE)
        assert "agentic" not in done.stdout

    def test_prompts_list_as_json(self, tmp_path: Path) -> None:
        done = harness(tmp_path, "prompts", "list", "--json")
        assert (done.returncode, done.stderr) == (0, "")
        rows: list[dict[str, Any]] = json.loads(done.stdout)["sets"]
        by_set = {row["set"]: row for row in rows}
        assert len(by_set) == len(rows)
        terse = by_set["terse"]
        assert terse["kinds"] == {"code_generation": load_prompt("terse", "agentic").hash}
        assert terse["description"] == load_prompt("terse", "agentic").description
        assert list(by_set["default"]["kinds"]) == [*map(str, Kind), "cpp"]


class TestShow:
    def test_the_templates_are_printed_as_they_are_with_their_hash(self, tmp_path: Path) -> None:
        done = harness(tmp_path, "prompts", "show", "default")
        assert (done.returncode, done.stderr) == (0, "")
        prompt = load_prompt("default", "single_shot")
        assert list(prompt.parts) == ["system", "user"]
        assert prompt.hash in done.stdout
        for part, text in prompt.parts.items():
            (path,) = re.findall(rf"^--- (.*/{part}\.j2)$", done.stdout, re.MULTILINE)
            assert Path(path).read_text() == text
            assert f"--- {path}\n{text}" in done.stdout

    def test_the_mode_says_which_templates_and_default_has_those_of_no_set(
        self, tmp_path: Path
    ) -> None:
        done = harness(tmp_path, "prompts", "show", "livecodebench", "--mode", "self_repair")
        prompt = load_prompt("livecodebench", "self_repair")
        assert prompt.hash in done.stdout
        files = re.findall(r"^--- .*/prompts/(.*\.j2)$", done.stdout, re.MULTILINE)
        own = [f"livecodebench/{part}.j2" for part in ("system", "user", "repair")]
        assert sorted(files) == sorted([*own, "default/report.j2"])
        assert prompt.parts["repair"] in done.stdout

    def test_the_loop_shows_every_text_that_it_sends(self, tmp_path: Path) -> None:
        done = harness(tmp_path, "prompts", "show", "terse", "--mode", "agentic")
        files = re.findall(r"^--- .*/prompts/(.*)\.j2$", done.stdout, re.MULTILINE)
        parts = load_prompt("terse", "agentic").parts
        assert {file.partition("/")[2] for file in files} == set(parts)
        assert set(parts) >= {"tools", "again", "repair", "reminder", "result", "describe"}
        assert {file for file in files if file.startswith("terse/")} == {
            "terse/system",
            "terse/user",
        }

    def test_the_kind_says_which(self, tmp_path: Path) -> None:
        write_set(tmp_path / "mine", "for code")
        write_set(tmp_path / "mine" / "code_execution", "for a value")
        done = harness(tmp_path, "prompts", "show", "mine", "--kind", "code_execution")
        assert "--- mine/code_execution/user.j2\nfor a value" in done.stdout
        assert "for code" not in done.stdout
        assert "for code" in harness(tmp_path, "prompts", "show", "mine").stdout

    @for_each(
        ("arguments", "message"),
        [
            (("nope",), "'nope'; for code generation there are: default, livecodebench, reason"),
            (("cot",), "'cot' has nothing for code generation; these have: default, livecodeb"),
            (("terse", "--kind", "code_execution"), "'terse' has nothing for code execution"),
            (("terse", "--kind", "poetry"), "--kind poetry: give code_generation, test_output"),
        ],
    )
    def test_a_missing_prompt_set_is_told_in_one_line(
        self, tmp_path: Path, arguments: tuple[str, ...], message: str
    ) -> None:
        done = harness(tmp_path, "prompts", "show", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr
        assert done.stderr.count("\n") == 1

    def test_a_terminal_is_not_told_what_to_do(self, tmp_path: Path) -> None:
        write_set(tmp_path / "mine", "\x1b[2Jcleared [bold]")
        done = harness(tmp_path, "prompts", "show", "mine")
        assert "\\x1b[2Jcleared [bold]" in done.stdout


class TestRender:
    def test_the_messages_are_those_that_a_model_would_get(self, tmp_path: Path) -> None:
        done = harness(tmp_path, "prompts", "render", "default", PROBLEM)
        assert (done.returncode, done.stderr) == (0, "")
        system, _, user = done.stdout.partition("--- user\n")
        assert system.startswith("--- system\nYou are an expert")
        assert "def countSchedules(" in user
        assert "6 seconds of CPU time" in user
        assert "{" not in system

    def test_natively_the_tools_and_all_that_may_follow_are_shown(self, tmp_path: Path) -> None:
        done = harness(tmp_path, "prompts", "render", "terse", PROBLEM, "--mode", "agentic")
        assert (done.returncode, done.stderr) == (0, "")
        titles = re.findall(r"^--- (.*)$", done.stdout, re.MULTILINE)
        tools = [f"tool {name}" for name in ("read_problem", "write_solution", "run_tests")]
        assert titles[:5] == ["system", "user", *tools]
        assert {title.partition(":")[0] for title in titles[5:]} == {
            f"later, {part}"
            for part in ("report", "result", "repair", "reminder", "check", "problem")
        }
        system = section(done.stdout, "system")
        assert system.startswith("Solve the problem in Python 3")
        assert "write_solution hands in your whole program" in system
        assert '"code":{"type":"string"' in section(done.stdout, "tool write_solution")
        assert "later, report: a wrong answer" in titles
        assert "later, result: saved" in " ".join(titles)

    def test_in_text_the_opening_is_the_single_shots_and_no_tool_is_named(
        self, tmp_path: Path
    ) -> None:
        loop = ("--mode", "agentic", "--tool-protocol", "text")
        done = harness(tmp_path, "prompts", "render", "default", PROBLEM, *loop)
        shot = harness(tmp_path, "prompts", "render", "default", PROBLEM)
        assert (done.returncode, done.stderr, shot.returncode) == (0, "", 0)
        assert done.stdout.startswith(shot.stdout)
        assert not re.search("read_problem|write_solution|run_tests", done.stdout)
        titles = re.findall(r"^--- (.*)$", done.stdout, re.MULTILINE)
        assert {title.partition(":")[0] for title in titles[2:]} == {
            f"later, {part}" for part in ("report", "again", "repair", "check")
        }

    def test_self_repair_shows_the_repair_and_the_report(self, tmp_path: Path) -> None:
        done = harness(tmp_path, "prompts", "render", "terse", PROBLEM, "--mode", "self_repair")
        titles = re.findall(r"^--- later, (\w+)", done.stdout, re.MULTILINE)
        assert set(titles) == {"report", "repair"}

    def test_a_problem_of_ones_own(self, tmp_path: Path) -> None:
        (tmp_path / "rows.jsonl").write_text(json.dumps(ROW))
        write_set(tmp_path / "mine", "{{ problem.statement }} {{ problem.public_tests | length }}")
        for flags in (("-b", "jsonl:rows.jsonl"), ("-b", "jsonl", "--source", "rows.jsonl")):
            done = harness(tmp_path, "prompts", "render", "mine", "sum", *flags)
            assert (done.returncode, done.stderr) == (0, "")
            assert "Add up. \\x1b[31m 1" in done.stdout
            assert HIDDEN not in done.stdout

    def test_the_problems_kind_says_which_templates(self, tmp_path: Path) -> None:
        (tmp_path / "rows.jsonl").write_text(json.dumps(EXECUTION))
        write_set(tmp_path / "mine", "for code")
        write_set(tmp_path / "mine" / "code_execution", "{{ problem.call }}?")
        rows = ("-b", "livecodebench:rows.jsonl")
        done = harness(tmp_path, "prompts", "render", "mine", "sample_7", *rows)
        assert "--- user\ntwice(x = 3)?" in done.stdout
        done = harness(tmp_path, "prompts", "render", "terse", "sample_7", *rows)
        assert done.returncode == 2
        assert "'terse' has nothing for code execution" in done.stderr

    @for_each(
        ("arguments", "message"),
        [
            (("default", "nope"), "no problem is called 'nope'"),
            (("nope", PROBLEM), "no prompt set or folder 'nope'"),
            (("mine", PROBLEM), "'mine', user.j2, line 2: 'statement' is undefined"),
        ],
    )
    def test_a_fault_of_a_prompt_set_is_told_in_one_line(
        self, tmp_path: Path, arguments: tuple[str, ...], message: str
    ) -> None:
        write_set(tmp_path / "mine", "x\n{{ statement }}")
        done = harness(tmp_path, "prompts", "render", *arguments)
        assert (done.returncode, done.stdout) == (2, "")
        assert message in done.stderr
        assert done.stderr.count("\n") == 1


@for_each("command", [("show", "terse"), ("render", "terse", PROBLEM), ("check", "terse")])
def test_a_mode_that_is_none_is_refused(tmp_path: Path, command: tuple[str, ...]) -> None:
    done = harness(tmp_path, "prompts", *command, "--mode", "agentc")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--mode agentc: give agentic, single_shot, self_repair" in done.stderr
    (tmp_path / "mine.py").write_text("async def strategy(session): ...\n")
    done = harness(tmp_path, "prompts", *command, "--mode", "mine:strategy")
    assert done.returncode == 0, done.stderr


class TestCheck:
    def test_a_bundled_set_is_without_fault(self, tmp_path: Path) -> None:
        done = harness(tmp_path, "prompts", "check", "default", *SHOT)
        assert (done.returncode, done.stderr) == (0, "")
        assert re.search(
            r"\d+ templates, rendered for \d\d forms of problems: no fault", done.stdout
        )

    def test_every_fault_is_told_with_file_and_line(self, tmp_path: Path) -> None:
        write_set(tmp_path / "mine", "x\n{{ statement }}\n{{ problem.titel }}", system="{% if %}")
        write_set(tmp_path / "mine" / "codet", "fine", tests="{{ title }}")
        (tmp_path / "mine" / "again.j2").write_text("\n\n{{ raport }}")
        done = harness(tmp_path, "prompts", "check", "mine")
        assert done.returncode == 2
        assert [line.partition(": ")[0] for line in done.stdout.splitlines()] == [
            "mine/again.j2:3",
            "mine/codet/tests.j2:1",
            "mine/system.j2:1",
            "mine/user.j2:2",
            "mine/user.j2:3",
        ]
        assert done.stderr == "harness: prompt set 'mine': 5 faults\n"

    def test_a_run_tells_the_same_faults(self, tmp_path: Path) -> None:
        write_set(tmp_path / "mine", "x\n{{ statement }}\n{{ problem.titel }}", system="{% if %}")
        checked = harness(tmp_path, "prompts", "check", "mine", *SHOT).stdout.splitlines()
        done = harness(tmp_path, "run", *ASKED, "--prompt", "mine", "--out", "r")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        text = "; ".join([*checked, "all of it: harness prompts check mine"])
        assert done.stderr == f"harness: prompt set 'mine': {text}\n"
        assert not (tmp_path / "r").exists()

    def test_a_run_tells_the_first_of_many_faults(self, tmp_path: Path) -> None:
        write_set(tmp_path / "mine", "\n".join(f"{{{{ none{n} }}}}" for n in range(9)), system="x")
        checked = harness(tmp_path, "prompts", "check", "mine", *SHOT).stdout.splitlines()
        done = harness(tmp_path, "run", *ASKED, "--prompt", "mine", "--out", "r")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "; ".join(checked[:3]) + f"; {len(checked) - 3} more; all of it: " in done.stderr

    def test_prompts_check_of_one_mode_ignores_the_others(self, tmp_path: Path) -> None:
        write_set(tmp_path / "mine", WHOLE, again="{{ nothing }}")
        done = harness(tmp_path, "prompts", "check", "mine", "--mode", "self_repair")
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("4 templates")
        done = harness(tmp_path, "prompts", "check", "mine", "--mode", "agentic")
        assert done.returncode == 2
        assert done.stdout.startswith("mine/again.j2:1: 'nothing' is undefined")

    @pytest.mark.thorough
    def test_a_hostile_set_is_stopped(self, tmp_path: Path) -> None:
        endless = "{% for i in range(99999) %}" * 4 + "x" + "{% endfor %}" * 4
        write_set(tmp_path / "mine", endless, system="{{ problem.__class__.__mro__ }}")
        done = harness(tmp_path, "prompts", "check", "mine")
        assert done.returncode == 2
        assert "mine/system.j2:1: " in done.stdout
        assert "mine/user.j2: it makes more than 1,000,000 characters" in done.stdout

    def test_a_set_that_is_not_there(self, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        for name, message in (
            ("nope", "no prompt set or folder"),
            ("empty", "has no system.j2 and user.j2"),
        ):
            done = harness(tmp_path, "prompts", "check", name)
            assert (done.returncode, done.stdout) == (2, "")
            assert message in done.stderr
