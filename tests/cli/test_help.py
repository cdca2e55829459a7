"""The help: grouped, no line cut at 80 columns, defaults and examples shown."""

import shlex
import subprocess
import sys

import pytest
import typer
from typer.main import get_command

from harness.cli.app import EXAMPLES, app
from harness.cli.settings_flags import JUDGING
from harness.registry import COMMANDS
from harness.run.spec.spec import SETTINGS

GROUP = get_command(app)
WIDEST = 80


def help_of(*words: str) -> str:
    command, context = GROUP, typer.Context(GROUP, info_name="harness")
    for word in words:
        command = command.get_command(context, word)  # type: ignore[attr-defined]
        context = typer.Context(command, info_name=word, parent=context)
    return command.get_help(context)


@pytest.mark.parametrize("name", [command.name for command in COMMANDS])
def test_no_line_is_wider_than_a_terminal_and_examples_end_it(name: str) -> None:
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


def test_every_setting_is_a_flag_of_run_with_its_help_and_default() -> None:
    text = " ".join(help_of("run").split())
    for key, setting in SETTINGS.items():
        assert f"--{key.replace('_', '-')}" in text, key
        assert " ".join(setting.help.split()) in text, key
    assert "Most model requests per sample. [default: 10]" in text


@pytest.mark.parametrize("name", ["verify", "regrade", "grade"])
def test_judging_has_the_same_flags_everywhere(name: str) -> None:
    text = help_of(name)
    for key in JUDGING:
        assert f"--{key.replace('_', '-')}" in text, key


@pytest.mark.parametrize("example", [each for some in EXAMPLES.values() for each in some])
def test_an_example_has_flags_that_there_are(example: str) -> None:
    words = shlex.split(example.partition(">")[0])[1:]
    path: list[str] = []
    command, context = GROUP, typer.Context(GROUP)
    while words and hasattr(command, "list_commands"):
        found = command.get_command(context, words[0])
        if found is None:
            break
        command = found
        path.append(words.pop(0))
    known = {name for each in command.params for name in (*each.opts, *each.secondary_opts)}
    for word in words:
        if word.startswith("-"):
            assert word in known, f"{path}: {word}"


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
