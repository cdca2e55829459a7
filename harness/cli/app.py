"""The commands and what `harness --help` says of them.

Only what the help needs is imported here: each command imports the rest when it runs.
"""

import typer

from harness.cli import (
    calibrate,
    compare,
    doctor,
    export,
    fetch,
    importing,
    models,
    pack,
    problems,
    prompts,
    regrade,
    report,
    schema,
    transcript,
    verify,
)
from harness.features.evaluate import command as run
from harness.features.experiment import command as experiment
from harness.features.external import command as mcp
from harness.features.grade import command as grade
from harness.features.info import plugins
from harness.features.show import command as show
from harness.features.show import ls_command as ls
from harness.features.storage import command as merge
from harness.features.viewer import command as view
from harness.version import __version__

app = typer.Typer(
    name="harness",
    help="Measures how well a language model programs, and how much better when it may iterate.",
    no_args_is_help=True,
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


app.command("run")(run.run)
app.command("mcp", cls=mcp.McpCommand)(mcp.mcp)
app.command("models")(models.models)
app.command("problems")(problems.problems)
app.add_typer(prompts.app, name="prompts")
app.command("show")(show.show)
app.command("ls")(ls.ls)
app.command("transcript")(transcript.transcript)
app.command("merge")(merge.merge)
app.command("pack")(pack.pack)
app.command("grade")(grade.grade)
app.command("import")(importing.import_)
app.command("regrade")(regrade.regrade)
app.command("report")(report.report)
app.command("view")(view.view)
app.command("verify")(verify.verify)
app.command("calibrate")(calibrate.calibrate)
app.command("export")(export.export)
app.command("compare")(compare.compare)
app.add_typer(experiment.app, name="experiment")
app.command("fetch")(fetch.fetch)
app.command("doctor")(doctor.doctor)
app.command("schema")(schema.schema)
app.command("plugins")(plugins.plugins)
