"""`harness serve`: judge solutions over HTTP."""

import os
from collections.abc import Mapping
from typing import Annotated, Any

import typer

from harness.cli.settings_flags import JUDGING, with_settings
from harness.cli.shared_flags import ServedProblems


@with_settings(*JUDGING, "cpp_flags", "skip_bad_rows")
def serve(
    settings: Mapping[str, Any],
    *,
    problems: ServedProblems = None,
    host: Annotated[
        str, typer.Option(help="Address to listen on; any but this machine's own needs a token.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535, help="Port; 0: any that is free.")] = 8080,
    token_env: Annotated[
        str,
        typer.Option(metavar="NAME", help="Environment variable that holds the token."),
    ] = "HARNESS_SERVE_TOKEN",  # noqa: S107 - a variable's name
    max_requests: Annotated[
        int, typer.Option(min=1, help="Most requests at a time, waiting ones included.")
    ] = 1_024,
    max_body: Annotated[
        int, typer.Option(min=1, metavar="MIB", help="Largest request, in MiB.")
    ] = 64,
    queue_timeout: Annotated[
        float,
        typer.Option(min=0.0, metavar="S", help="Most seconds that a request waits for a worker."),
    ] = 300.0,
) -> None:
    """Serve the judge over HTTP: SandboxFusion's /run_code, /grade, /health and /metrics.

    Ctrl-C ends it once what is under way has been answered; a second one ends it at once.
    """
    from harness.features.serve.app import ServerLimits
    from harness.features.serve.server import ServerSettings, check_access
    from harness.features.serve.server import serve as serve_judge
    from harness.grading.rules import find_rule
    from harness.run.settings.spec import read_spec

    token = os.environ.get(token_env) or None
    check_access(host, token, token_env)
    spec = read_spec(None, settings)
    if spec.rule is not None:
        find_rule(spec.rule)
    bounds = ServerLimits(requests=max_requests, body_bytes=max_body << 20, wait_s=queue_timeout)
    configuration = ServerSettings(spec, problems or (), host, port, token, bounds)
    serve_judge(configuration, lambda line: typer.echo(line, err=True))
