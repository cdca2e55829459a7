"""Checking a prompt set: everything that is wrong is told, where it is, and nothing else."""

import re
from pathlib import Path

import pytest
from for_each import for_each

from harness.agent.templates.check import Checked, check_prompt
from harness.agent.templates.prompt_set import (
    VARIANTS,
    bundled_names,
    find_templates,
    own_parts,
)
from harness.errors import UsageError
from harness.problem import ProblemView
from harness.sources.benchmarks import load

BUNDLED = [(name, variant) for variant in VARIANTS for name in bundled_names(*variant)]


def write_set(folder: Path, user: str = "Solve {{ problem.title }}.") -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "system.j2").write_text("Be brief.\n")
    (folder / "user.j2").write_text(user)


@pytest.fixture(scope="module")
def bundled_problems() -> list[ProblemView]:
    return [problem.view() for problem in load("fixture").problems]


@pytest.fixture(scope="module")
def unlike_problems(bundled_problems: list[ProblemView]) -> list[ProblemView]:
    """One bundled problem of each kind, platform and form."""
    kinds = {
        (each.kind, each.platform, each.entry_point is None, bool(each.preamble)): each
        for each in bundled_problems
    }
    return [*kinds.values()]


class TestCheck:
    @for_each("name", sorted({name for name, _ in BUNDLED}))
    def test_every_bundled_set_is_without_fault_and_leaves_no_fact_out(
        self, name: str, bundled_problems: list[ProblemView], unlike_problems: list[ProblemView]
    ) -> None:
        check = check_prompt(name, bundled_problems if name == "default" else unlike_problems)
        assert (check.faults, check.missing) == ((), ())
        files = {
            str(file)
            for named, variant in BUNDLED
            for mode in ("agentic", *own_parts())
            if named == name
            for file in find_templates(name, mode, *variant).values()
        }
        assert set(check.files) == files
        assert files

    def check(self, folder: Path, problems: list[ProblemView], **templates: str) -> Checked:
        write_set(folder)
        for name, text in templates.items():
            (folder / f"{name}.j2").write_text(text)
        return check_prompt(str(folder), problems)

    def told(self, folder: Path, problems: list[ProblemView], **templates: str) -> list[str]:
        faults = self.check(folder, problems, **templates).faults
        return [str(fault).removeprefix(f"{folder}/") for fault in faults]

    def test_check_prompt_lists_all_faults(
        self, tmp_path: Path, unlike_problems: list[ProblemView]
    ) -> None:
        user = (
            "{{ problem.titel }}\n"
            "{% if problem.kind == 'poetry' %}{{ poem }}{% endif %}\n"
            "{% for test in problem.public_tests %}{{ test.inptu }}{% endfor %}\n"
            "{{ cpu_limit }} {{ problem.signature.results }}\n"
            "{% if problem.starter_code == '' %}{{ problem.public_tests[99].input }}{% endif %}\n"
        )
        faults = self.told(tmp_path, unlike_problems, system="{% if %}", user=user)
        assert [line.partition(": ")[0] for line in faults] == [
            "system.j2:1",
            *(f"user.j2:{line}" for line in (1, 2, 3, 4)),
        ]
        assert "'title'?" in faults[1]
        assert "'poem' is undefined" in faults[2]
        assert "TestCase has no 'inptu'; did you mean 'input'?" in faults[3]

    def test_a_fault_of_one_form_is_found_and_the_form_named(
        self, tmp_path: Path, unlike_problems: list[ProblemView]
    ) -> None:
        for user, where, form in (
            ("{{ problem.difficulty[0] ~ problem.difficulty.lower() }}", "1", "without difficulty"),
            ("a\n{{ problem.public_tests[0].input }}", "2", "date and tests"),
            ("a\n\n{{ problem.statement[0] }}{{ problem.tags[0] }}", "3", "and tests"),
            ("{{ problem.starter_code.splitlines()[0] }}", "1", "fixture/"),
            (
                "{{ 1 if problem.starter_code or not problem.entry_point else {}['x'] }}",
                "1",
                "code",
            ),
        ):
            faults = self.told(tmp_path, unlike_problems, user=user)
            assert faults, user
            assert all(line.startswith(f"user.j2:{where}: ") for line in faults), faults
            assert re.search(rf"\(for .*{form}.*\)$", faults[0])

    def test_a_value_tested_before_its_use_is_no_fault(
        self, tmp_path: Path, unlike_problems: list[ProblemView]
    ) -> None:
        user = (
            "{{ hint | default('none') }}{% if more is defined %}{{ more }}{% endif %}"
            "{{ problem.hint | default('') }}{% set own = 1 %}{{ own }}"
            "{% for problem in [1] %}{{ problem }}{% endfor %}"
            "{% for t in (1, 2) %}{{ t }}{% endfor %}"
        )
        assert self.told(tmp_path, unlike_problems, user=user) == []

    def test_templates_that_are_never_read_are_listed(
        self, tmp_path: Path, unlike_problems: list[ProblemView]
    ) -> None:
        for name in ("code_execution/user", "codet/test"):
            (tmp_path / name).parent.mkdir()
            (tmp_path / f"{name}.j2").write_text("x")
        assert self.told(tmp_path, unlike_problems, usr="x", of_my_own_mode="x") == [
            "code_execution/user.j2: there is no system.j2 beside it, so it is never read",
            "codet/test.j2: no template has this name; did you mean tests.j2?",
            "usr.j2: no template has this name; did you mean user.j2?",
        ]

    def test_a_part_is_checked_in_the_modes_that_send_it(
        self, tmp_path: Path, unlike_problems: list[ProblemView]
    ) -> None:
        repair = "{{ code }}{{ feedback }}{{ round }}{{ problem.title }}{{ cpu_limit_s }}"
        assert self.told(tmp_path, unlike_problems, repair=repair) == []
        (fault_text,) = self.told(tmp_path, unlike_problems, repair="{{ answer }}")
        assert fault_text.startswith(
            "repair.j2:1: 'answer' is undefined; there are code, cpu_limit_s"
        )
        for mode, faults in {"single_shot": 0, "codet": 0, "self_repair": 1, "agentic": 1}.items():
            assert len(check_prompt(str(tmp_path), unlike_problems, mode).faults) == faults, mode

    def test_a_folder_without_an_opening_is_no_set(
        self, tmp_path: Path, unlike_problems: list[ProblemView]
    ) -> None:
        (tmp_path / "repair.j2").write_text("Again.")
        for mode in (None, "self_repair"):
            with pytest.raises(UsageError, match=r"the folder has no system\.j2 and user\.j2"):
                check_prompt(str(tmp_path), unlike_problems, mode)

    def test_a_fault_in_a_later_text_is_found(
        self, tmp_path: Path, unlike_problems: list[ProblemView]
    ) -> None:
        parts = ("again", "describe", "manual", "reminder", "result", "tools")
        faults = self.told(tmp_path, unlike_problems, **dict.fromkeys(parts, "x\n{{ nothing }}"))
        for fault, part in zip(faults, parts, strict=True):
            assert fault.startswith(f"{part}.j2:2: 'nothing' is undefined")

    def test_a_result_that_says_nothing_of_an_event_is_a_fault(
        self, tmp_path: Path, unlike_problems: list[ProblemView]
    ) -> None:
        result = "{% if event != 'time_up' %}{{ event }}{% endif %}"
        (fault,) = self.told(tmp_path, unlike_problems, result=result)
        assert fault.startswith("result.j2: it renders to an empty text (for ")
        assert fault.endswith(", time_up)")

    def test_check_prompt_renders_each_kind_for_its_own_problems(
        self, tmp_path: Path, unlike_problems: list[ProblemView]
    ) -> None:
        kind = tmp_path / "code_execution"
        write_set(kind, "{{ problem.code }}{{ problem.call }}{{ problem.statement[0] }}")
        faults = self.told(tmp_path, unlike_problems)
        assert len(faults) == 1
        assert faults[0].startswith("code_execution/user.j2:1: ")
        assert faults[0].endswith("(for a code execution)")

    def test_check_prompt_of_one_mode_ignores_the_others(
        self, tmp_path: Path, unlike_problems: list[ProblemView]
    ) -> None:
        write_set(tmp_path)
        (tmp_path / "codet").mkdir()
        (tmp_path / "codet" / "tests.j2").write_text("{{ nothing }}")
        for mode in ("single_shot", "agentic", "reflexion"):
            assert check_prompt(str(tmp_path), unlike_problems, mode).faults == ()
        for mode in ("codet", None):
            (fault,) = check_prompt(str(tmp_path), unlike_problems, mode).faults
            assert fault.file.endswith("codet/tests.j2")

    def test_an_empty_message_is_a_fault(
        self, tmp_path: Path, unlike_problems: list[ProblemView]
    ) -> None:
        faults = self.told(tmp_path, unlike_problems, user="{# nothing #}")
        assert len(faults) == 1
        assert "renders to an empty text" in faults[0]
