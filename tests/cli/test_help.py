"""The help: grouped, no line cut at 80 columns, defaults and examples shown."""

import shlex
import subprocess
import sys

import pytest
import typer
from for_each import for_each
from typer.main import get_command
from typer.testing import CliRunner

from harness.agent.templates.prompt_set import bundled_name
from harness.cli.app import MEANT, NO_LOGIN, app
from harness.cli.help_page import EXAMPLES, KEYS, page
from harness.cli.settings_flags import JUDGING, MOST_FLAGS
from harness.registry import COMMANDS
from harness.run.settings.spec import SETTINGS
from harness.version import __version__

GROUP = get_command(app)
WIDEST = 80


def help_of(*words: str, all_flags: bool = False) -> str:
    command, context = GROUP, typer.Context(GROUP, info_name="harness")
    for word in words:
        command = command.get_command(context, word)  # type: ignore[attr-defined]
        context = typer.Context(command, info_name=word, parent=context)
    text = page(command, context, all_flags=True) if all_flags else command.get_help(context)
    return text.rstrip()


def flags_in(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("  -")]


@for_each("name", [command.name for command in COMMANDS])
def test_help_fits_80_columns_and_ends_with_examples(name: str) -> None:
    lines = help_of(name).splitlines()
    assert [line for line in lines if len(line) > WIDEST] == []
    assert lines[-1 - len(EXAMPLES[name])] == "Examples:"


def test_commands_stand_in_their_groups() -> None:
    lines = help_of().splitlines()
    headings = [line.rstrip(":") for line in lines if line.endswith(":")]
    assert headings[: len({each.panel for each in COMMANDS})] == list(
        dict.fromkeys(each.panel for each in COMMANDS)
    )
    for command in COMMANDS:
        assert any(line.startswith(f"  {command.name} ") for line in lines), command.name


def test_every_setting_is_a_flag_of_run_with_its_help_and_default_or_a_key_of_set() -> None:
    text = " ".join(help_of("run", all_flags=True).split())
    keys = text.partition(KEYS)[2].replace(",", "").split()
    for key, setting in SETTINGS.items():
        assert (key in keys) == setting.key_only, key
        assert (f" --{key.replace('_', '-')}" in text) == (not setting.key_only), key
        assert (" ".join(setting.help.split()) in text) == (not setting.key_only), key
    assert "Most model requests per sample. [default: 10]" in text


@for_each("name", ["verify", "grade"])
def test_judging_has_the_same_flags_everywhere(name: str) -> None:
    text = help_of(name, all_flags=True)
    for key in JUDGING:
        assert (key if SETTINGS[key].key_only else f"--{key.replace('_', '-')}") in text, key


def test_run_has_at_most_64_flags() -> None:
    assert len(flags_in(help_of("run", all_flags=True))) <= 64


@for_each("name", [command.name for command in COMMANDS])
def test_the_help_of_a_command_shows_few_flags_and_says_how_to_see_all(name: str) -> None:
    short, long = help_of(name), help_of(name, all_flags=True)
    assert len(flags_in(short)) <= MOST_FLAGS
    if len(flags_in(long)) <= MOST_FLAGS:
        done = CliRunner().invoke(app, [name, "--help-all"])
        assert done.stdout == f"{short}\n\nThese are all flags.\n"
        assert short == long
        return
    more = len(flags_in(long)) - len(flags_in(short))
    assert f"{more} more flags: harness {name} --help-all" in short.splitlines()
    assert set(short.splitlines()) - set(long.splitlines()) == {
        f"{more} more flags: harness {name} --help-all"
    }


def test_the_help_of_run_shows_the_common_settings() -> None:
    shown = " ".join(flags_in(help_of("run")))
    for key, setting in SETTINGS.items():
        assert (f"--{key.replace('_', '-')}" in shown.replace(",", "").split()) == setting.common


@for_each("name", ["run", "experiment", "verify"])
def test_help_all_is_printed_before_other_flags_are_read(name: str) -> None:
    done = CliRunner().invoke(app, [name, "--sample-size", "x", "--help-all"])
    assert done.exit_code == 0
    assert done.stdout == help_of(name, all_flags=True) + "\n"


@for_each("words", [(), ("ls",), ("prompts", "show"), ("experiment", "show")])
def test_help_before_the_command_is_help_after_it(words: tuple[str, ...]) -> None:
    asked = CliRunner().invoke(app, ["help", *words], prog_name="harness")
    known = CliRunner().invoke(app, [*words, "--help"], prog_name="harness")
    assert (asked.exit_code, asked.stdout) == (0, known.stdout)
    assert asked.stdout.startswith(f"Usage: {' '.join(['harness', *words])} ")


def test_help_of_a_command_that_is_not_there_says_so() -> None:
    asked = CliRunner().invoke(app, ["help", "nosuch"])
    assert asked.exit_code == 2
    assert "No such command 'nosuch'" in asked.output


@for_each("words", [("prompts", "show"), ("prompts",), ()])
def test_help_all_of_a_group_or_its_command_says_that_these_are_all(words: tuple[str, ...]) -> None:
    asked = CliRunner().invoke(app, [*words, "--help-all"], prog_name="harness")
    assert asked.exit_code == 0
    known = CliRunner().invoke(app, [*words, "--help"], prog_name="harness")
    assert asked.stdout == f"{known.stdout}\n\nThese are all flags.\n".replace("\n\n\n", "\n\n")


@for_each("flag", ["-V", "--version"])
def test_the_version_has_a_short_flag(flag: str) -> None:
    asked = CliRunner().invoke(app, [flag])
    assert (asked.exit_code, asked.stdout) == (0, f"{__version__}\n")


@for_each(
    ("word", "told"),
    [
        ("list", "Did you mean `harness ls`?"),
        ("version", "Did you mean `harness --version`?"),
        ("login", NO_LOGIN),
        ("delete", "Did you mean `harness rm`?"),
        ("calibrate", "Did you mean `harness verify --time`?"),
    ],
)
def test_a_word_of_other_programs_is_answered_with_the_command_meant(word: str, told: str) -> None:
    asked = CliRunner().invoke(app, [word, "--some-flag"])
    assert asked.exit_code == 2
    assert f"No such command {word!r}. {told}" in " ".join(asked.output.split())


def test_the_commands_that_are_meant_are_there() -> None:
    names = {command.name for command in COMMANDS}
    assert names.isdisjoint(MEANT)
    assert {command.split()[0] for command in MEANT.values()} <= {*names, "COMMAND", "--version"}


@for_each("example", [each for some in EXAMPLES.values() for each in some])
def test_an_example_has_flags_that_there_are(example: str) -> None:
    words = shlex.split(example.partition(">")[0])[1:]
    path: list[str] = []
    command, context = GROUP, typer.Context(GROUP)
    while words and hasattr(command, "list_commands"):
        subcommand = command.get_command(context, words[0])
        if subcommand is None:
            break
        command = subcommand
        path.append(words.pop(0))
    known = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    for word in words:
        if word.startswith("-"):
            assert word in known, f"{path}: {word}"


@pytest.mark.thorough
def test_garbage_is_collected_once_a_command_is_there() -> None:
    code = (
        "import atexit, gc, sys\n"
        "from harness.cli import main\n"
        "atexit.register(lambda: print(gc.isenabled(), gc.get_freeze_count() > 10_000))\n"
        "sys.argv = ['harness', 'schema', 'spec']\n"
        "main()"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "True True"


def test_prompt_sets_in_examples_are_bundled_or_folders() -> None:
    lines = [line.split() for name, of in EXAMPLES.items() if "prompts" in name for line in of]
    named = [line[3:5] if line[2] == "diff" else line[3:4] for line in lines]
    sets = [each for names in named for each in names if not each.startswith(("-", "./"))]
    assert len(sets) > 5
    assert [each for each in sets if not bundled_name(each)] == []
