"""The tools and earlier solutions that a strategy needs."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from harness.agent.strategies.strategies import own_tool
from harness.errors import RunDirectoryError, UsageError
from harness.problem import Problem
from harness.run.spec.spec import RunSpec
from harness.run.store.directory import RESULTS, read_manifest
from harness.run.store.results import read_results
from harness.run.store.transcript import sample_name
from harness.tools.run_code import RunCode
from harness.tools.submit import Submit
from harness.tools.toolbox import Tool, Toolbox


def toolbox_of(spec: RunSpec, usual: Sequence[Tool[Any]]) -> Toolbox:
    """Return the tools of a run: the usual, the requested, and the user's own ones.

    Raises:
        UsageError: a user's object is not a tool, or its name is already taken.
    """
    tools = list(usual)
    tools += [Submit()] * spec.submit_tool
    tools += [RunCode()] * spec.run_code_tool
    for path in spec.tool:
        own = own_tool(path)
        if own.name in {tool.name for tool in tools}:
            raise UsageError(f"--tool {path}: there is a tool {own.name!r} already")
        tools.append(own)
    return Toolbox(tools)


def earlier_solutions(spec: RunSpec, samples: Iterable[tuple[Problem, int]]) -> dict[str, str]:
    """Return the solutions to repair by sample name; empty if none are requested.

    Raises:
        RunDirectoryError: the directory is not a run, or lacks a solution of a sample.
    """
    if spec.repair_from is None:
        return {}
    path = Path(spec.repair_from)
    read_manifest(path)
    known = {(each.sample, each.problem_hash): each.code for each in read_results(path / RESULTS)}
    earlier: dict[str, str] = {}
    for problem, index in samples:
        sample = sample_name(problem.id, index)
        code = known.get((sample, problem.content_hash))
        if code is None:
            raise RunDirectoryError(
                f"--repair-from {path}: it has no solution of {sample}, as the problem is now; "
                "leave the sample out, or finish that run first"
            )
        earlier[sample] = code
    return earlier
