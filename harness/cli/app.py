"""The program `harness`, its commands imported when used, and the layout of their help."""

import gc
import textwrap
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command_from_info, get_group_from_info
from typer.models import CommandInfo, TyperInfo

from harness.registry import COMMANDS, Command, resolve
from harness.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable


def _examples() -> Iterator[tuple[str, tuple[str, ...]]]:
    text = Path(__file__).with_name("examples.txt").read_text("utf-8")
    for block in text.strip().split("\n\n"):
        name, *lines = block.split("\n")
        yield name.strip("[]"), tuple(lines)


EXAMPLES: Mapping[str, tuple[str, ...]] = dict(_examples())
"""The examples at the end of a command's help, by its words after `harness`."""

WIDTH = 80
INDENT = 6


class _Help:
    """A command, or a group of commands, whose help is `page`."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write(page(self, ctx))


class HelpCommand(_Help, TyperCommand):
    """A command whose help is `page`."""


class HelpGroup(_Help, TyperGroup):
    """A group of commands whose help is `page`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; without any, print the help and exit with 2."""
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            typer.echo(ctx.get_help())
            ctx.exit(2)
        return super().parse_args(ctx, args)


def page(command: Any, context: Any) -> str:
    """Return the help: usage, description, commands, flags by heading, and examples.

    Args:
        command: a typer command.
        context: the context of its call.
    """
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    pieces = ["[OPTIONS]", *map(_argument, arguments)]
    pieces += ["COMMAND [ARGS]..."] if isinstance(command, TyperGroup) else []
    lines = [f"Usage: {context.command_path} {' '.join(pieces)}", ""]
    lines += [*_text(command.help or ""), ""]
    panels: dict[str, list[str]] = {}
    for name in command.list_commands(context) if isinstance(command, TyperGroup) else ():
        each: Any = command.get_command(context, name)
        words = textwrap.wrap(
            " ".join((each.help or "").split("\n\n")[0].split()),
            WIDTH,
            initial_indent=f"  {name:<12}",
            subsequent_indent=" " * 14,
        )
        panels.setdefault(each.rich_help_panel or "Commands", []).extend(words)
    for parameter in command.get_params(context):
        if not getattr(parameter, "hidden", False):
            heading = getattr(parameter, "rich_help_panel", None) or _heading(parameter)
            panels.setdefault(heading, []).extend(_parameter(parameter))
    for heading, entries in panels.items():
        lines += [f"{heading}:", *entries, ""]
    path = " ".join(context.command_path.split()[1:])
    if path in EXAMPLES:
        lines += ["Examples:", *(f"  {example}" for example in EXAMPLES[path]), ""]
    return "\n".join(lines)


def _argument(parameter: Any) -> str:
    name = parameter.metavar or str(parameter.name).upper()
    return name if parameter.required or name.startswith("[") else f"[{name}]"


def _heading(parameter: Any) -> str:
    return "Arguments" if parameter.param_type_name == "argument" else "Options"


def _parameter(parameter: Any) -> Iterator[str]:
    if parameter.param_type_name == "argument":
        yield f"  {parameter.metavar or str(parameter.name).upper()}"
    else:
        names = sorted(parameter.opts, key=lambda name: name.startswith("--"))
        text = ", ".join(names)
        if parameter.secondary_opts:
            text += " / " + ", ".join(parameter.secondary_opts)
        if not parameter.is_flag:
            text += f" {_metavar(parameter)}"
        yield f"  {text}"
    note = [parameter.help] if parameter.help else []
    if parameter.param_type_name == "option" and parameter.required:
        note.append("[required]")
    elif parameter.param_type_name == "option" and not parameter.is_flag and parameter.default:
        note.append(f"[default: {str(parameter.default).removesuffix('.0')}]")
    yield from textwrap.wrap(
        " ".join(note),
        WIDTH,
        initial_indent=" " * INDENT,
        subsequent_indent=" " * INDENT,
        break_on_hyphens=False,
    )


def _metavar(parameter: Any) -> str:
    """Return the placeholder of a value: its metavar, or the name of its type."""
    if parameter.metavar:
        return str(parameter.metavar)
    kinds: dict[Any, str] = {int: "N", float: "NUMBER", Path: "PATH"}
    return kinds.get(parameter.type_descriptor.annotation, "TEXT")


def _text(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(textwrap.dedent(text).strip().split("\n\n")):
        if number:
            yield ""
        yield from textwrap.wrap(" ".join(paragraph.split()), WIDTH, break_on_hyphens=False)


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
