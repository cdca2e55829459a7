"""The command `harness mcp`: serve the tools over MCP to an agent."""

from itertools import zip_longest
from pathlib import Path
from typing import Annotated, Any

import typer

from harness.cli.help_page import HelpCommand
from harness.cli.settings_flags import with_settings
from harness.cli.shared_flags import with_progress_flags
from harness.run.settings.given import Given

ANYWHERE = "127.0.0.1:0"
HTTP = "--http"


class McpCommand(HelpCommand):
    """A command whose option `--http` may have no value."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert the default value after a `--http` without one."""
        given: list[str] = []
        for word, following in zip_longest(args, args[1:], fillvalue="--"):
            given.append(word)
            if word == HTTP and following.startswith("-"):
                given.append(ANYWHERE)
        return super().parse_args(ctx, given)


@with_settings(
    *("benchmark", "run_code_tool", "tool", "max_tool_calls", "prompt"),
    *("sample_timeout", "sample_wall_timeout"),
)
@with_progress_flags
def mcp(
    settings: Given,
    *,
    problem: Annotated[
        str,
        typer.Option(
            "-t",
            "--task",
            "--problem",
            help="The problem: full id, native id or slug.",
            rich_help_panel="Problems",
        ),
    ],
    http: Annotated[
        str | None,
        typer.Option(
            HTTP,
            help="Serve over HTTP instead of stdin and stdout. Default: this machine only, any "
            "free port. The address and its key are printed on stderr.",
            rich_help_panel="Server",
            metavar="[HOST:PORT]",
        ),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(
            "-m",
            "--model",
            help="Name that the agent's results are filed under.",
            rich_help_panel="Agent of your own",
            metavar="NAME",
        ),
    ] = None,
    submit_tool: Annotated[
        bool | None,
        typer.Option(
            "--submit-tool/--no-submit-tool",
            help="Offer a fourth tool, with which the agent ends its attempt, or do not.",
            rich_help_panel="Mode",
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "-o",
            "--out",
            help="Run directory; an existing one gets this problem too. Default: a new one in "
            "runs/.",
            rich_help_panel="Run",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        typer.Option(
            "-c",
            "--config",
            help="A YAML file with keys of a run; flags win over it.",
            rich_help_panel="Run",
            metavar="FILE",
        ),
    ] = None,
) -> None:
    """Serve one problem's tools to an agent over MCP, then grade what it wrote on all tests.

    The agent is done when it leaves, or submits. What it did is an ordinary run of one sample.
    """
    flags = settings.with_flags(mode="mcp", submit_tool=submit_tool is not False)
    if name is not None:
        flags = flags.with_flags(model=name)
    from harness.features.external.mcp_run import serve

    raise typer.Exit(serve(problem, flags, http=http, out=out, config=config))


mcp.command_class = McpCommand  # pyright: ignore[reportFunctionMemberAccess]
