"""The help of a command: a paragraph per flag, so that names fit in 80 columns."""

import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup


def _examples() -> Iterator[tuple[str, tuple[str, ...]]]:
    text = Path(__file__).with_name("examples.txt").read_text("utf-8")
    for block in text.strip().split("\n\n"):
        name, *lines = block.split("\n")
        yield name.strip("[]"), tuple(lines)


EXAMPLES: Mapping[str, tuple[str, ...]] = MappingProxyType(dict(_examples()))
"""The examples at the end of a command's help, by its words after `harness`."""

WIDTH = 80
INDENT = 6


class HelpCommand(TyperCommand):
    """A command whose help is `page`."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write(page(self, ctx))


class HelpGroup(TyperGroup):
    """A group of commands whose help is `page`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the arguments; without any, print the help and exit with 2."""
        if not args and self.no_args_is_help and not ctx.resilient_parsing:
            typer.echo(ctx.get_help())
            ctx.exit(2)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write(page(self, ctx))


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
    kinds = {int: "N", float: "NUMBER", Path: "PATH"}
    return next(
        (kinds[kind] for kind in kinds if parameter.type_descriptor.annotation is kind), "TEXT"
    )


def _text(text: str) -> Iterator[str]:
    for number, paragraph in enumerate(textwrap.dedent(text).strip().split("\n\n")):
        if number:
            yield ""
        yield from textwrap.wrap(" ".join(paragraph.split()), WIDTH, break_on_hyphens=False)
