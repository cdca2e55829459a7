"""A Python function as a model: `solution_fn(problem) -> source or prose with a code block`."""

import asyncio
import importlib
import inspect
import re
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeGuard, cast

from harness.errors import UsageError
from harness.models.faults import Redactor
from harness.models.openai_wire import sendable
from harness.models.protocol import (
    Message,
    Model,
    ModelError,
    ModelSettings,
    ModelStop,
    ModelTurn,
    RetryObserver,
    ToolSpec,
)
from harness.problem import ProblemView

_FENCE = re.compile(r"^[ \t]*(```|~~~)", re.MULTILINE)
_one_line = Redactor()


class FunctionModel:
    """A callable that answers each problem.

    Args:
        name: what results are filed under.
        function: takes the public columns of a problem as JSON values; returns text, or an
            awaitable of it. One that is not a coroutine function runs in a thread of its own.
        problem: what it is asked about; None until `for_sample` names one.
    """

    def __init__(
        self, name: str, function: Callable[..., Any], problem: ProblemView | None = None
    ) -> None:
        self._name = name
        self._function = function
        self._problem = problem

    @property
    def name(self) -> str:
        """What results are filed under."""
        return self._name

    def for_sample(self, problem: ProblemView, index: int) -> Model:  # noqa: ARG002 - protocol
        """The function bound to that problem."""
        return FunctionModel(self._name, self._function, problem)

    async def generate(
        self,
        messages: Sequence[Message],  # noqa: ARG002 - the function sees the problem alone
        tools: Sequence[ToolSpec],  # noqa: ARG002
        settings: ModelSettings,  # noqa: ARG002
        on_retry: RetryObserver | None = None,  # noqa: ARG002
    ) -> ModelTurn:
        """Call the function once.

        Raises:
            ModelError: it raised, or returned something other than text.
        """
        if self._problem is None:
            raise ModelError(
                f"{self._name}: a function answers for a sample; call for_sample first"
            )
        started = time.perf_counter()
        answer = await self._call(self._problem.model_dump(mode="json"))
        if not isinstance(answer, str):
            raise ModelError(f"{self._name} returned {type(answer).__name__}, not a string")
        return ModelTurn(
            text=fenced(sendable(answer)),
            stop=ModelStop(reason="end_turn"),
            latency_s=time.perf_counter() - started,
        )

    async def _call(self, problem: dict[str, Any]) -> Any:
        try:
            if _is_coroutine_function(self._function):
                answer = self._function(problem)
            else:
                answer = await _in_thread(self._function, problem)
            return await answer if inspect.isawaitable(answer) else answer
        except (Exception, SystemExit) as error:
            words = _one_line(f"{type(error).__name__}: {error}")
            raise ModelError(f"{self._name} raised {words}") from error

    async def close(self) -> None:
        """Nothing to let go of."""


def fenced(answer: str) -> str:
    """The answer as it is when it has a fenced block, else all of it in one."""
    return answer if _FENCE.search(answer) else f"```python\n{answer}\n```"


def _is_coroutine_function(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - an object may be called like one
    )


async def _in_thread(function: Callable[..., Any], problem: dict[str, Any]) -> Any:
    """Run the function in a daemon thread: one that hangs must not keep the program from ending."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(answer: Any, error: BaseException | None) -> None:
        if future.done():  # cancelled meanwhile
            return
        if error is None:
            future.set_result(answer)
        elif isinstance(error, StopIteration):  # a future refuses to carry it
            future.set_exception(RuntimeError(f"StopIteration: {error}"))
        else:
            future.set_exception(error)

    def run() -> None:
        answer, failure = None, None
        try:
            answer = function(problem)
        except BaseException as error:  # noqa: BLE001 - SystemExit too would be lost in a thread
            failure = error
        with suppress(RuntimeError):  # the loop has closed; nobody waits any more
            loop.call_soon_threadsafe(settle, answer, failure)

    threading.Thread(target=run, name="solution function", daemon=True).start()
    return await future


def load_callable(path: str) -> Any:
    """What `module:attribute` names, with the current directory importable.

    The directory comes last on the path, so that a file in it shadows no library.

    Raises:
        UsageError: the name has another shape, the module does not import, or it has no such
            attribute.
    """
    module_name, _, attribute = path.partition(":")
    if not all(part.isidentifier() for part in [*module_name.split("."), *attribute.split(".")]):
        raise UsageError(f"{path!r} does not name a function; write python:module:function")
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.append(here)
    importlib.invalidate_caches()
    try:
        found: Any = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        words = _one_line(f"{type(error).__name__}: {error}")
        raise UsageError(f"module {module_name!r} does not import: {words}") from error
    origin = getattr(found, "__file__", None) or "built in"
    for part in attribute.split("."):
        try:
            found = getattr(found, part)
        except AttributeError:
            raise UsageError(
                f"module {module_name!r} ({origin}) has no attribute {attribute!r}"
            ) from None
    return found


def model_of(name: str, thing: object) -> Model:
    """A Model as it is, a callable wrapped as one.

    Raises:
        UsageError: it is neither.
    """
    if _is_model(thing):
        return thing
    if not callable(thing) or isinstance(thing, type):
        kind = "a class" if isinstance(thing, type) else f"a {type(thing).__name__}"
        raise UsageError(f"{name} is {kind}; it must be a function of a problem, or a model")
    return FunctionModel(name, cast("Callable[..., Any]", thing))


def _is_model(thing: object) -> TypeGuard[Model]:
    if isinstance(thing, type):
        return False
    methods = (getattr(thing, name, None) for name in ("for_sample", "generate", "close"))
    return all(callable(method) for method in methods) and isinstance(
        getattr(thing, "name", None), str
    )
