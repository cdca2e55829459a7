"""The help of a command: usage, description, commands, flags by heading, and examples.

The help of a command with many flags shows those that most people use; `--help-all` shows all, also
where the help does.
"""

import inspect
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from harness.errors import UsageError

WIDTH = 80
INDENT = 6
HELP_ALL = "--help-all"
KEYS = "Keys that only --set takes (`--set KEY` says what one is):"
ADVANCED = "advanced"
"""Marks, in the annotation of a parameter, a flag that few people use."""


def _examples() -> Iterator[tuple[str, tuple[str, ...]]]:
    text = Path(__file__).with_name("examples.txt").read_text("utf-8")
    for block in text.strip().split("\n\n"):
        name, *lines = block.split("\n")
        yield name.strip("[]"), tuple(lines)


EXAMPLES: Mapping[str, tuple[str, ...]] = dict(_examples())
"""The examples at the end of a command's help, by its words after `harness`."""


class _Help:
    """A command, or a group of commands, whose help is `page`."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write(page(self, ctx))

    def refuse_former(self: Any, ctx: Any, args: Sequence[str]) -> None:
        """Refuse a flag that became a key, and name the key. Raises UsageError."""
        words = (each.partition("=")[0] for each in args if each.startswith("--"))
        former = _key_only(self).former
        if not ctx.resilient_parsing and (flag := next((w for w in words if w in former), None)):
            raise UsageError(f"{flag} is a key now: {former[flag]}")

    def show_all_if_asked(self: Any, ctx: Any, args: list[str]) -> None:
        """Print the help and exit on a `--help-all` that is no flag of the command's own."""
        if HELP_ALL not in args or ctx.resilient_parsing:
            return
        if not any(HELP_ALL in parameter.opts for parameter in self.params):
            typer.echo(f"{ctx.get_help().rstrip()}\n\nThese are all flags.")
            ctx.exit()


def _show_all(context: typer.Context, value: bool) -> None:
    if value and not context.resilient_parsing:
        typer.echo(page(context.command, context, all_flags=True).rstrip())
        raise typer.Exit


@dataclass(frozen=True)
class KeyOnly:
    """What `--set` takes and no flag.

    Attributes:
        keys: the keys.
        former: what to give instead of a flag that a key had in the version before, by flag.
    """

    keys: tuple[str, ...] = ()
    former: Mapping[str, str] = field(default_factory=dict[str, str])


HelpAll = Annotated[
    bool,
    typer.Option(HELP_ALL, is_eager=True, callback=_show_all, help="Show all flags and exit."),
]
"""Flag of a command whose help does not show all flags."""


class HelpCommand(_Help, TyperCommand):
    """A command whose help is `page`."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        for parameter in self.params:
            _without_validator(parameter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments."""
        self.show_all_if_asked(ctx, args)
        self.refuse_former(ctx, args)
        return super().parse_args(ctx, args)


def _without_validator(parameter: Any) -> None:
    """Build no validator for a flag that is not given: for 100 flags that takes 20 ms."""
    validated = parameter.process_value

    def process_value(ctx: Any, value: Any) -> Any:
        if value is not None or parameter.required or parameter.callback is not None:
            return validated(ctx, value)
        return () if parameter.multiple or parameter.nargs == -1 else None

    parameter.process_value = process_value


class HelpGroup(_Help, TyperGroup):
    """A group of commands whose help is `page`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; without any, print the help and exit with 2."""
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            typer.echo(ctx.get_help())
            ctx.exit(2)
        self.show_all_if_asked(ctx, args[:1])  # others may be of a subcommand
        self.refuse_former(ctx, args)
        return super().parse_args(ctx, args)


def page(command: Any, context: Any, *, all_flags: bool = False) -> str:
    """Return the help: usage, description, commands, flags by heading, and examples.

    Args:
        command: a typer command.
        context: the context of its call.
        all_flags: whether to show also the flags that few people use.
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
    left_out = frozenset[str]() if all_flags else _left_out(command)
    for parameter in command.get_params(context):
        if not getattr(parameter, "hidden", False):
            heading = getattr(parameter, "rich_help_panel", None) or _heading(parameter)
            entry = () if parameter.name in left_out else _parameter(parameter)
            panels.setdefault(heading, []).extend(entry)
    for heading, entries in panels.items():
        lines += [f"{heading}:", *entries, ""] if entries else []
    if left_out:
        lines += [f"{len(left_out)} more flags: {context.command_path} --help-all", ""]
    elif keys := _key_only(command).keys:
        text = ", ".join(sorted(keys))
        lines += [
            KEYS,
            *textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="  "),
            "",
        ]
    path = " ".join(context.command_path.split()[1:])
    if path in EXAMPLES:
        lines += ["Examples:", *(f"  {example}" for example in EXAMPLES[path]), ""]
    return "\n".join(lines)


def _key_only(command: Any) -> KeyOnly:
    return getattr(command.callback, "key_only", KeyOnly())


def _left_out(command: Any) -> frozenset[str]:
    """Return the names of the parameters that the help does not show."""
    if command.callback is None:
        return frozenset()
    parameters = inspect.signature(command.callback).parameters
    if all(parameter.annotation is not HelpAll for parameter in parameters.values()):
        return frozenset()
    return frozenset(
        name
        for name, parameter in parameters.items()
        if ADVANCED in getattr(parameter.annotation, "__metadata__", ())
    )


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
