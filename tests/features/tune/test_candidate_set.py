"""A proposed template may be asked only if it says all, and brings no code of its own."""

from pathlib import Path

import pytest
from for_each import for_each

from harness.errors import UsageError
from harness.features.tune.candidate_set import CandidateSet, digest, template_fault
from harness.sources.benchmarks import load

START = """Solve {{ problem.title }}.
{% for test in problem.public_tests %}
{{ test.input }}
{% endfor %}"""


@pytest.fixture(scope="module")
def views() -> list:
    return [problem.view() for problem in load("fixture").problems]


def test_other_words_are_no_fault_of_a_template() -> None:
    assert template_fault(START, START.replace("Solve", "Think twice, then solve")) == ""


def test_expressions_may_move_repeat_and_go() -> None:
    assert template_fault(START, "{{problem.title}} and again {{ problem.title }}") == ""


@for_each(
    ("added", "message"),
    [
        ("{{ problem.references }}", "'problem.references' is not in the start's template"),
        ("{% for a in range(9) %}{% endfor %}", "'for a in range(9)' is not in"),
        ("{% raw %}{{ x }}{% endraw %}", "is not in the start's template"),
        ("{% for test in problem.public_tests %}{% endfor %}", "stands there 2 times"),
        ("{{ problem.title }}" * 9, "'problem.title' stands there 10 times"),
        ("{{ problem.title", "an expression does not end"),
        ("x" * 30_000, "more than 20,000"),
    ],
)
def test_code_that_the_start_does_not_have_is_a_fault(added: str, message: str) -> None:
    assert message in template_fault(START, START + added)


def test_an_empty_template_is_a_fault() -> None:
    assert template_fault(START, " \n") == "it is empty"


@pytest.mark.thorough
def test_a_template_that_leaves_out_the_statement_is_a_fault(tmp_path: Path, views: list) -> None:
    candidate_set = CandidateSet.of("default", "single_shot", tmp_path, views)
    start = candidate_set.start
    assert sorted(start) == ["system.j2", "user.j2"]
    silent = {**start, "user.j2": "Solve {{ problem.title }}."}
    assert "nothing says that the program reads stdin" in candidate_set.fault(silent)
    assert candidate_set.fault({**start, "system.j2": "Write Python."}) == ""


def test_the_folder_of_a_candidate_is_the_whole_set(tmp_path: Path, views: list) -> None:
    candidate_set = CandidateSet.of("default", "agentic", tmp_path, views)
    tuned = ["again.j2", "reminder.j2", "repair.j2", "system.j2", "tools.j2", "user.j2"]
    assert sorted(candidate_set.start) == tuned
    candidate = {**candidate_set.start, "tools.j2": "Use the tools."}
    folder = candidate_set.folder_of(candidate)
    assert folder.name == digest(candidate)
    assert (folder / "tools.j2").read_text() == "Use the tools."
    of_package = Path(__file__).parents[3] / "harness" / "prompts" / "default"
    for place in ("system.j2", "report.j2", "codet/tests.j2", "code_execution/user.j2"):
        assert (folder / place).read_text() == (of_package / place).read_text()


def test_a_start_with_faults_is_refused(tmp_path: Path, views: list) -> None:
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "system.j2").write_text("{{ nothing }}")
    (tmp_path / "bad" / "user.j2").write_text("{{ problem.statement }}")
    with pytest.raises(UsageError, match=r"'nothing' is undefined.*harness prompts check"):
        CandidateSet.of(str(tmp_path / "bad"), "single_shot", tmp_path / "candidates", views)
