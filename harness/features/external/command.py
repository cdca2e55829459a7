"""`harness mcp`: the tools as an MCP server, for an agent that comes by itself."""

from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from harness.cli import mode_flags, problem_flags
from harness.cli.options import option

ANYWHERE = "127.0.0.1:0"
HTTP = "--http"
NO_KEYS = ("problem", "http", "out", "config", "name")


class McpCommand(TyperCommand):
    """A command with an option whose value may be left out."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put in what stands for a `--http` by itself."""
        given: list[str] = []
        for word, following in zip(args, [*args[1:], "--"], strict=True):
            given.append(word)
            if word == HTTP and following.startswith("-"):
                given.append(ANYWHERE)
        return super().parse_args(ctx, given)


def mcp(  # noqa: PLR0917 - the flags of a command
    problem: Annotated[
        str, option("--problem", help="The problem: full id, native id or slug.", panel="Problems")
    ],
    benchmark: problem_flags.Benchmark = None,
    http: Annotated[
        str | None,
        option(
            HTTP,
            help="Serve over HTTP instead of stdin and stdout, on this machine by itself, any free "
            "port; the address and its key are said on stderr.",
            panel="Server",
            metavar="[HOST:PORT]",
        ),
    ] = None,
    name: Annotated[
        str | None,
        option(
            "-m",
            "--model",
            help="What the agent's results are filed under.",
            panel="Agent of your own",
            metavar="NAME",
        ),
    ] = None,
    submit_tool: Annotated[
        bool | None,
        option(
            "--submit-tool/--no-submit-tool",
            help="Whether there is a fourth tool, by which the agent says that it is done (yes).",
            panel="Mode",
        ),
    ] = None,
    run_code_tool: mode_flags.RunCodeTool = None,
    tool: mode_flags.Tool = None,
    max_tool_calls: mode_flags.MaxToolCalls = None,
    prompt: mode_flags.Prompt = None,
    sample_timeout: mode_flags.SampleTimeout = None,
    sample_wall_timeout: mode_flags.SampleWallTimeout = None,
    out: Annotated[
        Path | None,
        option(
            "--out",
            help="The run directory; one that is there gets this problem as well. Default: a new "
            "one in runs/.",
            panel="Run",
        ),
    ] = None,
    config: Annotated[
        Path | None,
        option(
            "-c",
            "--config",
            help="A YAML file with keys of a run; flags win over it.",
            panel="Run",
            metavar="FILE",
        ),
    ] = None,
) -> None:
    """Serve one problem's tools to an agent over MCP, then grade what it wrote on all tests.

    The agent is done when it leaves, or submits. What it did is an ordinary run of one sample.
    """
    values = dict(locals())
    for key in NO_KEYS:
        values.pop(key)
    flags = problem_flags.given(**values)
    flags |= {"mode": "mcp", "submit_tool": submit_tool is not False}
    if name is not None:
        flags["model"] = name
    from harness.features.external.mcp_run import serve

    raise typer.Exit(serve(problem, flags, http=http, out=out, config=config))


mcp.command_class = McpCommand  # pyright: ignore[reportFunctionMemberAccess]
