"""A Python function as a model: `solution_fn(problem) -> source or prose with a code block`."""

import asyncio
import dis
import hashlib
import inspect
import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from types import CodeType, FunctionType, MethodType
from typing import Any, cast

from harness.languages import PYTHON
from harness.models.clients.wire import sendable
from harness.models.faults import Redactor
from harness.models.protocol import Model, ModelError, ModelTurn, UserInterruptError
from harness.models.unasked import UnaskedModel
from harness.problem import Problem, ProblemView

PLAIN = (str, bytes, int, float, complex, type(None))
"""Types of bound values that count; others, such as a cache, may change as a run proceeds."""
OWN = "harness"
_FENCE = re.compile(r"^[ \t]*(```|~~~)", re.MULTILINE)
_OTHER_LOOP = re.compile(r"event loop is closed|different (?:event )?loop", re.IGNORECASE)
FAULTS = (Exception, SystemExit, KeyboardInterrupt, asyncio.CancelledError)
"""What the user's own code may raise."""


def code_digest(thing: object) -> dict[str, str] | None:
    """Return the digest of a function's or an object's code, and the Python it holds for.

    It covers the bytecode of a function, of the functions and classes of its module that it names,
    and the plain values bound to it: defaults, a partial's arguments, a closure. Of an object it
    covers the functions of its class. Comments, positions and the values of variables are left out.

    Returns:
        None if the user's Python code is not known, as for a C function.
    """
    digest = _Digest()
    digest.add(thing)
    if not digest.has_code:
        return None
    version = f"{sys.implementation.name} {sys.version_info.major}.{sys.version_info.minor}"
    optimized = f" -O{sys.flags.optimize}" if sys.flags.optimize else ""
    return {"sha256": digest.hash.hexdigest(), "python": version + optimized}


class _Digest:
    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.has_code = False
        self._seen: dict[int, object] = {}

    def add(self, thing: object) -> None:
        """Add a function, a class, or the class of an object."""
        if id(thing) in self._seen:
            return
        self._seen[id(thing)] = thing
        match thing:
            case partial():
                given = cast("partial[Any]", thing)
                self._bound([*enumerate(given.args), *sorted(given.keywords.items())])
                self.add(given.func)
            case MethodType():
                self.add(type(thing.__self__))
                self.add(thing.__func__)
            case FunctionType():
                self._function(thing)
            case type():
                self._class(thing)
            case _:
                self.add(getattr(thing, "__wrapped__", type(thing)))  # such as functools.cache

    def _function(self, function: FunctionType) -> None:
        inner: object = getattr(function, "__wrapped__", None)
        if inner is not None:
            self.add(inner)
            home = getattr(inner, "__globals__", None)
            if home is not function.__globals__:  # the wrapper of a library
                return
        self.has_code = True
        code = function.__code__
        self._text("function", *_words(code))
        self._bound([*enumerate(function.__defaults__ or ())])
        self._bound(sorted((function.__kwdefaults__ or {}).items()))
        self._bound(_closure(function))
        for name in sorted({name for each in _nested(code) for name in each.co_names}):
            used = function.__globals__.get(name)
            is_code = isinstance(used, FunctionType | type) or hasattr(used, "__wrapped__")
            if is_code and getattr(used, "__module__", None) == function.__module__:
                self._text(name)
                self.add(used)

    def _class(self, kind: type) -> None:
        """Add the functions of a class and of its bases in the same module."""
        if kind.__module__.partition(".")[0] == OWN:
            return
        for each in kind.__mro__:
            if each.__module__ != kind.__module__:
                continue
            for name, member in sorted(vars(each).items()):
                held = getattr(member, "__func__", getattr(member, "fget", member))
                if isinstance(held, FunctionType) or hasattr(held, "__wrapped__"):
                    self._text(name)
                    self.add(held)

    def _bound(self, values: Iterable[tuple[int | str, object]]) -> None:
        for name, value in values:
            if isinstance(value, PLAIN):
                self._text(str(name), repr(value))
            elif isinstance(value, FunctionType | MethodType | partial):
                self._text(str(name))
                self.add(cast("object", value))

    def _text(self, *texts: str) -> None:
        for word in texts:
            data = word.encode("utf-8", "backslashreplace")
            self.hash.update(b"%d:%s" % (len(data), data))


def _nested(code: CodeType) -> Iterator[CodeType]:
    """Yield a code object, and those of the functions in it."""
    yield code
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield from _nested(const)


def _words(code: CodeType) -> Iterator[str]:
    """Yield what defines a code object; names of its files and lines do not."""
    for each in _nested(code):
        yield each.co_code.hex()
        yield each.co_exceptiontable.hex()
        yield repr((each.co_flags, each.co_argcount, each.co_kwonlyargcount, each.co_names))
        yield repr((each.co_freevars, each.co_cellvars))
        yield from map(_const, each.co_consts)


def _const(const: object) -> str:
    match const:
        case CodeType():
            return "code"
        case frozenset():  # its order differs from process to process
            return f"set({sorted(map(_const, cast('frozenset[object]', const)))})"
        case tuple():
            return f"tuple({[*map(_const, cast('tuple[object, ...]', const))]})"
        case _:
            return repr(const)


def _closure(function: FunctionType) -> Iterator[tuple[str, object]]:
    """Yield the values of a closure, without those that the function assigns itself."""
    names = function.__code__.co_freevars
    if not names:
        return
    stored = {
        step.argval
        for code in _nested(function.__code__)
        for step in dis.get_instructions(code)
        if step.opname == "STORE_DEREF"
    }
    for name, cell in zip(names, function.__closure__ or (), strict=True):
        try:
            value: object = cell.cell_contents
        except ValueError:  # it has no value yet
            continue
        if name not in stored:
            yield name, value


_one_line = Redactor()


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
    message = _one_line(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
    if isinstance(error, KeyboardInterrupt):
        return UserInterruptError(f"{name} raised {message}")
    return ModelError(f"{name} raised {message}{_loop_hint(error)}")


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
        tag: tag of the fence that is put around a program.
    """

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        problem: ProblemView | None = None,
        tag: str = PYTHON,
    ) -> None:
        super().__init__(name)
        self._function = function
        self._problem = problem
        self._tag = tag

    def begin(self, problems: Sequence[Problem], language: str) -> None:
        """Note the language of a run's solutions, for answers without a fence."""
        del problems
        self._tag = language

    def code(self) -> dict[str, str] | None:
        """Return the digest of the function's code; None if that is not known."""
        return code_digest(self._function)

    def for_sample(self, problem: ProblemView, index: int) -> Model:  # noqa: ARG002 - protocol
        """Return the function bound to that problem."""
        return FunctionModel(self.name, self._function, problem, self._tag)

    async def answer(self) -> ModelTurn:
        """Call the function once; it sees only the problem.

        Raises:
            ModelError: it raised, or returned something other than text.
        """
        if self._problem is None:
            raise ModelError(f"{self.name}: a function answers for a sample; call for_sample first")
        started = time.perf_counter()
        answer = await self._call(columns(self._problem))
        if not isinstance(answer, str):
            raise ModelError(f"{self.name} returned {type(answer).__name__}, not a string")
        text = fenced(sendable(answer), self._tag)
        return ModelTurn(text=text, latency_s=time.perf_counter() - started)

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


def fenced(answer: str, tag: str = PYTHON) -> str:
    """Return an answer that has a fenced block unchanged; put any other into one."""
    return answer if _FENCE.search(answer) else f"```{tag}\n{answer}\n```"


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
