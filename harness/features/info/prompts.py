"""`harness prompts`: list, show, render, check, copy and compare prompt sets."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from difflib import unified_diff
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import typer
from rich.console import Group
from rich.text import Text

from harness.agent.strategies.modes import LOOP, SHOT, built_in_modes
from harness.agent.strategies.strategies import find_mode
from harness.agent.templates.check import check_prompt
from harness.agent.templates.prompt_set import (
    OPENING,
    VARIANTS,
    PromptSet,
    bundled_names,
    find_templates,
    load_prompt,
    own_parts,
    parts_of,
    read_set,
)
from harness.agent.templates.set_texts import Texts, set_texts, write_texts
from harness.cli import completion
from harness.cli.help_page import HelpCommand, HelpGroup
from harness.cli.settings_flags import with_settings
from harness.cli.shared_flags import Source, with_progress_flags, with_source
from harness.errors import UsageError
from harness.features.info.rendering import Rendering
from harness.figures import count, words
from harness.frozen import Frozen
from harness.languages import known
from harness.plugins import STRATEGIES, find, installed
from harness.problem import Kind
from harness.registry import MODES
from harness.run.plan.languages import refusal
from harness.run.settings.spec import read_spec
from harness.sources.benchmarks import load
from harness.sources.selection import select
from harness.terminal.consoles import console, write_json
from harness.terminal.progress import load_with_bar
from harness.terminal.rich_tables import words_table
from harness.terminal.summary_table import facts
from harness.text import printable, printable_line

SCHEMA = 1


def _kinds_by_name() -> dict[str, dict[str, PromptSet]]:
    """Return the sets by kind of problem; code in another language is a kind here."""
    sets: dict[str, dict[str, PromptSet]] = {}
    for kind, language in VARIANTS:
        for name in bundled_names(kind, language):
            key = known.language(language).mark or str(kind)
            sets.setdefault(name, {})[key] = load_prompt(name, LOOP.name, kind, language)
    return dict(sorted(sets.items()))


class DescribedSet(Frozen):
    """A prompt set, what it says of itself, and its hash by kind of problem."""

    set: str
    description: str
    kinds: dict[str, str]


class DescribedSets(Frozen):
    """What `harness prompts list --json` prints."""

    schema_version: int = SCHEMA
    sets: tuple[DescribedSet, ...]


def _described(name: str, kinds: dict[str, PromptSet]) -> DescribedSet:
    hashes = {kind: prompt.hash for kind, prompt in kinds.items()}
    return DescribedSet(set=name, description=_description(kinds), kinds=hashes)


def _description(kinds: dict[str, PromptSet]) -> str:
    """Return the set's description: that of the first kind that has one."""
    return next((prompt.description for prompt in kinds.values() if prompt.description), "")


def _mode(word: str) -> str:
    """Return a mode that has templates; a user's own is known from then on. Raises UsageError."""
    names = [mode.name for mode in built_in_modes(asking=True)]
    if word not in names:
        if word in MODES or not (":" in word or find(STRATEGIES, word)):
            raise UsageError(f"--mode {word}: give {', '.join(names)}, or MODULE:NAME of your own")
        find_mode(word)
    return word


def _kind(word: str) -> Kind:
    try:
        return Kind(word)
    except ValueError:
        raise UsageError(f"--kind {word}: give {', '.join(Kind)}") from None


app = typer.Typer(
    help="List, look at, try and check prompt sets.",
    cls=HelpGroup,
    no_args_is_help=True,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
Set = Annotated[
    str,
    typer.Argument(
        autocompletion=completion.prompts,
        metavar="SET",
        help="A bundled set, or the folder of your own.",
    ),
]
Mode = Annotated[
    str, typer.Option("--mode", metavar="MODE", help="Whose templates, as for `harness run`.")
]


OneMode = Annotated[
    str | None,
    typer.Option(
        "--mode", metavar="MODE", help="Only the templates that this mode uses. Default: all."
    ),
]


@app.command("list", cls=HelpCommand)
def list_sets(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """List the bundled sets: for which kinds of problems each is, and what it says."""
    rows = list(_kinds_by_name().items())
    out = console()
    if as_json:
        sets = DescribedSets(sets=tuple(_described(*row) for row in rows))
        write_json(out, [sets.model_dump_json()])
        return
    table = words_table(("set", "description"))
    for name, kinds in rows:
        of_kinds = Text(f"for {', '.join(map(words, kinds))}", style="dim")
        notes = [Text(_description(kinds))] if _description(kinds) else []
        table.add_row(Text(name), Group(*notes, of_kinds))
    out.print(table)
    for line in _of_plugins():
        out.print(printable_line(line), soft_wrap=True)


def _of_plugins() -> Iterator[str]:
    """Yield which templates a set may have for each plug-in's mode that declares some."""
    for plugin in installed(STRATEGIES):
        with suppress(UsageError):  # `harness doctor` says why one does not load
            mode = find_mode(plugin.name)
            if mode.own_parts and not mode.built_in:
                files = ", ".join(f"{mode.name}/{part}.j2" for part in mode.own_parts)
                yield f"{mode.title} (--mode {mode.name}) also sends {files}"


@app.command("show", cls=HelpCommand)
@with_settings("language")
def show(
    settings: Mapping[str, Any],
    name: Set,
    mode: Mode = SHOT.name,
    kind: Annotated[
        str,
        typer.Option(
            metavar="KIND", help="code_generation, test_output_prediction or code_execution."
        ),
    ] = "code_generation",
) -> None:
    """Print a set's templates as they are, and the hash that runs know them by."""
    language = read_spec(None, settings).language
    templates = find_templates(name, _mode(mode), _kind(kind), language)
    prompt = read_set(name, templates)
    out = console()
    out.print(facts([("set", name), ("hash", prompt.hash)]))
    for part, file in templates.items():
        out.print(f"\n--- {printable_line(str(file))}", soft_wrap=True)
        out.print(printable(prompt.parts[part]), soft_wrap=True, end="")


@app.command("render", cls=HelpCommand)
@with_settings("benchmark", "language", "tool_protocol")
@with_progress_flags
def render(
    settings: Mapping[str, Any],
    name: Set,
    problem: Annotated[
        str, typer.Argument(metavar="PROBLEM", help="A problem's id, of --benchmark or bundled.")
    ],
    mode: Mode = SHOT.name,
    source: Source = None,
) -> None:
    """Print what a model is sent for a problem, and what it may be sent later; nothing is sent."""
    _mode(mode)
    given = {**settings, "task": [problem], "mode": mode}
    spec = read_spec(None, with_source(given, source))
    loaded = load_with_bar(spec.benchmark or "fixture", console(error=True))
    (problem_chosen,) = select(loaded.problems, spec.selection()).problems
    if reason := refusal(problem_chosen, spec.language):
        raise UsageError(f"{problem_chosen.id} takes no solution in {spec.language}: {reason}")
    prompt = load_prompt(name, mode, problem_chosen.kind, spec.language)
    rendering = Rendering.of(spec, problem_chosen, prompt)
    out = console()
    for title, text in rendering.texts():
        out.print(f"--- {title}\n{printable(text)}\n", soft_wrap=True)


@app.command("check", cls=HelpCommand)
def check(
    name: Set,
    mode: Annotated[
        str | None,
        typer.Option("--mode", metavar="MODE", help="Just this one; else all that the set is for."),
    ] = None,
) -> None:
    """Compile every template and render it for every form of problem; say all that is wrong.

    Also say what a solver needs to know of a problem and the set does not tell.
    """
    problems = [problem.view() for problem in load("fixture").problems]
    check = check_prompt(name, problems, mode and _mode(mode))
    out = console()
    faults = (*check.faults, *check.missing)
    for fault in faults:
        out.print(printable_line(str(fault)), soft_wrap=True)
    templates = count(len(check.files), "template")
    if not faults:
        out.print(f"{templates}, rendered for {count(check.forms, 'form')} of problems: no fault")
    for note in check.notes:
        out.print(f"note: {printable_line(str(note))}", soft_wrap=True)
    if faults:
        raise UsageError(f"prompt set {name!r}: {count(len(faults), 'fault')}")


@app.command("copy", cls=HelpCommand)
def copy(
    name: Set,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A new folder, for `--prompt DIR`.")
    ],
    mode: OneMode = None,
) -> None:
    """Copy a set's templates into a folder, to change them there."""
    texts = _texts(name, mode, whole=True)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} exists and is not an empty folder; choose another")
    write_texts(texts, folder)
    out = console()
    out.print(f"{count(len(texts), 'template')} of {name!r} in {folder}", soft_wrap=True)
    out.print(f"change them, then: harness prompts check {folder}", soft_wrap=True)
    out.print(f"use them with:     harness run --prompt {folder}", soft_wrap=True)


@app.command("diff", cls=HelpCommand)
def diff(
    one: Annotated[
        str, typer.Argument(autocompletion=completion.prompts, metavar="A", help="A set.")
    ],
    other: Annotated[
        str, typer.Argument(autocompletion=completion.prompts, metavar="B", help="Another set.")
    ],
    mode: OneMode = None,
) -> None:
    """Print how the templates of set B differ from those of set A.

    Those that a set takes from `default` count as its own. Templates that both have come first,
    then those that only one has.
    """
    before, after = _texts(one, mode, whole=True), _texts(other, mode, whole=True)
    out, same = console(), True
    shared = before.keys() & after.keys()
    for place in sorted({*before, *after}, key=lambda place: (place not in shared, place)):
        old, new = before.get(place), after.get(place)
        if old == new:
            continue
        same = False
        names = _named(one, place, old), _named(other, place, new)
        for line in unified_diff(_lines(old), _lines(new), names[0], names[1], lineterm=""):
            out.print(printable(line), soft_wrap=True)
    if same:
        out.print(f"{one} and {other} have the same templates", soft_wrap=True)


def _named(name: str, place: PurePosixPath, text: str | None) -> str:
    return "/dev/null" if text is None else f"{name}/{place}"


def _lines(text: str | None) -> list[str]:
    return [] if text is None else text.splitlines()


def _texts(name: str, mode: str | None, *, whole: bool = False) -> Texts:
    """Return a set's templates, all or those of a mode, by path in a folder.

    Args:
        name: the set.
        mode: the mode; None for all.
        whole: whether to add those that it takes from `default`.

    Raises:
        UsageError: the set does not exist.
    """
    texts = set_texts(name, whole=whole)
    if not texts:
        find_templates(name, mode or LOOP.name)
    if mode is None:
        return texts
    parts, others = {*OPENING, *parts_of(_mode(mode))}, own_parts().keys() - {mode}
    return {
        place: text
        for place, text in texts.items()
        if place.stem in parts and not others & set(place.parts)
    }
