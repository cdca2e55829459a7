"""`harness schema`: the JSON Schema of what the harness writes and reads."""

from typing import Annotated

import typer

from harness.cli import completion as completing


def schema(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            autocompletion=completing.schemas,
            help="result (a line of results.jsonl), transcript (a line of one), spec (a YAML file "
            "of -c), summary (run --json), comparison (compare --json), estimate (run --dry-run "
            "--json) or event (what observers are told).",
        ),
    ],
) -> None:
    """Print the JSON Schema of what other programs read, or write for `-c`.

    Within one schema_version keys are only ever added.
    """
    import json

    from harness.features.info.schema import schema as found
    from harness.terminal.summary_table import console, write_json

    write_json(console(), [json.dumps(found(name), indent=2)])
