"""The flags that say how solutions are judged: the same wherever many are."""

from typing import Annotated, Any

import typer

from harness.cli import completion

Rule = Annotated[
    str | None,
    typer.Option(
        metavar="lcb|equality|tokens|apps_legacy|NAME",
        autocompletion=completion.rules,
        help="How outputs are compared, in place of each problem's own way.",
    ),
]
TestSeconds = Annotated[float | None, typer.Option(metavar="S", help="CPU seconds per test.")]
TestTimeout = Annotated[
    str | None,
    typer.Option(
        metavar="S|reference*F",
        help="CPU seconds per test, or so many times what a problem's own reference needs, once "
        "`harness verify` has run.",
    ),
]
Memory = Annotated[int | None, typer.Option(metavar="MIB", help="Memory of one test in MiB.")]
WallTimeout = Annotated[
    float | None,
    typer.Option(
        metavar="S", help="Wall seconds per test, for sleepers. Default: from the CPU seconds."
    ),
]
AllTests = Annotated[
    bool | None,
    typer.Option(
        "--all-tests/--fail-fast",
        help="Run every test, or none after a failure. Default: none after a limit was hit, or "
        "after a failure where there are more than 100.",
    ),
]
RequireIsolation = Annotated[
    str,
    typer.Option(
        metavar="LEVEL", help="Refuse a sandbox weaker than this: namespaces, landlock, seccomp."
    ),
]
Unsafe = Annotated[
    bool,
    typer.Option("--unsafe-no-sandbox", help="Run where no sandbox can be had; marks all results."),
]
Workers = Annotated[
    int | None, typer.Option(metavar="N", help="Judging processes. Default: the cores.")
]
IsolateTests = Annotated[bool, typer.Option("--isolate-tests", help="A process for every test.")]
OptIsolateTests = Annotated[
    bool | None, typer.Option("--isolate-tests", help="A process for every test.")
]
Executor = Annotated[
    str,
    typer.Option(metavar="local|ray", help="Judge here, or on all nodes of a Ray cluster."),
]
RayAddress = Annotated[
    str | None,
    typer.Option(
        metavar="auto|HOST:PORT",
        help="The Ray cluster: the one that this machine is part of (auto), or that at an address.",
    ),
]
Timing = Annotated[
    str,
    typer.Option(
        metavar="paired|mercury",
        help="How solutions are timed: in turns with references, or by Mercury's protocol.",
    ),
]
OptTiming = Annotated[
    str | None,
    typer.Option(
        metavar="paired|mercury",
        help="How: in turns with references (default), or by Mercury's protocol.",
    ),
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

_NAMES = {
    **dict.fromkeys(("rule", "test_timeout", "wall_timeout", "memory", "workers", "all_tests")),
    "isolate_tests": False,
    "unsafe_no_sandbox": False,
    "ray_address": None,
    "require_isolation": "landlock",
    "executor": "local",
}
"""The flags of judging, with the value that each has where it is not given."""


def among(flags: dict[str, Any]) -> dict[str, Any]:
    """Return the flags of a command that are judging settings and that were given."""
    return {
        name: flags[name] for name, usual in _NAMES.items() if flags.get(name) not in (None, usual)
    }
