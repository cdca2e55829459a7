"""Models that are code of the user: functions of a problem, and objects with `Model`'s methods."""

import importlib
import inspect
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

from harness.errors import UsageError
from harness.models.faults import Redactor
from harness.models.function import FAULTS, FunctionModel, code_digest, fault_of
from harness.models.protocol import (
    Message,
    Model,
    ModelError,
    ModelSettings,
    ModelTurn,
    RetryObserver,
    ToolSpec,
)
from harness.models.providers import PYTHON_PREFIX
from harness.models.unasked import UnaskedModel
from harness.problem import ProblemView

METHODS = ("for_sample", "generate", "close")  # of `Model`, besides its name

_one_line = Redactor()


def load_attribute(path: str) -> Any:
    """Import what `module:attribute` names, with the current directory importable.

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
        thing: Any = importlib.import_module(module_name)
    except (Exception, SystemExit) as error:
        raise UsageError(f"module {module_name!r} does not import: {error_words(error)}") from error
    origin = getattr(thing, "__file__", None) or "built in"
    for part in attribute.split("."):
        try:
            thing = getattr(thing, part)
        except AttributeError:
            raise UsageError(
                f"module {module_name!r} ({origin}) has no attribute {attribute!r}"
            ) from None
    return thing


def name_of_code(code: object) -> str:
    """Return the name of a user's function or model in results: `python:` and its own name."""
    named: Any = code
    while hasattr(named, "func"):  # a partial
        named = named.func
    own = getattr(named, "name", None)
    if isinstance(own, str) and callable(getattr(named, "generate", None)):
        return PYTHON_PREFIX + own
    if not hasattr(named, "__qualname__"):
        named = cast("Any", type(named))
    return f"{PYTHON_PREFIX}{named.__module__}:{named.__qualname__}"


def model_of(name: str, thing: object) -> Model:
    """Return the model of a user's object: a function, or a Model of their own.

    Args:
        name: name of the model in results.
        thing: function, callable object, object with the methods of `Model`, or class of any of
            these, which is called without arguments.

    Raises:
        UsageError: it is none of these.
    """
    if isinstance(thing, type):
        thing = _instance(name, cast("Callable[[], object]", thing))
    if callable(getattr(thing, "generate", None)):
        lacking = [each for each in METHODS if not callable(getattr(thing, each, None))]
        if not isinstance(getattr(thing, "name", None), str):
            lacking.append("name")
        if lacking:
            raise UsageError(
                f"{name} has generate, as a model has, but lacks {', '.join(lacking)}"
                " (harness.models.protocol.Model)"
            )
        return UserModel(name, cast("Model", thing))
    if not callable(thing):
        raise UsageError(
            f"{name} is a {type(thing).__name__}; it must be a function of a problem, or a model"
        )
    _takes_a_problem(name, cast("Callable[..., Any]", thing))
    return FunctionModel(name, cast("Callable[..., Any]", thing))


class UserModel:
    """The user's own model, with errors as ModelError and checked results.

    Args:
        name: name of the model in results.
        model: the user's model.
    """

    def __init__(self, name: str, model: Model) -> None:
        self.name = name
        self._model = model

    def code(self) -> dict[str, str] | None:
        """Return the digest of the model's code; None if that is not known."""
        return code_digest(self._model)

    def for_sample(self, problem: ProblemView, index: int) -> Model:
        """Return the user's model for that sample; if that fails, one that raises the error."""
        try:
            return UserModel(self.name, self._model.for_sample(problem, index))
        except (Exception, SystemExit) as error:  # noqa: BLE001 - it is the user's code
            return UnaskedModel(self.name, f"{self.name}.for_sample raised {error_words(error)}")

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
        on_retry: RetryObserver | None = None,
    ) -> ModelTurn:
        """Ask the user's model.

        Raises:
            ModelError: it raised, or returned something other than a ModelTurn.
        """
        try:
            turn = cast("object", await self._model.generate(messages, tools, settings, on_retry))
        except ModelError:
            raise
        except FAULTS as error:
            raise fault_of(error, self.name) from error
        if not isinstance(turn, ModelTurn):
            raise ModelError(f"{self.name} returned {type(turn).__name__}, not a ModelTurn")
        return turn

    async def close(self) -> None:
        """Close the user's model; errors no longer matter and are ignored."""
        with suppress(Exception, SystemExit):
            await self._model.close()


def _instance(name: str, kind: Callable[[], object]) -> object:
    try:
        return kind()
    except (Exception, SystemExit) as error:
        raise UsageError(
            f"{name} is a class that cannot be made without arguments: {error_words(error)}"
        ) from error


def _takes_a_problem(name: str, function: Callable[..., Any]) -> None:
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # some C functions have none
        return
    try:
        signature.bind({})
    except TypeError:
        raise UsageError(
            f"{name} takes {signature}; it is called with one argument, the problem"
        ) from None


def error_words(error: BaseException) -> str:
    """Return an error of the user's code in one line, without secrets."""
    return _one_line(f"{type(error).__name__}: {error}")
