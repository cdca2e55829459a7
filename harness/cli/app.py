"""The program `harness`; commands in the registry are imported when used."""

import gc
import os
import threading
from collections.abc import Iterator
from errno import ENOMEM
from functools import cache
from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit
from typing import TYPE_CHECKING, Any, cast

import typer
from typer.core import TyperCommand
from typer.main import get_command_from_info, get_group_from_info
from typer.models import CommandInfo, TyperInfo

from harness.cli.help_page import HelpCommand, HelpGroup
from harness.errors import INFRASTRUCTURE
from harness.registry import COMMANDS, Command, resolve
from harness.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable


_BY_NAME = {command.name: command for command in COMMANDS}


COLLECT_AFTER = 50_000  # new objects: imports make many, and no garbage


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

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002
        """Return the names of the commands, in the order of the registry."""
        return [*_BY_NAME]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002
        """Return the command of a name, or None."""
        command = _BY_NAME.get(cmd_name)
        if command is None:
            return None
        if self._for_help:
            return self.commands[cmd_name]
        return _imported(command)

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
    found = _built(command)
    if not gc.isenabled():  # the program has started: what is imported is never looked through
        gc.freeze()
        gc.set_threshold(COLLECT_AFTER, 10, 10)
        gc.enable()
    return found


@cache
def _built(command: Command) -> Any:
    found: typer.Typer | Callable[..., Any] = resolve(command.target)
    if isinstance(found, typer.Typer):
        return get_group_from_info(
            TyperInfo(found, name=command.name, cls=HelpGroup),
            pretty_exceptions_short=True,
            suggest_commands=True,
            rich_markup_mode=None,
        )
    kind: type[TyperCommand] = getattr(found, "command_class", HelpCommand)
    info = CommandInfo(command.name, cls=kind, callback=found)
    return get_command_from_info(info, pretty_exceptions_short=True, rich_markup_mode=None)


app = typer.Typer(
    name="harness",
    cls=LazyGroup,
    help="Measures how well a language model programs, and how much better when it may iterate.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _version(
    *, version: bool = typer.Option(False, "--version", help="Print the version and leave.")
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


NO_THREAD = "can't start new thread"
MEBIBYTE = 1 << 20
DEEPEST = 20


def end_when_out_of_memory() -> None:
    """Exit also if a thread runs out of memory, which others would wait for forever.

    Disables backtraces of Rust extensions under a memory limit: making one takes memory, and one
    that fails never ends.
    """
    if getrlimit(RLIMIT_AS)[0] != RLIM_INFINITY:
        os.environ["RUST_BACKTRACE"] = "0"
    usual = threading.excepthook

    def hook(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and is_out_of_memory(args.exc_value):
            end()
        usual(args)

    threading.excepthook = hook


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error, or one of its causes, means that memory is exhausted."""
    return any(map(_says_so, _chain(error, DEEPEST)))


def _chain(error: BaseException | None, depth: int) -> Iterator[BaseException]:
    if error is None or not depth:
        return
    yield error
    if isinstance(error, BaseExceptionGroup):
        for each in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _chain(each, depth - 1)
    yield from _chain(error.__cause__ or error.__context__, depth - 1)


def _says_so(error: BaseException) -> bool:
    match error:
        case MemoryError():
            return True
        case OSError(errno=number):
            return number == ENOMEM
        case RuntimeError():
            return NO_THREAD in str(error)
        case _:  # of a Rust extension; its class cannot be imported
            return type(error).__name__ == "PanicException"


def end() -> None:
    """Print a message and exit at once, without waiting for threads."""
    limit = getrlimit(RLIMIT_AS)[0]
    least = "" if limit == RLIM_INFINITY else f" of {limit // MEBIBYTE} MiB (ulimit -v)"
    advice = "raise the limit" if least else "free some memory"
    line = (
        f"harness: out of memory{least}: {advice}, or lower --workers and --concurrency; "
        "what is graded is kept\n"
    )
    os.write(2, line.encode())
    os._exit(INFRASTRUCTURE)
