"""Prompt sets: what they say, where they are found, and by which hash they are known."""

import hashlib
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each

from harness.agent.templates import prompt_set
from harness.agent.templates.prompt_set import (
    PromptSet,
    Told,
    bundled_names,
    load_prompt,
    with_wrong_test,
)
from harness.errors import UsageError
from harness.features.impossible.problem_reports import MARK
from harness.problem import Codec, Kind, Level, ProblemView, Signature, TestCase
from harness.registry import MODES

BUNDLED = [(name, kind) for kind in Kind for name in bundled_names(kind)]
WRITTEN = ["default", "livecodebench", "reasoning", "terse", "tests_first"]
TOOLS = ("read_problem", "write_solution", "run_tests", "write_answer")
TOLD = {"in text": Told(), "native": Told(native=TOOLS[:3])}
ADDED = "def add(a, b):\n    "


def prompt(user: str, system: str = "You solve problems.", **others: str) -> PromptSet:
    return PromptSet(name="mine", parts={"system": system, "user": user, **others})


def function(problem: ProblemView, starter_code: str) -> ProblemView:
    return problem.model_copy(
        update={
            "entry_point": "add",
            "starter_code": starter_code,
            "public_tests": (TestCase(input="1\n2", output="3", public=True),),
        }
    )


def write_set(folder: Path, user: str = "Solve {{ problem.title }}.") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "system.j2").write_text("Be brief.\n")
    (folder / "user.j2").write_text(user)


def repaired(name: str, problem: ProblemView, **values: Any) -> str:
    given = {
        "code": "print(0)\n",
        "feedback": "Expected 3, got 0.",
        "round": 1,
        "opening": "Add two numbers.",
        "tools": (),
        "new": True,
    }
    prompt = load_prompt(name, "self_repair")
    return prompt.render_part("repair", problem=problem, cpu_limit_s=2.5, **given | values)


@pytest.mark.parametrize("told", TOLD.values(), ids=TOLD)
@pytest.mark.parametrize("name", WRITTEN)
class TestBundled:
    @for_each("difficulty", ["easy", None])
    @for_each("platform", ["atcoder", ""])
    def test_a_bundled_prompt_renders_for_a_program(
        self, name: str, told: Told, problem: ProblemView, difficulty: Level | None, platform: str
    ) -> None:
        view = problem.model_copy(update={"difficulty": difficulty, "platform": platform})
        system, user = load_prompt(name, "agentic").render(view, 6.0, told=told)
        assert (system.role, user.role) == ("system", "user")
        for message in (system, user):
            assert message.content == message.content.strip()
            assert message.content
            for mark in ("None", "{{", "{%", "{#", "#}", "\n\n\n\n"):
                assert mark not in message.content
        assert problem.title in user.content or problem.statement in user.content

    @for_each("starter", ["", "\n  ", ADDED])
    def test_a_bundled_prompt_renders_for_a_function(
        self, name: str, told: Told, problem: ProblemView, starter: str
    ) -> None:
        view = function(problem, starter)
        _, user = load_prompt(name, "agentic").render(view, 6.0, told=told)
        assert problem.title in user.content or problem.statement in user.content
        assert "None" not in user.content
        assert "stdin" not in user.content
        assert "def add(a, b):" in user.content or "`add`" in user.content

    def test_the_opening_names_tools_where_they_are_native(
        self, name: str, told: Told, problem: ProblemView
    ) -> None:
        system, user = load_prompt(name, "agentic").render(problem, 6.0, told=told)
        for tool in TOOLS[:3]:
            assert (tool in system.content) == bool(told.native)
            assert tool not in user.content

    def test_a_bundled_prompt_has_a_description(self, name: str, told: Told) -> None:
        del told
        prompt = load_prompt(name, "agentic")
        assert 30 < len(prompt.description) < 120
        text = " ".join(prompt.parts.values())
        assert text.count(prompt.description) == 1


class TestSets:
    def test_the_bundled_sets_for_programs(self) -> None:
        assert bundled_names() == WRITTEN

    def test_no_two_prompt_sets_have_the_same_text(self, problem: ProblemView) -> None:
        for told in TOLD.values():
            texts = {load_prompt(n, "agentic").render(problem, 6.0, told=told) for n in WRITTEN}
            assert len(texts) == len(WRITTEN)

    @for_each(("name", "kind"), BUNDLED)
    def test_all_modes_open_as_a_single_shot(
        self, name: str, kind: Kind, problem: ProblemView
    ) -> None:
        view = problem.model_copy(update={"kind": kind, "call": "add(1, 2)"})
        single = load_prompt(name, "single_shot", kind).render(view, 6.0)
        for mode in (*MODES, "my_module:strategy"):
            assert load_prompt(name, mode, kind).render(view, 6.0, 7) == single
        assert not any(tool in str(single) for tool in TOOLS)

    def test_the_tools_part_says_how_many_messages_there_are(self, problem: ProblemView) -> None:
        prompt, told = load_prompt("default", "agentic"), TOLD["native"]
        assert "7 messages at most." in prompt.render(problem, 6.0, 7, told)[0].content
        assert "at most" not in prompt.render(problem, 6.0, None, told)[0].content

    @for_each("name", [each for each in WRITTEN if each != "livecodebench"])
    def test_with_tools_no_program_in_a_message_is_asked_for(
        self, name: str, problem: ProblemView
    ) -> None:
        prompt = load_prompt(name, "agentic")
        assert "fenced" in prompt.render(problem, 6.0)[0].content
        for message in prompt.render(problem, 6.0, told=TOLD["native"]):
            assert "fenced" not in message.content

    def test_further_tools_are_listed_in_text(self, problem: ProblemView) -> None:
        schema = {"type": "object", "properties": {"code": {"type": "string"}}}
        tool = {"name": "try_it", "description": "Try something.", "arguments": schema}
        prompt = load_prompt("default", "agentic")
        system, user = prompt.render(problem, 6.0, told=Told(in_text=(tool,)))
        plain, same = prompt.render(problem, 6.0)
        assert user == same
        added = system.content.removeprefix(f"{plain.content}\n\n")
        assert added != system.content
        for text in ("try_it", "Try something.", '"code": {"type": "string"}', "```json"):
            assert text in added
        assert not any(tool in added for tool in TOOLS)

    @pytest.mark.parametrize("name", [each for each in WRITTEN if each != "livecodebench"])
    @pytest.mark.parametrize("language", ["python", "cpp"])
    def test_a_dialogue_is_no_input_and_output(
        self, name: str, language: str, problem: ProblemView
    ) -> None:
        if language == "cpp" and name != "default":
            pytest.skip("it has no templates for C++")
        prompt = load_prompt(name, "agentic", language=language)
        talks = problem.model_copy(update={"judge": "dialogue"})
        text = prompt.render(talks, 1.5)[1].content
        assert "It talks with the judge" in text
        assert "The judge is given this, and your program is not:\n```" in text
        assert not re.search(r"^(Input|Expected output|In|Out):", text, re.MULTILINE)
        text = prompt.render(problem, 1.5)[1].content
        assert "the judge" not in text
        blank = TestCase(input="1\n", output="", public=True)
        view = problem.model_copy(update={"judge": "checker", "public_tests": (blank,)})
        text = prompt.render(view, 1.5)[1].content
        assert re.search(r"^(Input|In):", text, re.MULTILINE)
        assert not re.search(r"^(Expected output|Out):", text, re.MULTILINE)

    @for_each("name", WRITTEN)
    @for_each("told", TOLD.values(), ids=TOLD)
    def test_an_opening_shows_all_that_is_needed(
        self, name: str, told: Told, problem: ProblemView
    ) -> None:
        text = load_prompt(name, "agentic").render(problem, 1.5, told=told)[1].content
        assert problem.statement in text
        assert "stdin" in text
        # LiveCodeBench shows what stands in the statement, and says nothing of time.
        shows_tests = name != "livecodebench"
        assert ("1.5 s" in text) == shows_tests
        for test in problem.public_tests:
            assert (f"```\n{test.output.strip()}\n```" in text) == shows_tests

    def test_livecodebench_has_its_three_headings(self, problem: ProblemView) -> None:
        text = load_prompt("livecodebench", "single_shot").render(problem, 6.0)[1].content
        assert re.findall("^### .*", text, re.MULTILINE) == [
            "### Question",
            "### Format",
            "### Answer",
        ]
        view = function(problem, ADDED)
        text = load_prompt("livecodebench", "single_shot").render(view, 6.0)[1].content
        assert "```python\ndef add(a, b):\n```" in text

    def test_a_model_that_reasons_is_not_told_how_to(self, problem: ProblemView) -> None:
        for told in TOLD.values():
            for message in load_prompt("reasoning", "agentic").render(problem, 6.0, told=told):
                assert "step" not in message.content

    def test_tests_are_asked_for_before_the_code(self, problem: ProblemView) -> None:
        system, _ = load_prompt("tests_first", "single_shot").render(problem, 6.0)
        assert 0 < system.content.index("1. Tests") < system.content.index("3. Code")


class TestWrongTest:
    @for_each("told", TOLD.values(), ids=TOLD)
    def test_how_to_report_a_wrong_test_follows_the_system_message(
        self, told: Told, problem: ProblemView
    ) -> None:
        plain = load_prompt("default", "agentic")
        told_of = with_wrong_test(plain)
        before, user = plain.render(problem, 6.0, 7, told)
        system, same = told_of.render(problem, 6.0, 7, told)
        assert user == same
        assert system.content.startswith(before.content.split("\n\n", maxsplit=1)[0])
        assert f"`{MARK}`" in system.content
        assert f"`{MARK}`" not in before.content
        assert ("report_problem" in system.content) == bool(told.native)
        assert told_of.shared_system(7, told) == system.content
        assert told_of.hash != plain.hash


class TestRepair:
    @for_each("name", WRITTEN)
    def test_the_repair_prompt_shows_the_code_and_the_feedback(
        self, name: str, problem: ProblemView
    ) -> None:
        text = repaired(name, problem)
        assert "```python\nprint(0)\n```" in text
        assert "Expected 3, got 0." in text
        assert "two or three sentences" in text
        assert "{" not in text
        assert ("Add two numbers." in text) == (name != "livecodebench")  # has the statement
        assert not any(tool in text for tool in TOOLS)
        assert "write_solution" in repaired(name, problem, tools=TOOLS[:3])

    def test_the_repair_prompt_knows_of_earlier_rounds(self, problem: ProblemView) -> None:
        assert "still does not pass" in repaired("default", problem, round=2)
        assert "does not pass" in repaired("default", problem)
        assert "still" not in repaired("default", problem)
        assert "this is the one before it" in repaired("default", problem, new=False)
        assert "this is the one before it" not in repaired("default", problem)

    @for_each("name", WRITTEN)
    def test_without_a_program_the_repair_prompt_says_so(
        self, name: str, problem: ProblemView
    ) -> None:
        assert "There was no program in" in repaired(name, problem, code="", feedback="")
        assert "There was no program in" not in repaired(name, problem)

    def test_the_default_repair_asks_for_a_call_or_for_a_program(
        self, problem: ProblemView
    ) -> None:
        native = repaired("default", problem, tools=TOOLS[:3])
        assert "Call write_solution with the whole corrected program, and run_tests" in native
        assert "fenced" not in native
        assert "in one fenced python code block" in repaired("default", problem)

    def test_code_and_feedback_are_no_templates(self, problem: ProblemView) -> None:
        text = repaired("default", problem, code="x = {{ 7 * 7 }}", feedback="{% raise %}")
        assert "x = {{ 7 * 7 }}" in text
        assert "{% raise %}" in text

    def test_a_set_without_a_repair_prompt_has_the_default_s(self) -> None:
        default, terse = (load_prompt(name, "self_repair").parts for name in ("default", "terse"))
        assert terse["repair"] == default["repair"]
        assert load_prompt("livecodebench", "self_repair").parts["repair"] != default["repair"]

    def test_a_name_that_is_not_given_is_an_error(self, problem: ProblemView) -> None:
        with pytest.raises(
            UsageError, match=r"'mine', repair\.j2, line 2: 'feedback' is undefined"
        ):
            prompt("u", repair="\n{{ feedback }}").render_part("repair", problem=problem)
        with pytest.raises(UsageError, match=r"'mine' has no repair\.j2"):
            prompt("u").render_part("repair", problem=problem)


class TestSingleShot:
    def render(self, problem: ProblemView) -> str:
        return load_prompt("default", "single_shot").render(problem, 1.5)[1].content

    def test_the_single_shot_prompt_has_all_that_is_needed(self, problem: ProblemView) -> None:
        text = self.render(problem)
        assert problem.statement in text
        assert "reads stdin" in text
        assert "1.5 seconds of CPU time" in text
        for test in problem.public_tests:
            assert f"```\n{test.input.strip()}\n```" in text
            assert f"```\n{test.output.strip()}\n```" in text

    def test_a_function_is_named_and_begun(self, problem: ProblemView) -> None:
        text = self.render(function(problem, "def add(a, b):\n    "))
        assert "`add` is called" in text
        assert "```python\ndef add(a, b):\n```" in text
        assert "stdin" not in text

    def test_a_function_that_works_in_place_is_told_so(self, problem: ProblemView) -> None:
        in_place = {"signature": Signature(result=Codec.FIRST_ARGUMENT)}
        view = function(problem, "").model_copy(update=in_place)
        assert "in place" in self.render(view)
        assert "in place" not in self.render(function(problem, ""))

    def test_a_statement_is_no_template(self, problem: ProblemView) -> None:
        view = problem.model_copy(update={"statement": "{{ 7 * 7 }} {% raise %} <b>&amp;"})
        assert "{{ 7 * 7 }} {% raise %} <b>&amp;" in self.render(view)

    def test_a_long_example_is_cut_in_the_middle(self, problem: ProblemView) -> None:
        huge = TestCase(input="1 " * 500_000 + "LAST\n", output="2\n", public=True)
        text = self.render(problem.model_copy(update={"public_tests": (huge,)}))
        assert len(text) < 4_000
        assert "characters left out" in text
        assert "LAST" in text


class TestFinding:
    def test_a_prompt_set_may_be_a_user_s_folder(
        self, tmp_path: Path, problem: ProblemView
    ) -> None:
        write_set(tmp_path / "mine")
        prompt = load_prompt(str(tmp_path / "mine"), "agentic")
        assert [m.content for m in prompt.render(problem, 6.0)] == [
            "Be brief.",
            "Solve Sum of Two.",
        ]
        assert prompt.name == str(tmp_path / "mine")

    def test_a_part_of_one_mode_stands_in_a_folder_of_its_name(self, tmp_path: Path) -> None:
        write_set(tmp_path / "mine")
        for mode in ("codet", "agentic"):
            (tmp_path / "mine" / mode).mkdir()
            (tmp_path / "mine" / mode / "tests.j2").write_text("Write tests.")
        path = str(tmp_path / "mine")
        bundled = load_prompt("default", "reflexion").parts
        assert load_prompt(path, "codet").parts["tests"] == "Write tests."
        assert load_prompt(path, "reflexion").parts["tests"] == bundled["tests"] != "Write tests."
        assert "tests" not in load_prompt(path, "agentic").parts

    def test_a_missing_set_names_the_known_ones(self) -> None:
        with pytest.raises(UsageError, match=r"'nope'; for code generation there are: default, "):
            load_prompt("nope", "agentic")

    def test_a_misspelt_set_gets_the_most_similar_name(self) -> None:
        message = "no prompt set or folder 'ters'; did you mean 'terse'?"
        with pytest.raises(UsageError, match=re.escape(message)):
            load_prompt("ters", "single_shot")

    def test_an_incomplete_prompt_set_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "system.j2").write_text("Be brief.")
        with pytest.raises(UsageError, match=r"has no system\.j2 and user\.j2"):
            load_prompt(str(tmp_path), "agentic")

    def test_the_opening_comes_from_one_place(self, tmp_path: Path) -> None:
        write_set(tmp_path)
        (tmp_path / "cpp").mkdir()
        (tmp_path / "cpp" / "user.j2").write_text("Write C++.")
        with pytest.raises(UsageError, match=r"no system\.j2 and user\.j2 for .* \(in cpp/\)"):
            load_prompt(str(tmp_path), "agentic", language="cpp")
        assert load_prompt(str(tmp_path), "agentic").parts["user"] == "Solve {{ problem.title }}."

    def test_a_set_has_its_own_parts_and_the_rest_of_default(self, tmp_path: Path) -> None:
        write_set(tmp_path)
        (tmp_path / "again.j2").write_text("Once more.")
        (tmp_path / "tools.j2").write_text("Call something.")
        mine, default = load_prompt(str(tmp_path), "agentic"), load_prompt("default", "agentic")
        own = {
            "system": "Be brief.\n",
            "user": "Solve {{ problem.title }}.",
            "again": "Once more.",
            "tools": "Call something.",
        }
        assert dict(mine.parts) == {**default.parts, **own}
        assert list(mine.parts)[:2] == ["system", "user"]

    def test_a_part_for_a_language_goes_before_one_for_all(self, tmp_path: Path) -> None:
        write_set(tmp_path)
        write_set(tmp_path / "cpp", "Write C++.")
        (tmp_path / "again.j2").write_text("Once more.")
        path = str(tmp_path)
        assert load_prompt(path, "agentic", language="cpp").parts["again"] == "Once more."
        (tmp_path / "cpp" / "again.j2").write_text("Once more, in C++.")
        assert load_prompt(path, "agentic", language="cpp").parts["again"] == "Once more, in C++."
        assert load_prompt(path, "agentic").parts["again"] == "Once more."

    def test_a_template_that_is_no_text_is_named(self, tmp_path: Path) -> None:
        write_set(tmp_path / "mine")
        (tmp_path / "mine" / "user.j2").write_bytes(b"\xff\xfe")
        with pytest.raises(UsageError, match=r"user\.j2 cannot be read"):
            load_prompt(str(tmp_path / "mine"), "agentic")

    def test_modes_have_the_texts_that_they_send(self) -> None:
        assert list(load_prompt("terse", "single_shot").parts) == ["system", "user"]
        assert list(load_prompt("terse", "best_of_k_public").parts)[2:] == ["report"]
        assert list(load_prompt("terse", "self_repair").parts)[2:] == ["report", "repair"]
        codet = ["report", "own_tests", "tests"]
        assert list(load_prompt("terse", "codet").parts)[2:] == codet

    def test_a_mode_of_one_s_own_gets_every_text_of_the_folder(self, tmp_path: Path) -> None:
        write_set(tmp_path)
        (tmp_path / "hint.j2").write_text("Think of {{ problem.title }}.")
        assert "hint" not in load_prompt(str(tmp_path), "agentic").parts
        mine = load_prompt(str(tmp_path), "my_module:strategy").parts
        assert mine["hint"] == "Think of {{ problem.title }}."
        assert mine["repair"] == load_prompt("default", "self_repair").parts["repair"]


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of sets in place of the bundled ones."""
    monkeypatch.setattr(prompt_set, "_BUNDLED", tmp_path / "prompts")
    return tmp_path / "prompts"


class TestKinds:
    def test_a_kind_has_a_folder_of_its_own(self, library: Path) -> None:
        write_set(library / "default", "code")
        write_set(library / "default" / "code_execution", "value")
        prompt = load_prompt("default", "single_shot", Kind.CODE_EXECUTION)
        assert (prompt.name, prompt.parts["user"]) == ("default", "value")
        assert load_prompt("default", "single_shot").parts["user"] == "code"
        assert load_prompt("default", "best_of_k_public", Kind.CODE_EXECUTION) == prompt

    def test_a_set_without_the_kind_is_refused_and_told_which_have_it(self, library: Path) -> None:
        write_set(library / "default", "code")
        write_set(library / "plain", "code")
        for name in ("default", "cot"):
            write_set(library / name / "code_execution", "value")
        with pytest.raises(UsageError) as caught:
            load_prompt("plain", "single_shot", Kind.CODE_EXECUTION)
        assert str(caught.value) == (
            "prompt set 'plain' has nothing for code execution; these have: cot, default"
        )
        with pytest.raises(UsageError, match=r"'cot' has .* code generation; .*: default, plain$"):
            load_prompt("cot", "single_shot")
        assert bundled_names(Kind.CODE_EXECUTION) == ["cot", "default"]
        assert bundled_names() == ["default", "plain"]

    def test_what_a_bundled_set_lacks_is_not_sought_in_the_working_folder(
        self, library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_set(library / "default", "code")
        write_set(tmp_path / "default" / "code_execution", "mine")
        monkeypatch.chdir(tmp_path)
        with pytest.raises(UsageError, match="'default' has nothing for code execution"):
            load_prompt("default", "single_shot", Kind.CODE_EXECUTION)
        prompt = load_prompt("./default", "single_shot", Kind.CODE_EXECUTION)
        assert prompt.parts["user"] == "mine"

    def test_a_kind_has_a_folder_of_its_own_in_a_user_s_set(self, tmp_path: Path) -> None:
        name, kind = str(tmp_path), Kind.TEST_OUTPUT_PREDICTION
        write_set(tmp_path, "code")
        with pytest.raises(
            UsageError, match=r"has no system\.j2 and user\.j2 for test output pred"
        ):
            load_prompt(name, "agentic", kind)
        write_set(tmp_path / kind, "value")
        assert load_prompt(name, "agentic", kind).parts["user"] == "value"
        assert load_prompt(name, "agentic").parts["user"] == "code"


class TestHash:
    def test_the_prompt_hash_changes_with_each_template_and_not_with_the_name(self) -> None:
        sets = [
            prompt("a", "b"),
            prompt("a", "c"),
            prompt("b", "b"),
            prompt("ab", ""),
            prompt("", "ab"),
            prompt("a", "b", repair=""),
            prompt("a", "b", repair="c"),
            prompt("a", "b", review="c"),
            prompt("a", "b", repair="c", review="d"),
        ]
        assert len({each.hash for each in sets}) == len(sets)
        renamed = prompt("a", "b").model_copy(update={"name": "other"})
        assert renamed.hash == prompt("a", "b").hash

    def test_the_prompt_hash_covers_every_text_that_may_be_sent(self) -> None:
        whole = load_prompt("default", "agentic")
        others = {prompt(**{**whole.parts, name: "x"}).hash for name in whole.parts}
        assert len(others - {whole.hash}) == len(whole.parts)
        assert {"tools", "again", "result", "reminder", "report", "describe"} <= {*whole.parts}

    def test_the_prompt_hash_of_two_templates_is_that_of_earlier_versions(self) -> None:
        assert prompt("user", "system").hash == hashlib.sha256(b"system\0user").hexdigest()

    def test_the_templates_cannot_be_changed(self) -> None:
        parts = {"system": "a", "user": "b"}
        made = PromptSet(name="mine", parts=parts)
        parts["user"] = "c"
        assert made.parts["user"] == "b"
        with pytest.raises(TypeError):
            made.parts["user"] = "d"  # type: ignore[index]


def test_the_package_and_the_checkout_have_the_same_folder() -> None:
    root = Path(__file__).parents[3]
    assert (root / "harness" / "prompts").is_symlink()
    names = {path.name for path in (root / "prompts").iterdir()}
    assert names == {entry.name for entry in (files("harness") / "prompts").iterdir()}
    assert names == {name for name, _ in BUNDLED}
