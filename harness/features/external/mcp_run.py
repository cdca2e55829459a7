"""`harness mcp`: a run of one sample whose agent connects from outside.

If stdin and stdout carry the protocol, all messages for people go to stderr.
"""

import json
import os
import shlex
from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from rich.console import Console

from harness.errors import INFRASTRUCTURE, INTERRUPTED, OK, UsageError
from harness.features.external.http import PATH, HttpHost, config_of, new_key
from harness.features.external.modes import MCP
from harness.features.external.session import External
from harness.features.external.stdio import StdioHost
from harness.figures import words
from harness.http_server import LOOPBACK, address_of, listen
from harness.problem import Problem
from harness.run.engine.controller import RunController
from harness.run.engine.engine import Engine
from harness.run.engine.lifecycle import PreparedRun
from harness.run.plan.plan import Plan
from harness.run.settings.given import Given
from harness.run.settings.spec import known_keys, read_spec
from harness.run.store.directory import MANIFEST, RESULTS, default_path, read_manifest
from harness.run.store.results import read_results
from harness.sources.selection import Selection, select
from harness.terminal.consoles import console
from harness.terminal.progress import TerminalReporter
from harness.terminal.run_progress import run_progress
from harness.text import printable_line

MOST_PORTS = 65_535
KEY = "HARNESS_MCP_TOKEN"
SHORTEST_KEY = 16


class _Controller(RunController):
    """Treats the first interrupt as the agent leaving, if it wrote a solution."""

    host: StdioHost | HttpHost | None = None

    def _interrupt(self, engine: Engine) -> None:
        if self.interrupts == 0 and self.host is not None and self.host.leave():
            return
        super()._interrupt(engine)


def serve(
    problem: str,
    flags: Given,
    *,
    http: str | None,
    out: Path | None,
    config: Path | None,
) -> int:
    """Serve one problem until the agent is done, then grade it; return the exit code.

    Args:
        problem: id of the problem.
        flags: settings given on the command line.
        http: host and port to serve at; None for stdin and stdout.
        out: the run directory.
        config: a YAML file with further settings.

    Raises:
        HarnessError: see `harness.run.plan.plan.prepare`.
    """
    err = console(error=True)
    controller = _Controller(TerminalReporter(err), run_progress(err))
    prepared = _prepared(controller, problem, flags, out, config)
    plan = prepared.plan
    ids = {each.id for each in _named(plan, problem)}
    path = out or default_path(plan.spec.mode, plan.model_name)
    controller.announce(prepared)
    if not prepared.samples:
        err.print(f"{printable_line(problem)} is graded already; choose another --out")
        return _told(err, path, ids)
    if http is None:
        host = controller.host = StdioHost(0, 1)
    else:
        bound, key = listen_at(http), key_of(os.environ)
        host = controller.host = HttpHost(bound, key)
        err.print("an agent may connect, until it submits or Ctrl-C ends this:", soft_wrap=True)
        err.print(json.dumps(config_of(address_of(bound) + PATH, key)), soft_wrap=True)
    prepared = prepared._replace(plan=replace(plan, strategy=External(host)))
    outcome = controller.carry_out(prepared, path)
    if outcome.failures:
        cause = printable_line(outcome.failures[0].cause)
        again = f"harness mcp --problem {shlex.quote(problem)} --out {shlex.quote(str(path))}"
        err.print(f"not graded: {cause}; go on with: {printable_line(again)}", soft_wrap=True)
        return INFRASTRUCTURE
    if controller.interrupts and outcome.summary.pending:
        err.print("interrupted before there was a solution: nothing is graded")
        return INTERRUPTED
    return _told(err, path, ids)


def _prepared(
    controller: RunController,
    problem: str,
    flags: Given,
    out: Path | None,
    config: Path | None,
) -> PreparedRun:
    """Prepare a new run of the problem, or an existing one extended by it."""
    if out is None or not (out / MANIFEST).exists():
        return controller.new(read_spec(config, flags.with_flags(task=(problem,))))
    before = read_manifest(out)
    if before["spec"].get("mode") != MCP.name:
        raise UsageError(f"--out {out}: that run is none of `harness mcp`; choose another")
    tasks = dict.fromkeys((*before["spec"]["task"], problem))
    own = Given(known_keys(before["spec"]), {})
    spec = read_spec(config, flags.with_flags(task=tuple(tasks)).over(own))
    prepared = controller.further(out, spec, before)
    wanted = _named(prepared.plan, problem)
    return prepared._replace(samples=[s for s in prepared.samples if s[0] in wanted])


def _named(plan: Plan, problem: str) -> tuple[Problem, ...]:
    """Return the run's problem with this name."""
    return select(plan.problems, Selection(tasks=(problem,))).problems


def listen_at(place: str) -> Any:
    """Return a socket that listens at `HOST:PORT`, `HOST`, `:PORT` or `PORT`.

    Without a host it listens on the loopback address.

    Raises:
        UsageError: the address is malformed or in use.
    """
    host, colon, port = place.rpartition(":") if not place.isdigit() else ("", ":", place)
    if not colon:
        host, port = place, "0"
    host = host.strip("[]") or LOOPBACK
    if not (port.isdigit() and int(port) <= MOST_PORTS):
        raise UsageError(f"--http {place}: give HOST:PORT, with a port of at most {MOST_PORTS}")
    try:
        return listen(host, int(port))
    except OSError as error:
        raise UsageError(f"--http {place}: {error.strerror or error}; choose another") from error


def key_of(environ: Mapping[str, str]) -> str:
    """Return the key from the environment, or a new one.

    Raises:
        UsageError: the environment's key is too short, or has characters that cannot be sent.
    """
    key = environ.get(KEY)
    if key is None:
        return new_key()
    if len(key) < SHORTEST_KEY or not key.isascii() or not key.isprintable() or " " in key:
        raise UsageError(f"{KEY}: give {SHORTEST_KEY} letters and digits or more, without spaces")
    return key


def _told(err: Console, path: Path, ids: Collection[str]) -> int:
    """Print the problem's verdict and the run directory; return the exit code."""
    for result in read_results(path / RESULTS):
        if result.problem_id in ids:
            passed, total = (
                result.public_passed + result.hidden_passed,
                result.public_total + result.hidden_total,
            )
            err.print(
                f"verdict: {words(result.verdict)}, tests {passed} of {total}; stopped by: "
                f"{words(result.stop_reason)}"
            )
    err.print(f"run directory: {path}")
    return OK
