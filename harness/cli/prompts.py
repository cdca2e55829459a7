"""`harness prompts`: which prompt sets there are, what they say, and whether one works."""

from pathlib import Path
from typing import Annotated

import typer

from harness.cli import completion as completing
from harness.cli import problem_flags as selecting

app = typer.Typer(
    help="List, look at, try and check prompt sets.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
Set = Annotated[
    str,
    typer.Argument(
        autocompletion=completing.prompts,
        metavar="SET",
        help="A bundled set, or the folder of your own.",
    ),
]
Mode = Annotated[
    str, typer.Option("--mode", metavar="MODE", help="Whose templates, as for `harness run`.")
]


@app.command("list")
def list_sets(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON array.")] = False,
) -> None:
    """List the bundled sets: for which mode and kinds of problems each is, and what it says."""
    from harness.features.info.prompts import show_sets

    show_sets(as_json=as_json)


@app.command("show")
def show(
    name: Set,
    mode: Mode = "single_shot",
    kind: Annotated[
        str,
        typer.Option(
            metavar="KIND", help="code_generation, test_output_prediction or code_execution."
        ),
    ] = "code_generation",
) -> None:
    """Print a set's templates as they are, and the hash that runs know them by."""
    from harness.features.info.prompts import show_templates

    show_templates(name, mode, kind)


@app.command("render")
def render(
    name: Set,
    problem: Annotated[
        str, typer.Argument(metavar="PROBLEM", help="A problem's id, of --benchmark or bundled.")
    ],
    mode: Mode = "single_shot",
    benchmark: selecting.Benchmark = None,
    source: selecting.Source = None,
) -> None:
    """Print the messages that a model would get for a problem; nothing is sent."""
    flags = selecting.given(benchmark=benchmark, source=source, task=[problem])
    from harness.features.info.prompts import show_messages

    show_messages(name, mode, flags)


@app.command("check")
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
    from harness.features.info.prompts import check_set

    check_set(name, mode)


@app.command("copy")
def copy(
    name: Set,
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="A new folder, for `--prompt DIR`.")
    ],
) -> None:
    """Copy a set's templates into a folder, to change them there."""
    from harness.features.info.prompt_copies import copy_set

    copy_set(name, folder)


@app.command("diff")
def diff(
    one: Annotated[
        str, typer.Argument(autocompletion=completing.prompts, metavar="A", help="A set.")
    ],
    other: Annotated[
        str, typer.Argument(autocompletion=completing.prompts, metavar="B", help="Another set.")
    ],
) -> None:
    """Print how the templates of set B differ from those of set A."""
    from harness.features.info.prompt_copies import diff_sets

    diff_sets(one, other)
