"""A Python function as a model: `solution_fn(problem) -> source or prose with a code block`."""

import asyncio
import inspect
import re
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from harness.models.clients.wire import sendable
from harness.models.code_digest import code_digest
from harness.models.faults import Redactor
from harness.models.protocol import (
    Message,
    Model,
    ModelError,
    ModelSettings,
    ModelStop,
    ModelTurn,
    RetryObserver,
    ToolSpec,
    UnaskedModel,
    UserInterruptError,
)
from harness.problem import ProblemView

_FENCE = re.compile(r"^[ \t]*(```|~~~)", re.MULTILINE)
_OTHER_LOOP = re.compile(r"event loop is closed|different (?:event )?loop", re.IGNORECASE)
_one_line = Redactor()
FAULTS = (Exception, SystemExit, KeyboardInterrupt, asyncio.CancelledError)
"""What the user's own code may raise."""


def fault_of(error: BaseException, name: str) -> BaseException:
    """Return what to raise where the user's own code raised an error.

    Args:
        error: one of `FAULTS`.
        name: name of the model in results.

    Returns:
        A cancellation of this task as it is; else a UserInterruptError or a ModelError.
    """
    if isinstance(error, asyncio.CancelledError):
        task = asyncio.current_task()
        if task is None or task.cancelling():
            return error
    words = _one_line(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
    if isinstance(error, KeyboardInterrupt):
        return UserInterruptError(f"{name} raised {words}")
    return ModelError(f"{name} raised {words}{_loop_hint(error)}")


def _loop_hint(error: BaseException) -> str:
    """Return a hint if the cause is an object of another event loop, such as a client."""
    seen: list[BaseException] = []
    cause: BaseException | None = error
    while cause is not None and cause not in seen:
        if isinstance(cause, RuntimeError) and _OTHER_LOOP.search(str(cause)):
            return (
                " (each call of evaluate has an event loop of its own: make the client in the "
                "function, or await harness.aevaluate in your loop)"
            )
        seen.append(cause)
        cause = cause.__cause__ or cause.__context__
    return ""


class FunctionModel(UnaskedModel):
    """Python function that answers each problem.

    Args:
        name: name of the model in results.
        function: function of a problem's `columns` that returns text, or an awaitable of it. One
            that is not a coroutine function runs in its own thread.
        problem: the problem to answer; None until `for_sample` sets one.
    """

    def __init__(
        self, name: str, function: Callable[..., Any], problem: ProblemView | None = None
    ) -> None:
        super().__init__(name)
        self._function = function
        self._problem = problem

    def code(self) -> dict[str, str] | None:
        """Return the digest of the function's code; None if that is not known."""
        return code_digest(self._function)

    def for_sample(self, problem: ProblemView, index: int) -> Model:  # noqa: ARG002 - protocol
        """Return the function bound to that problem."""
        return FunctionModel(self.name, self._function, problem)

    async def generate(
        self,
        messages: Sequence[Message],  # noqa: ARG002 - the function sees only the problem
        tools: Sequence[ToolSpec],  # noqa: ARG002
        settings: ModelSettings,  # noqa: ARG002
        on_retry: RetryObserver | None = None,  # noqa: ARG002
    ) -> ModelTurn:
        """Call the function once.

        Raises:
            ModelError: it raised, or returned something other than text.
        """
        if self._problem is None:
            raise ModelError(f"{self.name}: a function answers for a sample; call for_sample first")
        started = time.perf_counter()
        answer = await self._call(columns(self._problem))
        if not isinstance(answer, str):
            raise ModelError(f"{self.name} returned {type(answer).__name__}, not a string")
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
        except FAULTS as error:
            raise fault_of(error, self.name) from error


def columns(problem: ProblemView) -> dict[str, Any]:
    """Return a problem as the function receives it: the view's fields as JSON.

    For functions written for Mercury_Eval it adds the columns of that data set which follow from
    the view: `prompt` (the starter code), `slug_name` (the id within the source), `pretty_content`
    (the statement, a list of one) and `entry_point`. The other columns are left out: they hold
    hidden tests and references, or no function reads them.
    """
    return {
        **problem.model_dump(mode="json"),
        "prompt": problem.starter_code,
        "slug_name": problem.id.partition("/")[2],
        "pretty_content": [problem.statement],
    }


def fenced(answer: str) -> str:
    """Return an answer that has a fenced block unchanged; put any other into one."""
    return answer if _FENCE.search(answer) else f"```python\n{answer}\n```"


def _is_coroutine_function(function: Callable[..., Any]) -> bool:
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(
        getattr(function, "__call__", None)  # noqa: B004 - an object may be callable
    )


async def _in_thread(function: Callable[..., Any], problem: dict[str, Any]) -> Any:
    """Run the function in a daemon thread, so that a hanging one does not block exit."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(answer: Any, error: BaseException | None) -> None:
        if future.done():  # cancelled meanwhile
            return
        if error is None:
            future.set_result(answer)
        elif isinstance(error, StopIteration):  # a future cannot hold it
            future.set_exception(RuntimeError(f"StopIteration: {error}"))
        else:
            future.set_exception(error)

    def run() -> None:
        answer, failure = None, None
        try:
            answer = function(problem)
        except BaseException as error:  # noqa: BLE001 - a thread would lose SystemExit too
            failure = error
        with suppress(RuntimeError):  # the loop has closed; no caller is waiting
            loop.call_soon_threadsafe(settle, answer, failure)

    threading.Thread(target=run, name="solution function", daemon=True).start()
    return await future
