"""The arguments of `evaluate`: refuse misuse, and make the settings of a run."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, cast

from harness.agent.strategies.modes import SHOT, mode_named
from harness.errors import UsageError
from harness.models.protocol import Model
from harness.models.providers import REFERENCES
from harness.models.servers import ADDRESSING, ASKED_FOR
from harness.models.user_code import model_of, name_of_code
from harness.problem import Problem
from harness.registry import hooks
from harness.run.plan.problem_loader import Benchmark, Checked, checked, name_of
from harness.run.settings.keys import RunKeys
from harness.run.settings.python_arguments import spec_from
from harness.run.settings.spec import RunSpec

OWN_CODE = "as 'MODULE:ATTRIBUTE'"
MERCURY = "mercury"
SPLIT = "eval"
OWN = (
    *("solution_fn", "split", "limit", "benchmark", "model", "efficiency"),
    *("out", "observer", "progress"),
)


def refuse_misuse(
    solution_fn: object, split: object, model: object, keys: Mapping[str, Any]
) -> None:
    """Refuse arguments in the wrong place, and settings of a model where none is named.

    Raises:
        UsageError: says where the argument belongs.
    """
    _check_function(solution_fn)
    if _holds_problems(split):
        raise _wrong("the second argument is the split; problems go to benchmark=")
    if split is not None and not isinstance(split, str):
        raise _wrong(f"split is a {_kind(split)}; give its name, and problems as benchmark=")
    if model is not None and not isinstance(model, str):
        if callable(model) or hasattr(model, "generate"):
            raise _wrong(
                f"model is a {_kind(model)}, and takes a name; code of yours is solution_fn, the "
                "first argument"
            )
        raise _wrong(f'model is a {_kind(model)}; give a name, as model="gpt-5-mini"')
    _check_names(keys)
    if solution_fn is None and model is None:
        _needs_model(keys)


def given_path(out: object) -> Path | None:
    """Return the run directory as it was given. Raises UsageError."""
    if out is not None and not isinstance(out, str | Path):
        raise _wrong(f"out is a {_kind(out)}; give the path of a run directory")
    return None if out is None else Path(out)


def _check_function(given: object) -> None:
    if isinstance(given, str):
        named = given[:100]
        raise _wrong(
            f"{named!r} is a text, and solution_fn a function of a problem; to ask a model of that "
            f"name, give model={named!r}"
        )
    if _holds_problems(given):
        raise _wrong("the first argument is solution_fn, a function; problems go to benchmark=")
    if inspect.iscoroutine(given):
        given.close()  # nobody will await it
        raise _wrong(
            "solution_fn is a coroutine, what a call of an async function returns; give the "
            "function itself"
        )


def _check_names(keys: Mapping[str, Any]) -> None:
    """Refuse objects where the name of the user's own code is wanted."""
    mode: object = keys.get("mode", "")
    tools: object = keys.get("tool", ())
    if not isinstance(mode, str):
        raise _wrong(f"mode is a {_kind(mode)}; give its name, your own {OWN_CODE}")
    for tool in _items(tools):
        if not isinstance(tool, str):
            raise _wrong(f"tool: a {_kind(tool)} is not a name; give your tool {OWN_CODE}")


def _needs_model(keys: Mapping[str, Any]) -> None:
    """Refuse settings of a model, as the references are evaluated without one."""
    mode = keys.get("mode", SHOT.name)
    if not mode_named(mode).asks or keys.get("agent_command") is not None:
        return
    message = "needs a model, and none is named; give model="
    for key in (*ADDRESSING, *ASKED_FOR):
        if keys.get(key) is not None:
            raise _wrong(f"{key} {message}")
    if mode != SHOT.name:
        raise _wrong(f"mode {mode!r} {message}")


def _holds_problems(given: object) -> bool:
    return any(isinstance(each, Problem) for each in _items(given)[:1])


def _items(given: object) -> list[object]:
    """Return the items of a list or tuple; of anything else that alone."""
    several = isinstance(given, list | tuple)
    return [*cast("Sequence[object]", given)] if several else [given]


def _kind(given: object) -> str:
    return type(given).__name__


def _wrong(message: str) -> UsageError:
    return UsageError(f"evaluate(): {message}")


SolutionFunction = Callable[[dict[str, Any]], str | Awaitable[str]]
"""Function from a problem, without hidden tests, to code or text with code."""


class EvaluateArguments(NamedTuple):
    """The checked arguments of `evaluate`.

    Attributes:
        spec: settings of the run.
        benchmark: name of the benchmark, or loaded problems.
        own_model: the user's function as a model; None to use the spec's model.
    """

    spec: RunSpec
    benchmark: Checked
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
        refuse_misuse(solution_fn, split, model, keys)
        given = checked(_place(benchmark, split))
        name = name_of(given)
        mode = mode_named(keys.get("mode"))
        external = keys.get("agent_command") is not None or not mode.asks
        if solution_fn is not None and (model is not None or external):
            what = "model" if model is not None else "an agent of your own"
            raise UsageError(f"evaluate(): pass either solution_fn or {what}, not both")
        if mode.begun_by != "run":
            raise UsageError(
                f"evaluate(): mode {mode.name!r}: `harness {mode.begun_by}` begins such a run"
            )
        if external and not isinstance(given, str):
            raise UsageError(
                "evaluate(): an agent is kept from the files of its problems: name them, "
                "as in benchmark='apps:test.jsonl'"
            )
        own = None if solution_fn is None else model_of(name_of_code(solution_fn), solution_fn)
        if own is None and model is None and not external:
            model = REFERENCES
        if efficiency is None:
            timed = _of_mercury(name) and keys.get("run_tests", True)
            efficiency = timed and "efficiency" in hooks("join")
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
