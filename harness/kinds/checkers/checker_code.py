"""Run a checker's functions in the sandbox, with the code that is appended to them."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from harness.excerpts import around
from harness.grading.sandbox_retry import RetryingWorker
from harness.judged_by import Checker
from harness.problem import Codec, Signature
from harness.sandbox.execution import Ending, Execution
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.trial import Trial
from harness.text import writable

EXCERPT = 160
LIMITS = Limits()
PATIENCE = 2
"""Number of time-outs after which a function is not called again."""

CONVERT, CHECK, CHECK_UNTOUCHED, IS_SOUND = (
    "harness_convert",
    "harness_check",
    "harness_check_untouched",
    "harness_is_sound",
)
"""Names of the functions that can be called; a `check` has the second and the last."""

_TIME_IS_UP = frozenset({Ending.CPU_LIMIT, Ending.WALL_LIMIT})
_SIGNATURES = {
    "hooks": Signature(arguments=(Codec.JSON, Codec.JSON, Codec.TAGGED)),
    "check": Signature(arguments=(Codec.JSON, Codec.JSON, Codec.TAGGED_LISTS)),
}

# Errors that no answer can cause in a correct checker.
_OWN_MISTAKES = (
    "NameError",
    "UnboundLocalError",
    "ImportError",
    "ModuleNotFoundError",
    "SyntaxError",
    "IndentationError",
)

# An evaluator may take a plain value as the result, or the nodes that lctk makes of it. The result
# of an in-place problem is its first argument. A node shared by two arguments cannot be sent to a
# solution, because arguments are sent one by one.
_HOOKS = """

def harness_convert(inputs, expected):
    arguments = list(convert_offline((inputs, expected))[0])
    nodes = [id(node) for argument in arguments for node in harness_nodes(argument)]
    if len(nodes) != len(set(nodes)):
        raise ValueError("its arguments share nodes, which cannot be handed to a solution")
    return arguments


def harness_nodes(value):
    found = {}
    waiting = [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, (list, tuple)):
            waiting += [item for item in value if hasattr(item, "val")]
        elif hasattr(value, "val") and id(value) not in found:
            found[id(value)] = value
            waiting += [getattr(value, name, None) for name in ("next", "left", "right")]
    return found.values()


def harness_check(inputs, expected, answer):
    _, expected = convert_offline((inputs, expected))
    outputs, left = answer
    return bool(evaluate_offline(tuple(left), outputs, expected))


def harness_check_untouched(inputs, expected, answer):
    if not harness_accepts_expected(inputs, expected, in_place=False):
        return True
    arguments, expected = convert_offline((inputs, expected))
    return bool(evaluate_offline(tuple(arguments), answer[0], expected))


def harness_is_sound(inputs, expected):
    ways = (False, True)
    return any(True for way in ways for _ in harness_verdicts_on_expected(inputs, expected, way))


def harness_accepts_expected(inputs, expected, in_place):
    return any(harness_verdicts_on_expected(inputs, expected, in_place))


def harness_verdicts_on_expected(inputs, expected, in_place):
    for make in (
        lambda value: value,
        lctk.linkedList,
        lctk.binaryTree,
        lambda values: [lctk.linkedList(value) for value in values],
        lambda values: [lctk.binaryTree(value) for value in values],
    ):
        try:
            arguments, wanted = convert_offline((inputs, expected))
            outputs = make(expected)
            arguments = (outputs, *arguments[1:]) if in_place else tuple(arguments)
            verdict = evaluate_offline(arguments, outputs, wanted)
        except Exception:
            continue
        yield verdict
"""
_CHECK = """

harness_check = check


def harness_is_sound(input, expected):
    for answer in (expected, "", "0", "1", input, None, 0, 1, [], {}):
        try:
            if isinstance(check(input, expected, answer), (bool, str)):
                return True
        except Exception:
            continue
    return False
"""


class CheckerFailure(NamedTuple):
    """Reason why a checker's function returned nothing, in one bounded line.

    Attributes:
        own: whether it is the checker's own mistake, independent of the answer.
    """

    why: str
    own: bool = False


@dataclass(frozen=True, slots=True)
class CheckerCode:
    """Functions of a checker.

    Attributes:
        bench: worker of its processes; none of them ever holds the solution.
        overdue: number of time-outs of each function.
    """

    bench: RetryingWorker
    checker: Checker
    overdue: Counter[str] = field(default_factory=Counter[str])

    def ask(self, function: str, calls: Sequence[tuple[str, ...]]) -> list[Any]:
        """Return the result of a function for each call.

        All calls are made in one process, each with a fresh namespace; one that fails there is
        repeated once, alone.

        Args:
            function: one of the names above.
            calls: arguments of each call, a line of JSON each: the test's two and, in the sandbox's
                notation, the answer.

        Returns:
            For each call the result in the sandbox's notation, or a Failure.

        Raises:
            SandboxError: the sandbox failed.
        """
        program = Program(
            self.checker.code + (_HOOKS if self.checker.kind == "hooks" else _CHECK),
            self.checker.preamble,
            function,
            _SIGNATURES[self.checker.kind],
        )
        inputs = ["\n".join(arguments) for arguments in calls]
        with self.bench.worker.on(Trial(program, inputs, LIMITS)) as trial:
            return self._answers(trial, function)

    def _answers(self, trial: Trial, function: str) -> list[Any]:
        inputs = trial.inputs
        answers: list[Any] = []
        while len(answers) < len(inputs) and self.overdue[function] < PATIENCE:
            executions = self.bench.execute(trial, range(len(answers), len(inputs)))
            if executions[0].ending is Ending.CANNOT_COMPILE:
                return [_read(executions[0])] * len(inputs)
            for place, execution in enumerate(executions):
                answer = _read(execution)
                if (
                    isinstance(answer, CheckerFailure) and place
                ):  # an earlier call may have caused it
                    again = self.bench.execute(trial, [len(answers)])[0]
                    answer, execution = _read(again), again  # noqa: PLW2901 - it replaces the first
                answers.append(answer)
                self.overdue[function] += execution.ending in _TIME_IS_UP
        given_up = CheckerFailure("it runs out of time, and is asked no more")
        return answers + [given_up] * (len(inputs) - len(answers))


def _read(execution: Execution) -> Any:
    if execution.ending is not Ending.FINISHED:
        lines = execution.error.strip().splitlines()
        why = lines[-1] if lines else execution.ending.replace("_", " ")
        if why.endswith(f"Solution method {CHECK!r}"):
            why = "its 'check' is not a function"
        return CheckerFailure(writable(around(why, 0, EXCERPT)), own=why.startswith(_OWN_MISTAKES))
    if execution.result is None:
        return CheckerFailure("its process ended before it returned")
    try:
        return json.loads(execution.result)
    except (ValueError, RecursionError):
        return CheckerFailure("it wrote on the judge's own channel")
