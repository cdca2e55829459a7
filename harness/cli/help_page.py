"""The help of a command: a paragraph per flag, so that names fit in 80 columns."""

import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from typer.core import TyperCommand, TyperGroup

EXAMPLES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "": ("harness run --agentic-mode", "harness compare RUN_A RUN_B"),
        "run": (
            "harness run --agentic-mode --out demo",
            "harness run -m gpt-5-mini -b livecodebench:v6 --agentic-mode --max-cost 5",
        ),
        "experiment": (
            "harness experiment -m gpt-5-mini -b livecodebench:v6 -n 50 --max-cost 5",
            "harness experiment -c grid.yaml --dry-run",
        ),
        "mcp": (
            "harness mcp --task fixture/tally-board",
            "harness mcp --task two-sum -b leetcode --http 8080",
        ),
        "models": ("harness models", "harness models gpt-5-mini --reasoning-effort low --json"),
        "prompts": ("harness prompts list", "harness prompts check ./my-prompts"),
        "prompts list": ("harness prompts list", "harness prompts list --json"),
        "prompts show": (
            "harness prompts show default",
            "harness prompts show direct --mode agentic",
        ),
        "prompts render": (
            "harness prompts render default tally-board",
            "harness prompts render direct two-sum --mode agentic -b leetcode",
        ),
        "prompts check": (
            "harness prompts check ./my-prompts",
            "harness prompts check ./my-prompts --mode agentic",
        ),
        "prompts copy": (
            "harness prompts copy default ./my-prompts",
            "harness prompts copy direct ./brief",
        ),
        "prompts diff": (
            "harness prompts diff default direct",
            "harness prompts diff default ./my-prompts",
        ),
        "compare": (
            "harness compare runs/single runs/agentic",
            "harness compare runs/single runs/agentic --fail-if-worse --markdown",
        ),
        "show": ("harness show runs/agentic", "harness show runs/agentic --only unsolved"),
        "ls": ("harness ls", "harness ls runs --trend"),
        "transcript": (
            "harness transcript runs/agentic",
            "harness transcript runs/agentic tally-board",
        ),
        "report": (
            "harness report runs/single runs/agentic -o report.html",
            "harness report runs/agentic --cutoff 2025-04",
        ),
        "view": ("harness view", "harness view runs --port 8001"),
        "export": (
            "harness export runs/agentic --to csv",
            "harness export runs/agentic --to parquet --out samples.parquet",
        ),
        "problems": (
            "harness problems -b livecodebench:v6 --filter-difficulty hard",
            "harness problems tally-board",
        ),
        "fetch": ("harness fetch livecodebench:v6", "harness fetch mercury --update"),
        "verify": ("harness verify fixture", "harness verify mercury -n 20"),
        "calibrate": ("harness calibrate fixture", "harness calibrate mercury -n 20"),
        "grade": (
            "harness grade -b livecodebench:v6 --solutions mine.jsonl",
            "harness grade -b fixture --solutions mine.jsonl --efficiency --json",
        ),
        "regrade": (
            "harness regrade runs/agentic --rule tokens",
            "harness regrade runs/agentic --test-timeout 10 -o runs/slower",
        ),
        "import": (
            "harness import model_eval_all.json -b livecodebench:v6 -o runs/published",
            "harness import mine.jsonl -b fixture -o runs/mine --model my-model",
        ),
        "serve": ("harness serve", "harness serve -b livecodebench:v6 --port 8081 --workers 8"),
        "doctor": ("harness doctor", "harness doctor --require-isolation namespaces --json"),
        "merge": (
            "harness merge runs/1 runs/2 runs/3 -o runs/whole",
            "harness merge shards/* -o runs/whole",
        ),
        "pack": ("harness pack runs/agentic", "harness pack runs/agentic --undo"),
        "schema": ("harness schema result", "harness schema spec > spec.schema.json"),
        "plugins": ("harness plugins",),
    }
)


WIDTH = 80
INDENT = 6


class HelpCommand(TyperCommand):
    """A command whose help is `page`."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write(page(self, ctx))


class HelpGroup(TyperGroup):
    """A group of commands whose help is `page`."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help."""
        formatter.write(page(self, ctx))


def page(command: Any, context: Any) -> str:
    """Return the help: usage, description, commands, flags by heading, and examples.

    Args:
        command: a typer command.
        context: the context of its call.
    """
    lines = [f"Usage: {context.command_path} {' '.join(command.collect_usage_pieces(context))}", ""]
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
