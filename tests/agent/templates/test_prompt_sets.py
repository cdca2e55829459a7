"""Prompt sets: what they say, where they are found, and by which hash they are known."""

import hashlib
import re
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from harness.agent.templates import prompt_set
from harness.agent.templates.prompt_set import (
    OWN_PARTS,
    PromptSet,
    bundled_names,
    fallback_prompt,
    load_prompt,
)
from harness.errors import UsageError
from harness.problem import Codec, Kind, Level, ProblemView, Signature, TestCase

BUNDLED = [
    (mode, name, kind) for mode in OWN_PARTS for kind in Kind for name in bundled_names(mode, kind)
]
CODE = [(mode, name) for mode, name, kind in BUNDLED if kind is Kind.CODE_GENERATION]
REPAIRING = [name for mode, name in CODE if mode == "self_repair"]
FOR_THE_LOOP = ["read_first"]
WITH_TESTS = ["default", "reasoning", "terse", "tests_first"]
WRITTEN = ["default", "livecodebench", "reasoning", "terse", "tests_first"]


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
    given = {"code": "print(0)\n", "feedback": "Expected 3, got 0.", "round": 1, **values}
    prompt = load_prompt(name, "self_repair")
    return prompt.render_part("repair", problem=problem, cpu_limit_s=2.5, **given)


@pytest.mark.parametrize(("mode", "name"), CODE)
class TestBundled:
    @pytest.mark.parametrize("difficulty", ["easy", None])
    @pytest.mark.parametrize("platform", ["atcoder", ""])
    def test_a_bundled_prompt_renders_for_a_program(
        self, mode: str, name: str, problem: ProblemView, difficulty: Level | None, platform: str
    ) -> None:
        view = problem.model_copy(update={"difficulty": difficulty, "platform": platform})
        system, user = load_prompt(name, mode).render(view, 6.0)
        assert (system.role, user.role) == ("system", "user")
        for message in (system, user):
            assert message.content == message.content.strip()
            assert message.content
            for mark in ("None", "{{", "{%", "{#", "#}", "\n\n\n\n"):
                assert mark not in message.content
        assert problem.title in user.content or problem.statement in user.content

    @pytest.mark.parametrize("starter", ["", "\n  ", "def add(a, b):\n    "])
    def test_a_bundled_prompt_renders_for_a_function(
        self, mode: str, name: str, problem: ProblemView, starter: str
    ) -> None:
        view = function(problem, starter)
        _, user = load_prompt(name, mode).render(view, 6.0)
        assert problem.title in user.content or problem.statement in user.content
        assert "None" not in user.content
        assert "stdin" not in user.content
        if mode != "agentic":
            assert "def add(a, b):" in user.content or "`add`" in user.content

    def test_a_bundled_prompt_has_a_description(self, mode: str, name: str) -> None:
        prompt = load_prompt(name, mode)
        assert 30 < len(prompt.description) < 120
        text = " ".join(prompt.parts.values())
        assert text.count(prompt.description) == 1


class TestSets:
    @pytest.mark.parametrize("mode", ["agentic", "single_shot"])
    def test_agentic_and_single_shot_have_the_same_prompt_sets(self, mode: str) -> None:
        extra = FOR_THE_LOOP if mode == "agentic" else []
        assert bundled_names(mode) == sorted([*WRITTEN, *extra])

    @pytest.mark.parametrize("mode", ["agentic", "single_shot"])
    def test_no_two_prompt_sets_have_the_same_text(self, mode: str, problem: ProblemView) -> None:
        texts = {load_prompt(name, mode).render(problem, 6.0) for name in bundled_names(mode)}
        assert len(texts) == len(bundled_names(mode))

    def test_the_loop_default_holds_what_read_problem_shows(self, problem: ProblemView) -> None:
        _, user = load_prompt("default", "agentic").render(problem, 1.5, 7)
        assert problem.statement in user.content
        assert "reads stdin and writes stdout" in user.content
        assert "1.5 seconds of CPU time" in user.content
        for test in problem.public_tests:
            assert f"```\n{test.output.strip()}\n```" in user.content
        view = function(problem, "def add(a, b):\n    ")
        _, user = load_prompt("default", "agentic").render(view, 1.5, 7)
        assert "```python\ndef add(a, b):\n```" in user.content

    def test_the_loop_default_says_how_many_messages_there_are(self, problem: ProblemView) -> None:
        prompt = load_prompt("default", "agentic")
        assert "You have 7 messages at most." in prompt.render(problem, 6.0, 7)[0].content
        assert "at most" not in prompt.render(problem, 6.0, None)[0].content

    def test_the_loop_default_repeats_no_test_of_the_statement(self, problem: ProblemView) -> None:
        shown = problem.model_copy(
            update={"statement": "Add.\n\nSample Input 1\n\n1 2\n\nSample Output 1\n\n3\n"}
        )
        _, user = load_prompt("default", "agentic").render(shown, 6.0)
        assert "## Public test 1" not in user.content
        assert "## Public test 2" in user.content

    @pytest.mark.parametrize(
        ("mode", "name"),
        [
            ("agentic", "default"),
            *(("single_shot", name) for name in WRITTEN if name != "livecodebench"),
        ],
    )
    @pytest.mark.parametrize("language", ["python", "cpp"])
    def test_a_dialogue_is_no_input_and_output(
        self, mode: str, name: str, language: str, problem: ProblemView
    ) -> None:
        if language == "cpp" and name != "default":
            pytest.skip("it has no templates for C++")
        prompt = load_prompt(name, mode, language=language)
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

    @pytest.mark.parametrize("name", WRITTEN)
    def test_a_single_shot_shows_all_that_is_needed(self, name: str, problem: ProblemView) -> None:
        text = load_prompt(name, "single_shot").render(problem, 1.5)[1].content
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
        view = function(problem, "def add(a, b):\n    ")
        text = load_prompt("livecodebench", "single_shot").render(view, 6.0)[1].content
        assert "```python\ndef add(a, b):\n```" in text

    def test_a_model_that_reasons_is_not_told_how_to(self, problem: ProblemView) -> None:
        for mode in ("agentic", "single_shot"):
            for message in load_prompt("reasoning", mode).render(problem, 6.0):
                assert "step" not in message.content

    def test_tests_are_asked_for_before_the_code(self, problem: ProblemView) -> None:
        system, _ = load_prompt("tests_first", "single_shot").render(problem, 6.0)
        assert 0 < system.content.index("1. Tests") < system.content.index("3. Code")


class TestRepair:
    @pytest.mark.parametrize("name", REPAIRING)
    def test_the_repair_prompt_shows_the_code_and_the_feedback(
        self, name: str, problem: ProblemView
    ) -> None:
        text = repaired(name, problem)
        assert "```python\nprint(0)\n```" in text
        assert "Expected 3, got 0." in text
        assert "explan" in text or "explain" in text
        assert "{" not in text

    def test_the_repair_prompt_knows_of_earlier_rounds(self, problem: ProblemView) -> None:
        assert "still does not pass" in repaired("default", problem, round=2)
        assert "does not pass" in repaired("default", problem)
        assert "still" not in repaired("default", problem)
        assert "2.5 seconds" in repaired("default", problem)

    def test_code_and_feedback_are_no_templates(self, problem: ProblemView) -> None:
        text = repaired("default", problem, code="x = {{ 7 * 7 }}", feedback="{% raise %}")
        assert "x = {{ 7 * 7 }}" in text
        assert "{% raise %}" in text

    @pytest.mark.parametrize("name", REPAIRING)
    def test_self_repair_opens_with_the_prompt_of_a_single_shot(
        self, name: str, problem: ProblemView
    ) -> None:
        opening = load_prompt(name, "single_shot").render(problem, 6.0)
        assert load_prompt(name, "self_repair").render(problem, 6.0) == opening

    def test_a_prompt_set_without_a_repair_prompt_is_refused_by_name(self) -> None:
        with pytest.raises(UsageError, match=r"'terse'.*self_repair.*: default, livecodebench$"):
            load_prompt("terse", "self_repair")

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

    def test_a_folder_of_the_modes_name_goes_first(
        self, tmp_path: Path, problem: ProblemView
    ) -> None:
        write_set(tmp_path / "mine")
        write_set(tmp_path / "mine" / "agentic", "Use the tools.")
        path = str(tmp_path / "mine")
        assert load_prompt(path, "agentic").render(problem, 6.0)[1].content == "Use the tools."
        assert load_prompt(path, "single_shot").parts["user"] == "Solve {{ problem.title }}."

    @pytest.mark.parametrize("mode", sorted(OWN_PARTS))
    def test_a_missing_set_names_the_known_ones(self, mode: str) -> None:
        with pytest.raises(UsageError, match=rf"'nope'; for .* in mode {mode} there are: default"):
            load_prompt("nope", mode)

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
        (tmp_path / "agentic").mkdir()
        (tmp_path / "agentic" / "user.j2").write_text("Use the tools.")
        assert load_prompt(str(tmp_path), "agentic").parts["user"] == "Solve {{ problem.title }}."

    def test_a_template_that_is_no_text_is_named(self, tmp_path: Path) -> None:
        write_set(tmp_path / "mine")
        (tmp_path / "mine" / "user.j2").write_bytes(b"\xff\xfe")
        with pytest.raises(UsageError, match=r"user\.j2 cannot be read"):
            load_prompt(str(tmp_path / "mine"), "agentic")

    @pytest.mark.parametrize("mode", ["best_of_k_public", "my_module:strategy"])
    def test_other_modes_use_the_prompt_sets_of_single_shot(
        self, mode: str, tmp_path: Path
    ) -> None:
        assert load_prompt("terse", mode) == load_prompt("terse", "single_shot")
        write_set(tmp_path, "flat")
        assert load_prompt(str(tmp_path), mode).parts["user"] == "flat"
        write_set(tmp_path / "single_shot", "single")
        assert load_prompt(str(tmp_path), mode).parts["user"] == "single"
        write_set(tmp_path / mode, "own")
        assert load_prompt(str(tmp_path), mode).parts["user"] == "own"

    def test_a_user_s_repair_prompt_follows_the_user_s_opening(self, tmp_path: Path) -> None:
        write_set(tmp_path / "single_shot", "single")
        with pytest.raises(UsageError, match=r"has no system\.j2 and user\.j2 and repair\.j2"):
            load_prompt(str(tmp_path), "self_repair")
        (tmp_path / "repair.j2").write_text("again")
        assert dict(load_prompt(str(tmp_path), "self_repair").parts) == {
            "system": "Be brief.\n",
            "user": "single",
            "repair": "again",
        }
        write_set(tmp_path / "self_repair", "mending")
        (tmp_path / "self_repair" / "repair.j2").write_text("once more")
        prompt = load_prompt(str(tmp_path), "self_repair")
        assert (prompt.parts["user"], prompt.parts["repair"]) == ("mending", "once more")


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of sets in place of the bundled ones."""
    monkeypatch.setattr(prompt_set, "_BUNDLED", tmp_path / "prompts")
    return tmp_path / "prompts"


class TestKinds:
    def test_a_kind_has_a_folder_of_its_own(self, library: Path) -> None:
        write_set(library / "single_shot" / "default", "code")
        write_set(library / "single_shot" / "default" / "code_execution", "value")
        prompt = load_prompt("default", "single_shot", Kind.CODE_EXECUTION)
        assert (prompt.name, prompt.parts["user"]) == ("default", "value")
        assert load_prompt("default", "single_shot").parts["user"] == "code"
        assert load_prompt("default", "best_of_k_public", Kind.CODE_EXECUTION) == prompt

    def test_a_set_without_the_kind_is_refused_and_told_which_have_it(self, library: Path) -> None:
        write_set(library / "single_shot" / "default", "code")
        write_set(library / "single_shot" / "plain", "code")
        for name in ("default", "cot"):
            write_set(library / "single_shot" / name / "code_execution", "value")
        with pytest.raises(UsageError) as caught:
            load_prompt("plain", "single_shot", Kind.CODE_EXECUTION)
        assert str(caught.value) == (
            "prompt set 'plain' has nothing for code execution in mode single_shot; "
            "these have: cot, default"
        )
        with pytest.raises(UsageError, match=r"'cot' has .* code generation .*: default, plain$"):
            load_prompt("cot", "single_shot")
        assert bundled_names("single_shot", Kind.CODE_EXECUTION) == ["cot", "default"]
        assert bundled_names("single_shot") == ["default", "plain"]

    def test_what_a_bundled_set_lacks_is_not_sought_in_the_working_folder(
        self, library: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        write_set(library / "single_shot" / "default", "code")
        write_set(tmp_path / "default" / "code_execution", "mine")
        monkeypatch.chdir(tmp_path)
        with pytest.raises(UsageError, match="'default' has nothing for code execution"):
            load_prompt("default", "single_shot", Kind.CODE_EXECUTION)
        prompt = load_prompt("./default", "single_shot", Kind.CODE_EXECUTION)
        assert prompt.parts["user"] == "mine"

    def test_the_mode_goes_before_the_kind_in_a_user_s_folder(self, tmp_path: Path) -> None:
        name, kind = str(tmp_path), Kind.TEST_OUTPUT_PREDICTION
        write_set(tmp_path, "code")
        with pytest.raises(
            UsageError, match=r"has no system\.j2 and user\.j2 for test output pred"
        ):
            load_prompt(name, "agentic", kind)
        write_set(tmp_path / kind, "any mode")
        assert load_prompt(name, "agentic", kind).parts["user"] == "any mode"
        write_set(tmp_path / "agentic" / kind, "agentic")
        assert load_prompt(name, "agentic", kind).parts["user"] == "agentic"
        assert load_prompt(name, "single_shot", kind).parts["user"] == "any mode"
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

    def test_the_prompt_hash_of_two_templates_is_that_of_earlier_versions(self) -> None:
        assert prompt("user", "system").hash == hashlib.sha256(b"system\0user").hexdigest()

    def test_the_templates_cannot_be_changed(self) -> None:
        parts = {"system": "a", "user": "b"}
        made = PromptSet(name="mine", parts=parts)
        parts["user"] = "c"
        assert made.parts["user"] == "b"
        with pytest.raises(TypeError):
            made.parts["user"] = "d"  # type: ignore[index]


class TestFallback:
    def test_the_fallback_prompt_is_the_bundled_one_if_there_is_no_other(
        self, tmp_path: Path
    ) -> None:
        write_set(tmp_path / "flat")
        write_set(tmp_path / "agent alone" / "agentic")
        default = load_prompt("default", "single_shot")
        for name in ("default", str(tmp_path / "flat"), str(tmp_path / "agent alone"), "nowhere"):
            assert fallback_prompt(name) == default

    def test_a_bundled_prompt_set_has_its_own_fallback(self) -> None:
        assert fallback_prompt("terse") == load_prompt("terse", "single_shot")

    def test_a_folder_with_a_single_shot_prompt_has_its_own_fallback(self, tmp_path: Path) -> None:
        write_set(tmp_path / "both" / "agentic")
        write_set(tmp_path / "both" / "single_shot", "Answer {{ problem.title }}.")
        prompt = fallback_prompt(str(tmp_path / "both"))
        assert prompt.parts["user"] == "Answer {{ problem.title }}."

    def test_the_fallback_prompt_of_a_kind_is_of_that_kind(
        self, library: Path, tmp_path: Path
    ) -> None:
        kind = Kind.CODE_EXECUTION
        write_set(library / "single_shot" / "default" / kind, "bundled")
        write_set(library / "single_shot" / "plain", "code")
        assert fallback_prompt("plain", kind).parts["user"] == "bundled"
        write_set(tmp_path / "mine" / "single_shot", "code")
        assert fallback_prompt(str(tmp_path / "mine"), kind).parts["user"] == "bundled"
        write_set(tmp_path / "mine" / "single_shot" / kind, "mine")
        assert fallback_prompt(str(tmp_path / "mine"), kind).parts["user"] == "mine"


def test_the_package_and_the_checkout_have_the_same_folder() -> None:
    root = Path(__file__).parents[3]
    assert (root / "harness" / "prompts").is_symlink()
    names = {path.name for path in (root / "prompts").iterdir()}
    assert names == {entry.name for entry in (files("harness") / "prompts").iterdir()}
    assert names == set(OWN_PARTS)
