"""`harness prompts copy`, `diff`, and what `check` says of facts that a set leaves out."""

from pathlib import Path

import pytest
from for_each import for_each
from program import Done, harness

from harness.agent.strategies.modes import built_in_modes
from harness.agent.templates.check import check_prompt
from harness.agent.templates.prompt_set import bundled_names, load_prompt
from harness.problem import Kind, ProblemView
from harness.sources.benchmarks import load

ALL = (
    "{{ problem.statement }}\n\n{{ problem.starter_code }}\n\n{{ problem.entry_point }}\n\n"
    "stdin stdout in place\n\n"
    "{% for test in problem.public_tests %}{{ test.input }} {{ test.output }}{% endfor %}"
)


@pytest.fixture(scope="module")
def problems() -> list[ProblemView]:
    return [problem.view() for problem in load("fixture").problems]


def write_set(folder: Path, user: str, system: str = "Be brief.") -> str:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "system.j2").write_text(system)
    (folder / "user.j2").write_text(user)
    return str(folder)


@for_each(
    ("left_out", "words", "form"),
    [
        ("{{ problem.statement }}", "the statement (problem.statement) does not appear", "fixture"),
        ("{{ problem.starter_code }}", "the starter code (problem.starter_code) does not", ""),
        ("{{ problem.entry_point }}", "name of the function (problem.entry_point)", "a function"),
        ("stdin stdout", "nothing says that the program reads stdin", ""),
    ],
)
def test_a_fact_that_never_appears_is_a_fault(
    left_out: str, words: str, form: str, problems: list[ProblemView], tmp_path: Path
) -> None:
    whole = write_set(tmp_path, ALL)
    assert check_prompt(str(tmp_path), problems, "single_shot").missing == ()
    Path(whole, "user.j2").write_text(ALL.replace(left_out, ""))
    missing = check_prompt(str(tmp_path), problems, "single_shot").missing
    assert any(words in fault.message and form in fault.message for fault in missing)
    assert {fault.file for fault in missing} == {f"{whole}/user.j2"}


def test_a_set_for_cpp_needs_the_starter_code_in_cpp(
    problems: list[ProblemView], tmp_path: Path
) -> None:
    whole = write_set(tmp_path / "cpp", ALL)
    assert check_prompt(str(tmp_path), problems, "single_shot").missing == ()
    text = ALL.replace("{{ problem.starter_code }}", "class Solution { public: ... };")
    Path(whole, "user.j2").write_text(text)
    (fault,) = check_prompt(str(tmp_path), problems, "single_shot").missing
    assert "the starter code (problem.starter_code) does not appear" in fault.message


def test_a_fact_may_stand_in_the_system_message(
    problems: list[ProblemView], tmp_path: Path
) -> None:
    write_set(tmp_path, "Solve it.", ALL)
    assert check_prompt(str(tmp_path), problems, "single_shot").missing == ()


def test_public_tests_and_a_change_in_place_are_notes(
    problems: list[ProblemView], tmp_path: Path
) -> None:
    text = ALL.replace("in place", "").partition("{% for")[0]
    write_set(tmp_path, text)
    check = check_prompt(str(tmp_path), problems, "single_shot")
    assert check.missing == ()
    note_text = " ".join(note.message for note in check.notes)
    assert "changes its first argument in place" in note_text
    assert "public tests (problem.public_tests) do not appear" in note_text


def test_the_loop_tells_the_whole_problem_too(problems: list[ProblemView], tmp_path: Path) -> None:
    write_set(tmp_path, "Use the tools.")
    missing = check_prompt(str(tmp_path), problems, "agentic").missing
    assert any("the statement (problem.statement) does not" in fault.message for fault in missing)
    write_set(tmp_path, ALL)
    check = check_prompt(str(tmp_path), problems, "agentic")
    assert (check.missing, check.notes) == ((), ())


@for_each(
    ("kind", "text", "words"),
    [
        ("code_execution", "{{ problem.code }}", "the call that is asked about"),
        ("code_execution", "{{ problem.call }}", "the program that is called"),
        ("test_output_prediction", "{{ problem.call }}", "the statement"),
        ("test_output_prediction", "{{ problem.statement }}", "the call that is asked about"),
    ],
)
def test_answers_need_their_own_facts(
    kind: str, text: str, words: str, problems: list[ProblemView], tmp_path: Path
) -> None:
    write_set(tmp_path / kind, text)
    (fault,) = check_prompt(str(tmp_path), problems, "single_shot").missing
    assert words in fault.message


BUNDLED = sorted({name for kind in Kind for name in bundled_names(kind)})


def test_the_command_counts_it_as_a_fault(tmp_path: Path) -> None:
    write_set(tmp_path / "mine", "Solve {{ problem.title }}.")
    done = harness(tmp_path, "prompts", "check", "mine")
    assert done.returncode == 2
    assert "mine/user.j2: the statement (problem.statement) does not appear (for" in done.stdout


class TestCopy:
    @for_each("name", BUNDLED)
    def test_a_copy_is_the_same_set(self, name: str, tmp_path: Path) -> None:
        done = copied(tmp_path, name)
        assert done.returncode == 0, done.stderr
        assert "harness run --prompt mine" in done.stdout
        for mode in (each.name for each in built_in_modes(asking=True)):
            for kind in Kind:
                if name in bundled_names(kind):
                    own = load_prompt(str(tmp_path / "mine"), mode, kind)
                    assert own.hash == load_prompt(name, mode, kind).hash
        same = harness(tmp_path, "prompts", "diff", name, "mine")
        assert same.stdout == f"{name} and mine have the same templates\n"

    def test_existing_files_are_not_written_over(self, tmp_path: Path) -> None:
        (tmp_path / "mine").mkdir()
        (tmp_path / "mine" / "note").write_text("kept")
        done = copied(tmp_path, "default")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == "harness: mine exists and is not an empty folder; choose another\n"

    def test_a_set_that_is_not_there(self, tmp_path: Path) -> None:
        done = copied(tmp_path, "nope")
        assert done.returncode == 2
        assert "no prompt set or folder 'nope'" in done.stderr
        assert not (tmp_path / "mine").exists()

    def test_a_folder_that_cannot_be_made(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        done = harness(tmp_path, "prompts", "copy", "default", "file/mine")
        assert done.returncode == 2
        assert done.stderr == "harness: file/mine cannot be made: Not a directory\n"


def copied(folder: Path, name: str) -> Done:
    return harness(folder, "prompts", "copy", name, "mine")


def test_a_copy_may_have_the_templates_of_one_mode(tmp_path: Path) -> None:
    done = harness(tmp_path, "prompts", "copy", "default", "mine", "--mode", "self_repair")
    assert done.returncode == 0, done.stderr
    of_code = {path.name for path in (tmp_path / "mine").glob("*.j2")}
    assert of_code == {"system.j2", "user.j2", "report.j2", "repair.j2"}
    assert load_prompt(str(tmp_path / "mine"), "self_repair").parts.keys() >= {"repair", "user"}
    codet = harness(tmp_path, "prompts", "copy", "terse", "other", "--mode", "codet")
    assert codet.returncode == 0, codet.stderr
    assert (tmp_path / "other" / "codet" / "tests.j2").is_file()
    assert not (tmp_path / "other" / "reflexion").exists()
    assert not (tmp_path / "other" / "map_coder").exists()


def test_a_diff_may_have_the_templates_of_one_mode(tmp_path: Path) -> None:
    done = harness(tmp_path, "prompts", "diff", "default", "terse", "--mode", "agentic")
    assert "--- default/system.j2\n+++ terse/system.j2\n" in done.stdout
    assert "again.j2" not in done.stdout  # terse takes it from default
    shot = harness(tmp_path, "prompts", "diff", "default", "terse", "--mode", "single_shot")
    assert "--- default/system.j2\n+++ terse/system.j2\n" in shot.stdout
    assert "again.j2" not in shot.stdout
    unknown = harness(tmp_path, "prompts", "diff", "default", "terse", "--mode", "agentik")
    assert "--mode agentik: give " in unknown.stderr


def test_a_diff_begins_with_the_templates_that_were_changed(tmp_path: Path) -> None:
    write_set(tmp_path / "mine", "Solve {{ problem.title }}.")
    done = harness(tmp_path, "prompts", "diff", "default", "mine")
    assert done.stdout.startswith("--- default/system.j2\n+++ mine/")
    heads = [line for line in done.stdout.splitlines() if line.startswith("+++ ")]
    changed = [line != "+++ /dev/null" for line in heads]
    assert changed == sorted(changed, reverse=True)
    assert not all(changed)


def test_a_diff_names_the_templates_and_the_lines(tmp_path: Path) -> None:
    assert copied(tmp_path, "default").returncode == 0
    user = tmp_path / "mine" / "user.j2"
    user.write_text(user.read_text() + "Hurry.\n")
    (tmp_path / "mine" / "code_execution" / "user.j2").unlink()
    done = harness(tmp_path, "prompts", "diff", "default", "mine")
    assert done.returncode == 0
    assert "--- default/user.j2\n+++ mine/user.j2\n" in done.stdout
    assert "\n+Hurry.\n" in done.stdout
    assert "--- default/code_execution/user.j2\n+++ /dev/null\n" in done.stdout
