'''Test inputs made by a data set's own generator, which runs only in the sandbox.

Mercury's `generator_code` defines

    def generate_test_case():
        """Return random arguments of one call."""

The form of its result is not documented, so every form that fits the entry point is accepted:

- the arguments, as a tuple or list with an item for each parameter;
- for one parameter, the value itself;
- `(inputs, expected)` or `(inputs,)`, where `inputs` are the arguments; `expected` is ignored.

If several forms fit (a list of one list may be a value or the arguments), the one is chosen in
which the arguments are nested as deeply as in the problem's tests. Linked lists and trees become
lists, as in the tests: the hooks make nodes of them.
'''

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from harness.grading.sandbox_retry import RetryingWorker
from harness.problem import Problem
from harness.sandbox.limits import MEBIBYTE, Limits
from harness.sandbox.program import Ending, Execution, Opaque, Program, Trial, decode
from harness.sandbox.worker import Worker
from harness.text import around, writable

EXCERPT = 160
LARGEST_BYTES = 8 * MEBIBYTE
"""Most bytes of a call's result, as the sandbox encodes it; 1 MB is known."""
PATIENCE = 2
"""Time-outs after which a program is not run again."""
LOOKED_AT = 20
"""Number of a problem's tests examined for the nesting of its arguments."""

_TIME_IS_UP = frozenset({Ending.CPU_LIMIT, Ending.WALL_LIMIT})
_STRING_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]]')
_PREAMBLE = "\nimport random\n"
_SEED_NUMPY = """
    import numpy
    numpy.random.seed(seed % 2**32)
"""
_GENERATE = """

def harness_generate(seed, depths):
    import random
    random.seed(seed){seed_numpy}
    return harness_arguments(generate_test_case(), depths)


def harness_arguments(made, depths):
    if depths is None:
        return list(made) if isinstance(made, tuple) else [made]
    count = len(depths)
    ways = [[made]] if count == 1 else []
    if isinstance(made, (list, tuple)):
        ways.append(list(made))
        if len(made) in (1, 2) and isinstance(made[0], (list, tuple)):
            ways.append(list(made[0]))
    ways = [way for way in ways if len(way) == count]
    for way in ways:
        if [harness_depth(argument) for argument in way] == depths:
            return way
    if count == 1 and isinstance(made, tuple) and len(made) == 1:
        return list(made)
    if not ways:
        parameters = "1 parameter" if count == 1 else f"{{count}} parameters"
        kind = type(made).__name__
        length = f" of {{len(made)}}" if isinstance(made, (list, tuple)) else ""
        raise ValueError(f"it returned a {{kind}}{{length}} for {{parameters}}")
    return ways[0]


def harness_depth(value):
    if isinstance(value, (list, tuple)):
        return 1 + max(map(harness_depth, value), default=0)
    return int(hasattr(value, "val"))
"""


@dataclass(frozen=True, slots=True)
class Generated:
    """Result of one call of a generator.

    Attributes:
        seed: seed of the call.
        input: the input in the form of a test's: a line of JSON for each argument. Empty after a
            failure, and for a function without parameters.
        failure: one bounded line on why there is no input; empty if there is one.
    """

    seed: int
    input: str = ""
    failure: str = ""


def generated_inputs(
    worker: Worker, problem: Problem, count: int, seed: int, limits: Limits
) -> list[Generated]:
    """Make inputs with a problem's generator; the same seed makes the same inputs.

    Args:
        worker: worker that runs the generator; no solution is in its process.
        problem: the problem; without a generator the result is empty.
        count: number of calls.
        seed: seed of the first call; each later one has the next number.
        limits: limits of a call.

    Returns:
        A result for each call. Errors of a generator are never raised.

    Raises:
        DataError: the problem's tests cannot be decoded.
        SandboxError: the sandbox failed.
    """
    if not problem.generator.strip():
        return []
    seed_numpy = _SEED_NUMPY if "numpy" in problem.generator else ""
    program = Program(
        problem.generator + _GENERATE.format(seed_numpy=seed_numpy),
        problem.preamble + _PREAMBLE,
        "harness_generate",
    )
    depths = json.dumps(_depths(problem))
    seeds = range(seed, seed + count)
    executions = run_each(worker, program, [f"{each}\n{depths}".encode() for each in seeds], limits)
    return [_read(*pair) for pair in zip(seeds, executions, strict=True)]


def run_each(
    worker: Worker, program: Program, inputs: Sequence[str | bytes], limits: Limits
) -> list[Execution | None]:
    """Run a function on inputs in one process; a failure is confirmed by a run alone.

    Returns:
        An execution for each input; None for inputs not run after too many time-outs.

    Raises:
        SandboxError: the sandbox failed.
    """
    bench, overdue = RetryingWorker(worker), 0
    limits = replace(limits, output_bytes=min(limits.output_bytes, LARGEST_BYTES))
    done: list[Execution | None] = []
    with worker.on(Trial(program, inputs, limits)) as trial:
        while len(done) < len(inputs) and overdue < PATIENCE:
            executions = bench.execute(trial, range(len(done), len(inputs)))
            for place, execution in enumerate(executions):
                if place and execution.result is None:  # maybe due to earlier ones
                    execution = bench.execute(trial, [len(done)])[0]  # noqa: PLW2901 - it replaces the first
                done.append(execution)
                overdue += execution.ending in _TIME_IS_UP
            if executions[0].ending is Ending.CANNOT_COMPILE:
                return [executions[0]] * len(inputs)
    return done + [None] * (len(inputs) - len(done))


def complaint(execution: Execution | None) -> str:
    """Say in one bounded line why an execution has no result."""
    if execution is None:
        return "it runs out of time, and is run no more"
    lines = execution.error.strip().splitlines()
    if lines:
        return writable(around(lines[-1], 0, EXCERPT))
    if execution.ending is Ending.FINISHED:
        return "its process ended before it returned"
    return execution.ending.replace("_", " ")


def as_json(value: object) -> str:
    """Return a value from the sandbox as JSON on one line.

    Raises:
        ValueError: JSON has no such value.
    """
    try:
        _check(value)
        return json.dumps(value)
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _check(value: object) -> None:
    match value:
        case list():
            for item in cast("list[object]", value):
                _check(item)
        case dict():
            for key, item in cast("dict[object, object]", value).items():
                if not isinstance(key, str):
                    raise ValueError(f"a key that is no string: {key!r:.60}")  # noqa: TRY004
                _check(item)
        case None | str() | int() | float():
            pass
        case Opaque(name):
            raise ValueError(f"a {name} is no JSON value")
        case _:
            raise ValueError(f"a {type(value).__name__} is no JSON value")


def _read(seed: int, execution: Execution | None) -> Generated:
    if execution is None or execution.result is None:
        return Generated(seed, failure=complaint(execution))
    try:
        arguments: Any = decode(execution.result)
        if not isinstance(arguments, list):
            raise ValueError("it wrote on the judge's own channel")  # noqa: TRY004, TRY301 - as the rest
        lines = [as_json(argument) for argument in cast("list[object]", arguments)]
    except ValueError as error:
        return Generated(seed, failure=writable(around(str(error), 0, EXCERPT)))
    return Generated(seed, "\n".join(lines))


def _depths(problem: Problem) -> list[int] | None:
    """Return each argument's nesting in the tests; -1 if only their number is known."""
    calls = [_depths_of(test.input) for test in problem.tests.all()[:LOOKED_AT]]
    if calls:
        return [max(depths) for depths in zip(*calls, strict=False)]
    codecs = problem.signature.arguments
    return [-1] * len(codecs) if codecs else None


def _depths_of(arguments: str) -> list[int]:
    return [_depth(line) for line in arguments.split("\n") if line.strip()]


def _depth(text: str) -> int:
    deepest = depth = 0
    for bracket in _STRING_OR_BRACKET.findall(text):
        depth += {"[": 1, "]": -1}.get(bracket, 0)
        deepest = max(deepest, depth)
    return deepest
