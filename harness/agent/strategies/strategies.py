"""Modes and strategies by name: built-in, of a plug-in, or the user's own (`module:attribute`).

A user's strategies and tools are trusted like the harness and run in its process: only text written
by models goes into the sandbox. Their exceptions do not count against the model: the sample stays
pending, with the message. A limit that a strategy does not catch (`harness.agent.session`) ends it
with the newest solution in the workspace.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from harness import plugins
from harness.agent.attempt import Attempt, ChosenBy, Limits, StopReason
from harness.agent.journal import Journal
from harness.agent.session import (
    BudgetSpentError,
    RunStoppedError,
    Session,
    Strategy,
    run_until_stopped,
)
from harness.agent.strategies.modes import Mode, built_in_modes, mode_named, remember, undeclared
from harness.errors import HarnessError, UsageError
from harness.models.protocol import ModelError, Usage
from harness.models.user_code import error_words, load_attribute
from harness.registry import AGENT_STRATEGY, MODES, feature, resolve
from harness.sandbox.execution import SandboxError
from harness.tools.toolbox import Arguments, Tool, ToolError
from harness.tools.workspace import Workspace

_PASS = (RunStoppedError, SandboxError, HarnessError, ModelError)
GRACE_S = 1.0
GIVEN_UP = frozenset({StopReason.TIME_LIMIT, StopReason.WALL_LIMIT})
"""Stop reasons after which usage is unknown: a request may have been in flight."""


def find_mode(name: str) -> Mode:
    """Find a mode by its name on the command line; a user's code is imported.

    Raises:
        UsageError: the name is unknown, or a mode of the user's has no strategy.
    """
    if name in MODES:
        return mode_named(name)
    title, thing = _own(name)
    return _remembered(name, title, thing) if isinstance(thing, Mode) else undeclared(name)


def find_strategy(name: str) -> Strategy:
    """Find the strategy of a mode.

    That of a user's own agent has no agent yet; the caller provides it.

    Raises:
        UsageError: the name is unknown, or its object is not callable.
    """
    if name in MODES:
        mode = mode_named(name)
        if not mode.asks:
            return feature(AGENT_STRATEGY, f"--mode {name}")()
        return resolve(mode.strategy)
    title, thing = _own(name)
    if isinstance(thing, Mode):
        thing = load_attribute(_remembered(name, title, thing).strategy)
    return _strategy_of(title, thing)


def _remembered(name: str, title: str, mode: Mode) -> Mode:
    """Return a user's own mode under the name that it is called by. Raises UsageError."""
    if ":" not in mode.strategy or not mode.asks:
        raise UsageError(f"{title}: a Mode of your own has strategy='module:attribute', and asks")
    return remember(replace(mode, name=name))


def _own(name: str) -> tuple[str, Any]:
    """Return a user's own mode or strategy, and its name for messages. Raises UsageError."""
    if not name:
        raise UsageError("--mode is empty; give a value, or leave it out")
    plugin = plugins.find(plugins.STRATEGIES, name)
    if plugin is not None:
        return str(plugin), plugin.load()
    if ":" in name:
        return name, load_attribute(name)
    known = plugins.known(plugins.STRATEGIES, [mode.name for mode in built_in_modes(asking=True)])
    raise UsageError(
        f"mode {name!r} is unknown; there are: {known}, or a strategy of your own as "
        "module:attribute"
    )


def _strategy_of(name: str, thing: Any) -> Strategy:
    """Return a loaded object as a strategy; a class is called without arguments.

    Raises:
        UsageError: the object is not callable.
    """
    strategy = _made(name, thing)
    if not callable(strategy):
        raise UsageError(f"{name} is a {type(strategy).__name__}; a strategy is an async function")
    return _guarded(name, strategy)


def _guarded(name: str, solve: Callable[[Session], Any]) -> Strategy:
    async def strategy(session: Session) -> Attempt:
        returned: Attempt | None = None

        async def work() -> StopReason:
            nonlocal returned
            returned = await _solved(name, solve, session)
            return returned.stop_reason

        reason, error = await run_until_stopped(work(), _later(session.limits))
        if returned is None:
            return _unfinished(session, reason, error)
        return _with_cost(returned, session.journal)

    return strategy


async def _solved(name: str, solve: Callable[[Session], Any], session: Session) -> Attempt:
    """Run the user's strategy. Raises uncaught limits, and ModelError for its errors."""
    try:
        attempt = await solve(session)
    except (*_PASS, BudgetSpentError):
        raise
    except (Exception, SystemExit) as error:
        if isinstance(error, TimeoutError) and session.limits.seconds is not None:
            raise  # raised by the conversation
        raise ModelError(f"strategy {name} raised {error_words(error)}") from error
    if not isinstance(attempt, Attempt):
        kind = type(attempt).__name__
        raise ModelError(f"strategy {name} returned a {kind}, not an Attempt")
    return attempt


def _later(limits: Limits) -> Limits:
    """Extend the wall limit, so that a strategy that observes it can end by itself."""
    wall = limits.wall_seconds
    return limits.model_copy(update={"wall_seconds": None if wall is None else wall + GRACE_S})


def _unfinished(session: Session, reason: StopReason, error: str) -> Attempt:
    """Return the attempt of a strategy that was ended: its best solution so far."""
    best, journal = session.workspace.best, session.journal
    rule = ChosenBy.NONE
    if best is not None:
        rule = ChosenBy.PASSED_PUBLIC_TESTS if best.passed else ChosenBy.NEWEST
    return Attempt(
        code=best.code if best else "",
        chosen_by=rule,
        stop_reason=reason,
        usage=journal.usage or Usage(),
        usage_known=journal.usage is not None and reason not in GIVEN_UP,
        model_calls=len(journal.answers),
        error=error,
    )


def _with_cost(attempt: Attempt, journal: Journal) -> Attempt:
    """Return an attempt with the requests and tokens that were counted, if it reports fewer.

    The tokens are unknown if an answer has no count, or if the strategy speaks of further requests
    without their tokens.
    """
    counted, answers = journal.usage or Usage(), len(journal.answers)
    own = attempt.usage.total_tokens
    reported = own > 0 and own >= counted.total_tokens
    whole = journal.usage is not None and (reported or attempt.model_calls <= answers)
    return attempt.model_copy(
        update={
            "usage": attempt.usage if reported else counted,
            "usage_known": attempt.usage_known and whole,
            "model_calls": max(attempt.model_calls, answers),
        }
    )


def own_tool(name: str) -> Tool[Any]:
    """Return the tool named by `module:attribute`.

    Raises:
        UsageError: it does not exist, or is not a tool.
    """
    tool = _made(name, load_attribute(name))
    lacking = [
        each for each in ("name", "description") if not isinstance(getattr(tool, each, None), str)
    ]
    arguments = getattr(tool, "arguments", None)
    if not (isinstance(arguments, type) and issubclass(arguments, Arguments)):
        lacking.append("arguments (a subclass of harness.tools.toolbox.Arguments)")
    if not callable(getattr(tool, "call", None)):
        lacking.append("call")
    if lacking:
        raise UsageError(f"{name} is not a tool: missing {', '.join(lacking)}")
    return _OwnTool(name, tool)


class _OwnTool:
    def __init__(self, path: str, tool: Any) -> None:
        self._path = path
        self._tool = tool
        self.name: str = tool.name
        self.description: str = tool.description
        self.arguments: type[Arguments] = tool.arguments

    async def call(self, workspace: Workspace, arguments: Arguments) -> str:
        try:
            result = await self._tool.call(workspace, arguments)
        except (*_PASS, ToolError):
            raise
        except (Exception, SystemExit) as error:
            raise ModelError(f"tool {self._path} raised {error_words(error)}") from error
        if not isinstance(result, str):
            raise ModelError(f"tool {self._path} returned a {type(result).__name__}, not a str")
        return result


def _made(name: str, made: Any) -> Any:
    """Return the object; a class is called without arguments."""
    if not isinstance(made, type):
        return made
    try:
        return made()
    except (Exception, SystemExit) as error:
        raise UsageError(f"{name}() raised {error_words(error)}") from error
