"""Prompt sets: found, rendered strictly, and unable to reach beyond the problem."""

from importlib.resources import files
from pathlib import Path

import pytest

from harness.agent.prompts import PromptSet, fallback_prompt, load_prompt
from harness.errors import UsageError
from harness.problem import Codec, Level, ProblemView, Signature, TestCase

BUNDLED = [
    (mode.name, entry.name)
    for mode in (files("harness") / "prompts").iterdir()
    if mode.is_dir()
    for entry in mode.iterdir()
    if entry.is_dir()
]


def prompt(user: str, system: str = "You solve problems.") -> PromptSet:
    return PromptSet(name="mine", system=system, user=user)


def function(problem: ProblemView, starter_code: str) -> ProblemView:
    return problem.model_copy(
        update={
            "entry_point": "add",
            "starter_code": starter_code,
            "public_tests": (TestCase(input="1\n2", output="3", public=True),),
        }
    )


def write_set(folder: Path, user: str = "Solve {{ problem.title }}.") -> None:
    folder.mkdir(parents=True)
    (folder / "system.j2").write_text("Be brief.\n")
    (folder / "user.j2").write_text(user)


@pytest.mark.parametrize(("mode", "name"), BUNDLED)
class TestBundled:
    @pytest.mark.parametrize("difficulty", ["easy", None])
    @pytest.mark.parametrize("platform", ["atcoder", ""])
    def test_it_renders_for_a_program(
        self, mode: str, name: str, problem: ProblemView, difficulty: Level | None, platform: str
    ) -> None:
        view = problem.model_copy(update={"difficulty": difficulty, "platform": platform})
        system, user = load_prompt(name, mode).render(view, 6.0)
        assert (system.role, user.role) == ("system", "user")
        for message in (system, user):
            assert message.content == message.content.strip()
            assert message.content
            assert "None" not in message.content
            assert "{{" not in message.content
            assert "{%" not in message.content
        assert "Sum of Two" in user.content

    @pytest.mark.parametrize("starter", ["", "\n  ", "def add(a, b):\n    "])
    def test_it_renders_for_a_function(
        self, mode: str, name: str, problem: ProblemView, starter: str
    ) -> None:
        view = function(problem, starter)
        _, user = load_prompt(name, mode).render(view, 6.0)
        assert "Sum of Two" in user.content
        assert "None" not in user.content


class TestSingleShot:
    def render(self, problem: ProblemView) -> str:
        return load_prompt("default", "single_shot").render(problem, 1.5)[1].content

    def test_everything_needed_stands_in_it(self, problem: ProblemView) -> None:
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


class TestMistakes:
    @pytest.mark.parametrize(
        ("template", "told"),
        [
            ("{{ title }}", "'title' is undefined"),
            ("{{ problem.titel }}", "titel"),
            ("{% if nothing %}x{% endif %}", "'nothing' is undefined"),
            ("{% for x in problem.test %}{% endfor %}", "test"),
            ("{{ problem.public_tests[7] }}", "7"),
            ("{{ problem.title", "unexpected end"),
            ("{% if %}", "Expected an expression"),
            ("{{ problem.title | shout }}", "shout"),
            ("{% include 'other' %}", "no loader"),
            ("{{ problem.tags + 1 }}", "tuple"),
            ("{{ 1 // 0 }}", "zero"),
            ("{{ problem.statement | shorten('x') }}", "str"),
            ("{{ range(1000000000) | list }}", "Range too big"),
        ],
    )
    @pytest.mark.parametrize("part", ["system", "user"])
    def test_one_line_names_the_set_the_part_and_what_is_wrong(
        self, problem: ProblemView, part: str, template: str, told: str
    ) -> None:
        parts = {"system": "fine", "user": "fine", part: template}
        with pytest.raises(UsageError) as caught:
            PromptSet(name="mine", **parts).render(problem, 6.0)
        message = str(caught.value)
        assert message.startswith(f"prompt set 'mine', {part}.j2: ")
        assert told in message
        assert "\n" not in message


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__ }}",
        "{{ problem.__class__.__mro__ }}",
        "{{ problem.view.__globals__ }}",
        "{{ ''['__class__'] }}",
        "{{ ''|attr('__class__') }}",
        "{{ '{0.__class__}'.format(problem) }}",
        "{{ ('{0.__class__.__mro__}' | format(1)) and ''.__class__ }}",
        "{{ cycler.__init__.__globals__ }}",
        "{{ problem.model_dump.__func__.__globals__ }}",
        "{% set x = problem.__dict__ %}{{ x }}",
        "{{ [].__class__.__base__.__subclasses__() }}",
    ],
)
def test_a_template_reaches_nothing_of_python(problem: ProblemView, template: str) -> None:
    with pytest.raises(UsageError, match=r"prompt set 'mine', user\.j2: .*"):
        prompt(template).render(problem, 6.0)


class TestFinding:
    def test_a_folder_of_ones_own(self, tmp_path: Path, problem: ProblemView) -> None:
        write_set(tmp_path / "mine")
        found = load_prompt(str(tmp_path / "mine"), "agentic")
        assert [m.content for m in found.render(problem, 6.0)] == ["Be brief.", "Solve Sum of Two."]
        assert found.name == str(tmp_path / "mine")

    def test_a_folder_of_the_modes_name_goes_first(
        self, tmp_path: Path, problem: ProblemView
    ) -> None:
        write_set(tmp_path / "mine")
        write_set(tmp_path / "mine" / "agentic", "Use the tools.")
        path = str(tmp_path / "mine")
        assert load_prompt(path, "agentic").render(problem, 6.0)[1].content == "Use the tools."
        assert load_prompt(path, "single_shot").user == "Solve {{ problem.title }}."

    @pytest.mark.parametrize("mode", sorted({mode for mode, _ in BUNDLED}))
    def test_a_missing_set_names_the_known_ones(self, mode: str) -> None:
        with pytest.raises(UsageError, match=rf"'nope': no bundled set of {mode} \(default.*there"):
            load_prompt("nope", mode)

    def test_half_a_set_is_none(self, tmp_path: Path) -> None:
        (tmp_path / "system.j2").write_text("Be brief.")
        with pytest.raises(UsageError, match=r"has no system\.j2 and user\.j2"):
            load_prompt(str(tmp_path), "agentic")

    def test_a_template_that_is_no_text_is_named(self, tmp_path: Path) -> None:
        write_set(tmp_path / "mine")
        (tmp_path / "mine" / "user.j2").write_bytes(b"\xff\xfe")
        with pytest.raises(UsageError, match="cannot be read"):
            load_prompt(str(tmp_path / "mine"), "agentic")


class TestHash:
    def test_it_changes_with_either_template_and_not_with_the_name(self) -> None:
        sets = [
            prompt("a", "b"),
            prompt("a", "c"),
            prompt("b", "b"),
            prompt("ab", ""),
            prompt("", "ab"),
        ]
        assert len({each.hash for each in sets}) == len(sets)
        renamed = prompt("a", "b").model_copy(update={"name": "other"})
        assert renamed.hash == prompt("a", "b").hash


class TestFallback:
    def test_it_is_the_bundled_set_where_there_is_no_other(self, tmp_path: Path) -> None:
        write_set(tmp_path / "flat")
        write_set(tmp_path / "agent alone" / "agentic")
        default = load_prompt("default", "single_shot")
        for name in ("default", str(tmp_path / "flat"), str(tmp_path / "agent alone"), "nowhere"):
            assert fallback_prompt(name) == default

    def test_a_folder_with_a_set_for_single_shot_has_its_own(self, tmp_path: Path) -> None:
        write_set(tmp_path / "both" / "agentic")
        write_set(tmp_path / "both" / "single_shot", "Answer {{ problem.title }}.")
        assert fallback_prompt(str(tmp_path / "both")).user == "Answer {{ problem.title }}."
