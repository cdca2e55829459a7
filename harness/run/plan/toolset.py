"""Build the tools and the earlier solutions that a strategy needs."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from harness.agent.strategies.user_strategy import own_tool
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
    """The tools of a run: the usual ones, those that were asked for, and the user's own.

    Raises:
        UsageError: one of the user's is no tool, or has the name of another.
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
    """The solutions that are to be repaired, by the sample's name; empty where there are none.

    Raises:
        RunDirectoryError: what is named is no run, or has no solution of one of the samples.
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
