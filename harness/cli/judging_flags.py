"""The flags that say how solutions are judged: the same wherever many are."""

from typing import Annotated

import typer

Rule = Annotated[
    str | None,
    typer.Option(
        metavar="lcb|tokens|apps_legacy",
        help="How outputs are compared, in place of each problem's own way.",
    ),
]
TestTimeout = Annotated[float | None, typer.Option(metavar="S", help="CPU seconds per test.")]
Memory = Annotated[int | None, typer.Option(metavar="MIB", help="Memory of one test in MiB.")]
Workers = Annotated[
    int | None, typer.Option(metavar="N", help="Judging processes. Default: the cores.")
]
IsolateTests = Annotated[bool, typer.Option("--isolate-tests", help="A process for every test.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
