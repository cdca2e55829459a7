"""The program `harness`, and its commands, imported when used."""

import gc
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand
from typer.main import get_command_from_info, get_group_from_info
from typer.models import CommandInfo, TyperInfo

from harness.cli.completion_script import (
    INSTALL,
    SHOW,
    install_completion,
    show_completion,
    with_shell,
)
from harness.cli.help_page import HelpCommand, HelpGroup
from harness.registry import COMMANDS, MOVED, Command, feature
from harness.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable


_BY_NAME = {command.name: command for command in COMMANDS}


MEANT: Mapping[str, str] = {
    word: command
    for command, words in (
        ("--version", ("version",)),
        ("COMMAND --help", ("man", "usage")),
        ("ls", ("list", "runs", "history", "status")),
        ("rm", ("delete", "remove", "del", "clean")),
        ("run", ("eval", "evaluate", "bench", "solve", "start", "test")),
        ("run --resume RUN", ("resume", "continue", "retry")),
        ("run -m replay:RUN", ("replay",)),
        ("compare", ("diff",)),
        ("transcript", ("log", "logs", "trace", "cat")),
        ("show", ("results", "summary", "info")),
        ("view", ("ui", "web", "browse", "dashboard", "open")),
        ("problems", ("benchmarks", "benchmark", "datasets", "tasks", "list-problems")),
        ("fetch", ("download", "pull", "get")),
        ("verify", ("validate", "check")),
        ("grade", ("judge", "score")),
        ("doctor", ("diagnose", "selftest")),
        ("models", ("login", "logout", "auth", "providers", "keys", "config")),
    )
    for word in words
} | MOVED
"""Words that other programs have for a command, with what they mean here."""

NO_LOGIN = "There is nothing to log in to: `harness models` shows which key each provider needs."

COLLECT_AFTER = 100_000  # new objects: imports make over 50,000, and no garbage


class LazyGroup(HelpGroup):
    """The commands of the registry.

    For the help, only their names and one-line descriptions are used, which imports none.
    """

    _for_help = False

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = {  # as the help shows them; their names are suggested for misspelt ones
            each.name: TyperCommand(each.name, help=each.help, rich_help_panel=each.panel)
            for each in COMMANDS
        }

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; a shell's name may be left out; `help X` stands for `X --help`."""
        if args[:1] == ["help"]:
            args = [*args[1:], "--help"]
        return super().parse_args(ctx, with_shell(args))

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the named command; if there is none, say which is meant."""
        word = args[0]
        if word in MEANT and word not in _BY_NAME and not ctx.resilient_parsing:
            hint = f"Did you mean `harness {MEANT[word]}`?"
            hint = NO_LOGIN if word in {"login", "logout", "auth"} else hint
            ctx.fail(f"No such command {word!r}. {hint}")
        return super().resolve_command(ctx, args)

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Return the names of the commands, in the order of the registry."""
        return [*_BY_NAME]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Return the command of a name, or None."""
        if self._for_help or cmd_name not in _BY_NAME:
            return self.commands.get(cmd_name)
        return _imported(_BY_NAME[cmd_name])

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help of the program."""
        self._for_help = True
        try:
            super().format_help(ctx, formatter)
        finally:
            self._for_help = False

    def shell_complete(self, ctx: Any, incomplete: str) -> Any:
        """Complete command names for a shell, without importing any command."""
        self._for_help = True
        try:
            return super().shell_complete(ctx, incomplete)
        finally:
            self._for_help = False


def _imported(command: Command) -> Any:
    built = _built(command)
    if not gc.isenabled():  # the program has started: what is imported is never looked through
        gc.freeze()
        gc.set_threshold(COLLECT_AFTER, 10, 10)
        gc.enable()
    return built


@cache
def _built(command: Command) -> Any:
    loaded: typer.Typer | Callable[..., Any] = feature(command.target, f"harness {command.name}")
    if isinstance(loaded, typer.Typer):
        return get_group_from_info(
            TyperInfo(loaded, name=command.name, cls=HelpGroup),
            pretty_exceptions_short=True,
            suggest_commands=True,
            rich_markup_mode=None,
        )
    kind: type[TyperCommand] = getattr(loaded, "command_class", HelpCommand)
    info = CommandInfo(command.name, cls=kind, callback=loaded)
    return get_command_from_info(info, pretty_exceptions_short=True, rich_markup_mode=None)


app = typer.Typer(
    name="harness",
    cls=LazyGroup,
    help="Measures how well a language model programs, and how much better when it may iterate.",
    no_args_is_help=True,
    add_completion=False,  # typer's flags take no shell's name
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _version(
    *,
    version: bool = typer.Option(False, "-V", "--version", help="Print the version and leave."),
    install: str | None = typer.Option(
        None,
        INSTALL,
        metavar="[SHELL]",
        help="Install completion for bash, zsh or fish; by default for the current shell.",
    ),
    show: str | None = typer.Option(
        None,
        SHOW,
        metavar="[SHELL]",
        help="Print the script that completes words in bash, zsh or fish; by default for the "
        "current shell.",
    ),
) -> None:
    install_completion(install)
    show_completion(show)
    if version:
        typer.echo(__version__)
        raise typer.Exit
