'''Inputs that a data set's own generator makes, run in the sandbox and nowhere else.

Mercury's `generator_code` defines

    def generate_test_case():
        """Return the arguments of one call, made at random."""

What exactly is returned is nowhere written down, so every way that suits the entry point is taken:

- the arguments, as a tuple or list of as many as it has parameters;
- for one parameter, the value itself;
- `(inputs, expected)` or `(inputs,)`, the first of which is the arguments; the second is let go.

Where several suit, as a list of one list may be a value or the arguments, the way counts in which
the arguments are nested as deeply as those of the problem's own tests. Linked lists and trees
become lists, as in the tests: the hooks make nodes of them.
'''

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from harness.grading.sandbox_retry import RetryingWorker
from harness.problem import Problem
from harness.sandbox.limits import MEBIBYTE, Limits
from harness.sandbox.program import Ending, Execution, Program
from harness.sandbox.result_values import Opaque, decode
from harness.sandbox.trial_input import Trial
from harness.sandbox.worker import Worker
from harness.text import around, writable

EXCERPT = 160
LARGEST_BYTES = 8 * MEBIBYTE
"""Of what one call makes, in the sandbox's notation; the largest input known has 1 MB."""
PATIENCE = 2
"""So often may a program run out of time before it is run no more."""
LOOKED_AT = 20
"""So many of a problem's tests say how deeply its arguments are nested."""

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
    """What came of one call of a generator.

    Attributes:
        seed: of this call.
        input: as a test has it: a line of JSON for each argument. Empty after a failure, and for a
            function without parameters.
        failure: why there is none, in one bounded line.
    """

    seed: int
    input: str = ""
    failure: str = ""


def generated_inputs(
    worker: Worker, problem: Problem, count: int, seed: int, limits: Limits
) -> list[Generated]:
    """Inputs that a problem's generator makes; the same for the same seed.

    Args:
        worker: where it runs; no solution is in its process.
        problem: with a generator; without one there is nothing.
        count: how many calls.
        seed: of the first call; each later one has the next number.
        limits: of a call.

    Returns:
        One for each call. What a generator does is never raised.

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
    worker: Worker, program: Program, inputs: Sequence[bytes], limits: Limits
) -> list[Execution | None]:
    """Run a function on inputs, in one process as far as it goes; a failure there is run alone.

    Returns:
        One for each input; None from where it ran out of time too often.

    Raises:
        SandboxError: the sandbox failed.
    """
    bench, overdue = RetryingWorker(worker), 0
    limits = replace(limits, output_bytes=min(limits.output_bytes, LARGEST_BYTES))
    done: list[Execution | None] = []
    with Trial(program, inputs, limits) as trial:
        try:
            while len(done) < len(inputs) and overdue < PATIENCE:
                executions = bench.execute(trial, range(len(done), len(inputs)))
                for place, execution in enumerate(executions):
                    if place and execution.result is None:  # what went before may have spoilt it
                        execution = bench.execute(trial, [len(done)])[0]  # noqa: PLW2901 - it counts
                    done.append(execution)
                    overdue += execution.ending in _TIME_IS_UP
                if executions[0].ending is Ending.CANNOT_COMPILE:
                    return [executions[0]] * len(inputs)
        finally:
            worker.leave(trial)
    return done + [None] * (len(inputs) - len(done))


def complaint(execution: Execution | None) -> str:
    """Why an execution has no result, in one bounded line."""
    if execution is None:
        return "it runs out of time, and is run no more"
    lines = execution.error.strip().splitlines()
    if lines:
        return writable(around(lines[-1], 0, EXCERPT))
    if execution.ending is Ending.FINISHED:
        return "its process ended before it returned"
    return execution.ending.replace("_", " ")


def as_json(value: object) -> str:
    """A value that the sandbox handed out, as JSON on one line.

    Raises:
        ValueError: it is no JSON value.
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
                _check_key(key)
                _check(item)
        case None | str() | int() | float():
            pass
        case Opaque(name):
            raise ValueError(f"a {name} is no JSON value")
        case _:
            raise ValueError(f"a {type(value).__name__} is no JSON value")


def _check_key(key: object) -> None:
    match key:
        case str():
            pass
        case _:
            raise ValueError(f"a key that is no string: {key!r:.60}")


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
    """How deeply each argument is nested in the tests; -1 where only their number is known."""
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
