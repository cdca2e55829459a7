"""Templates: strict, kept from files and internals, with a bound on their output."""

import marshal
import sys
from collections.abc import Iterator
from importlib.util import cache_from_source
from pathlib import Path

import pytest
from for_each import for_each
from jinja2 import Environment

from harness.agent.templates import template
from harness.agent.templates.prompt_set import PromptSet, load_prompt
from harness.agent.templates.template import render
from harness.errors import UsageError
from harness.problem import ProblemView, TestCase


def prompt(user: str, system: str = "You solve problems.") -> PromptSet:
    return PromptSet(name="mine", parts={"system": system, "user": user})


class TestMistakes:
    @for_each(
        ("template", "cause"),
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
        ],
    )
    @for_each("part", ["system", "user"])
    def test_a_template_mistake_names_the_set_the_part_the_line_and_the_cause(
        self, problem: ProblemView, part: str, template: str, cause: str
    ) -> None:
        parts = {"system": "fine", "user": "fine", part: f"fine\n\n{template}"}
        with pytest.raises(UsageError) as caught:
            PromptSet(name="mine", parts=parts).render(problem, 6.0)
        message = str(caught.value)
        assert message.startswith(f"prompt set 'mine', {part}.j2, line 3: ")
        assert cause in message
        assert "\n" not in message


BODY = "y" * 50_000


class TestBoundOnOutput:
    @for_each(
        "template",
        [
            "{% for i in range(100000) %}{{ problem.statement }}{% endfor %}",
            "{% for i in range(10000) %}" + BODY + "{% endfor %}",
            "{% for i in range(99999) %}{% for j in range(99999) %}{{ i }}{% endfor %}{% endfor %}",
            "{{ 'x' * 10_000_000 }}",
            "{{ 'x' | center(10_000_000) }}",
            "{{ '{:>10000000}'.format(1) }}",
        ],
    )
    def test_endless_or_huge_output_is_one_clear_line(
        self, problem: ProblemView, template: str
    ) -> None:
        with pytest.raises(UsageError) as caught:
            prompt(template).render(problem, 6.0)
        message = str(caught.value)
        assert message.startswith("prompt set 'mine', user.j2")
        assert message.endswith("it makes more than 1,000,000 characters")
        assert "\n" not in message

    @for_each(
        ("template", "reason"),
        [
            ("{% for i in range(10**9) %}x{% endfor %}", "Range too big"),
            ("{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "recursion"),
            ("x" * 1_000_001, "longer than 1,000,000 characters"),
            ("{{ " + "(" * 50_000 + ")" * 50_000 + " }}", "recursion"),
        ],
    )
    def test_excessive_templates_are_refused_in_one_line(
        self, problem: ProblemView, template: str, reason: str
    ) -> None:
        with pytest.raises(UsageError, match=f"^prompt set 'mine', user.j2.*{reason}") as caught:
            prompt(template).render(problem, 6.0)
        assert len(str(caught.value)) < 1_000

    def test_a_million_characters_are_just_not_too_many(self, problem: ProblemView) -> None:
        longest = "{% for i in range(100) %}" + "x" * 10_000 + "{% endfor %}"
        assert len(prompt(longest).render(problem, 6.0)[1].content) == 1_000_000
        with pytest.raises(UsageError, match="more than 1,000,000"):
            prompt("y" + longest).render(problem, 6.0)

    def test_large_public_tests_are_shortened(self, problem: ProblemView) -> None:
        huge = TestCase(input="1 " * 2_000_000, output="2\n", public=True)
        view = problem.model_copy(update={"public_tests": (huge,) * 10})
        text = load_prompt("default", "single_shot").render(view, 6.0)[1].content
        assert text.count("characters left out") == 10

    def test_templates_have_the_filters_that_prompts_need(self, problem: ProblemView) -> None:
        view = problem.model_copy(update={"tags": ("dp", "graphs")})
        template = """
            {%- macro named(x) %}<{{ x }}>{{ caller() }}{% endmacro -%}
            {% set names = namespace(all=[]) %}
            {% for tag in problem.tags if tag != "dp" %}
            {% set names.all = names.all + [tag | upper] %}
            {% endfor -%}
            {{ names.all | join(", ") }}|{{ problem.tags | tojson }}|{{ problem.tags | length }}|
            {{- problem.public_tests | map(attribute="output") | map("trim") | join("/") }}|
            {{- problem.statement.split()[:2] | join(" ") | replace("Read", "See") }}|
            {{- {"easy": 1}[problem.difficulty] ~ "%" ~ 7 % 4 }}|
            {{- problem.release_date or "never" }}|
            {{- ",".join(["a", "b"]) }}|{{ "a\\nb" | indent(2) }}|
            {%- call named(problem.signature.result.value) %}!{% endcall -%}
            {% for a, b in [(1, 2)] %}{{ loop.last }}{{ ".".join([a | string]) }}
            {{- "aa".replace("a", "b", 1) }}{% endfor %}
        """
        assert prompt(template).render(view, 6.0)[1].content == (
            'GRAPHS|["dp", "graphs"]|2|3/6|See two|1%3|never|a,b|a\n  b|<json>!True1ba'
        )


@for_each(
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
        "{{ ('{0.__class__}'|attr('format'))(problem) }}",
        "{{ (['{0.__class__.__mro__}']|map('format', problem)|list) and problem.__class__ }}",
        "{{ lipsum.__globals__['os'].popen('id').read() }}",
        "{{ self.__init__.__globals__ }}",
        "{{ namespace.__init__.__globals__ }}",
        "{{ caller.__globals__ }}",
        "{{ problem.parse_file('/etc/passwd') }}",
        "{{ problem.parse_raw('', proto='pickle', allow_pickle=True) }}",
        "{{ problem.model_construct.__func__.__globals__ }}",
        "{{ (problem.public_tests|first).parse_file('/etc/passwd') }}",
        "{{ [problem]|map(attribute='parse_file')|map('string')|join }}",
        "{% include '/etc/passwd' %}",
        "{% import '/etc/passwd' as found %}",
        "{% extends '/etc/passwd' %}",
        "{{ open('/etc/passwd').read() }}",
        "{{ problem.tags.append(1) }}",
    ],
)
def test_a_template_reaches_no_file_and_no_internals(problem: ProblemView, template: str) -> None:
    with pytest.raises(UsageError, match=r"prompt set 'mine', user\.j2, line 1: .*"):
        prompt(template).render(problem, 6.0)


def test_a_template_changes_no_value_it_is_given() -> None:
    parts = {"system": "x", "user": "{{ further_tests.append(1) }}"}
    given: list[int] = []
    with pytest.raises(UsageError, match="unsafe"):
        PromptSet(name="mine", parts=parts).render_part("user", further_tests=given)
    assert given == []


class TestKeptCode:
    """The compiled code of a template is kept for later processes, beside the compiled modules."""

    @pytest.fixture(autouse=True)
    def _folder(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
        monkeypatch.setattr(sys, "pycache_prefix", str(tmp_path))
        monkeypatch.setattr(sys, "dont_write_bytecode", False)
        compiled_again()
        yield
        compiled_again()

    def test_a_later_process_reads_it_and_compiles_nothing(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        assert render("{{ x }} kept", "kept.j2", {"x": 1}) == "1 kept"
        assert [file.name for file in kept(tmp_path)] == [
            f"template_kept_j2.{sys.implementation.cache_tag}.pyc"
        ]
        compiled_again()
        monkeypatch.setattr(Environment, "compile", None)
        assert render("{{ x }} kept", "kept.j2", {"x": 2}) == "2 kept"

    @for_each("content", [b"", b"no code", marshal.dumps((b"key", 1)), marshal.dumps(7)])
    def test_a_damaged_file_is_replaced(self, content: bytes) -> None:
        render("{{ x }} kept", "kept.j2", {"x": 1})
        (file,) = kept(Path(str(sys.pycache_prefix)))
        whole = file.read_bytes()
        file.write_bytes(content)
        compiled_again()
        assert render("{{ x }} kept", "kept.j2", {"x": 2}) == "2 kept"
        assert file.read_bytes() == whole

    def test_a_changed_template_is_compiled_and_replaces_the_one_before(
        self, tmp_path: Path
    ) -> None:
        render("{{ x }} old", "kept.j2", {"x": 1})
        assert render("{{ x }} new", "kept.j2", {"x": 1}) == "1 new"
        assert len(kept(tmp_path)) == 1

    def test_a_name_with_folders_stays_in_the_folder(self, tmp_path: Path) -> None:
        render("{{ x }}", "../../other/" + "long" * 100 + ".j2", {"x": 1})
        (file,) = kept(tmp_path)
        assert file.parent == Path(cache_from_source(template.__file__)).parent

    def test_nothing_is_written_where_python_writes_no_compiled_modules(
        self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        monkeypatch.setattr(sys, "dont_write_bytecode", True)
        render("{{ x }}", "kept.j2", {"x": 1})
        assert not kept(tmp_path)


def compiled_again() -> None:
    """Forget the templates that this process has compiled."""
    template._compiled.cache_clear()  # pyright: ignore[reportPrivateUsage]


def kept(folder: Path) -> list[Path]:
    """The files below a folder."""
    return [path for path in folder.rglob("*") if path.is_file()]
