"""Check the arguments of `evaluate` and convert them to a spec."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, cast

from harness.agent.strategies.external_names import COMES, EXTERNAL
from harness.errors import UsageError
from harness.models.protocol import Model
from harness.models.providers import REFERENCES
from harness.models.user_code import model_of
from harness.run.plan.problem_loader import Benchmark, checked, name_of
from harness.run.spec.keys import RunKeys, spec_from
from harness.run.spec.spec import RunSpec

MERCURY = "mercury"
SPLIT = "eval"
PREFIX = "python:"

SolutionFunction = Callable[[dict[str, Any]], str | Awaitable[str]]
"""Function from a problem, without hidden tests, to code or text with code."""


@dataclass(frozen=True, slots=True)
class EvaluateArguments:
    """The checked arguments of `evaluate`.

    Attributes:
        spec: settings of the run.
        benchmark: name of the benchmark, or loaded problems.
        own_model: the user's function as a model; None to use the spec's model.
    """

    spec: RunSpec
    benchmark: Benchmark
    own_model: Model | None

    @classmethod
    def of(  # noqa: PLR0917 - the arguments of `evaluate`
        cls,
        solution_fn: SolutionFunction | Model | None,
        split: str | None,
        limit: int | None,
        benchmark: Benchmark | None,
        model: str | None,
        efficiency: bool | None,
        keys: RunKeys,
    ) -> "EvaluateArguments":
        """Check the arguments. Raises UsageError."""
        given = checked(_place(benchmark, split))
        name = name_of(given)
        external = keys.get("agent_command") is not None or keys.get("mode") in EXTERNAL
        if solution_fn is not None and (model is not None or external):
            what = "model" if model is not None else "an agent of your own"
            raise UsageError(f"evaluate(): pass either solution_fn or {what}, not both")
        if keys.get("mode") == COMES:
            raise UsageError(f"evaluate(): mode {COMES!r}: `harness mcp` begins such a run")
        if external and not isinstance(given, str):
            raise UsageError(
                "evaluate(): an agent is kept from the files of its problems: name them, "
                "as in benchmark='apps:test.jsonl'"
            )
        own = None if solution_fn is None else model_of(_name(solution_fn), solution_fn)
        if own is None and model is None and not external:
            model = REFERENCES
        if efficiency is None:
            efficiency = _of_mercury(name) and keys.get("run_tests", True)
        spec = spec_from(
            "evaluate()",
            keys,
            RunKeys,
            OWN,
            benchmark=name,
            model=model if own is None else own.name,
            efficiency=efficiency,
            sample_size=limit,
        )
        return cls(spec, given, own)


OWN = (
    *("solution_fn", "split", "limit", "benchmark", "model", "efficiency"),
    *("out", "observer", "progress"),
)


def _place(benchmark: Benchmark | None, split: str | None) -> Benchmark:
    """Combine benchmark and split to `NAME:SPLIT`. Raises UsageError."""
    if benchmark is None:
        return f"{MERCURY}:{split or SPLIT}"
    if split is None:
        return benchmark
    if isinstance(benchmark, str) and ":" not in benchmark:
        return f"{benchmark}:{split}"
    raise UsageError("evaluate(): benchmark says already which problems; leave out split")


def _of_mercury(name: str | None) -> bool:
    return name is not None and name.partition(":")[0].strip().lower() == MERCURY


def _name(solution_fn: object) -> str:
    """Return a function's name in the results: `python:` and its own name."""
    named: Any = solution_fn
    while hasattr(named, "func"):  # a partial
        named = named.func
    own = getattr(named, "name", None)
    if isinstance(own, str) and callable(getattr(named, "generate", None)):
        return PREFIX + own
    if not hasattr(named, "__qualname__"):
        named = cast("Any", type(named))
    return f"{PREFIX}{named.__module__}:{named.__qualname__}"
