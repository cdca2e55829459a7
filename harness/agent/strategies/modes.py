"""Modes: all that the rest of the program knows of a strategy.

A built-in mode stands here or with its feature; `harness.registry.MODES` lists them. A user's own
is a `Mode` in place of the strategy, named by `--mode MODULE:ATTRIBUTE` or by a plug-in's entry
point. A strategy without one may use every setting.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, cast

from harness.registry import MODES, installed

if TYPE_CHECKING:
    from collections.abc import Callable

    from harness.agent.strategies.options import StrategyOptions

HandsIn = Literal["newest_passed", "most_passed"]
HeededBy = Literal["all", "asks", "several", "reports", "tools", "option"]
"""Modes that heed a setting: all, those with a trait, or those that name it in their options."""
OF_TESTS = ("report",)
"""Parts of modes that run public tests."""
KEPT = ("title", "label", "asks", "single", "talks", "tools", "hands_in")
"""Fields that reading a run needs."""


@dataclass(frozen=True, kw_only=True)
class Mode:
    """A mode; the usual values are those of a strategy of which nothing is known.

    Attributes:
        name: its name on the command line; a user's own gets the one it is called by.
        title: its name in sentences.
        strategy: `module:attribute` of the strategy.
        label: its name in tables; default: the title.
        parts: the texts of all modes that it sends besides the opening; None for all of them.
        own_parts: the texts of this mode alone, in a folder of its name.
        options: settings that it heeds beside those that follow from the fields below.
        requests: returns the least and the most requests of a sample; None for one to
            `--max-turns`.
        asks: whether the harness sends the requests, and not a user's own agent.
        single: whether a sample is a single request.
        talks: whether the model is told what its last answer came to.
        tools: whether the model has tools.
        runs_tests: whether solutions are run on the public tests.
        writes_tests: whether the model writes tests.
        python_only: whether it takes no other language.
        hands_in: the solution that a sample which is cut off would hand in: the newest that passed
            all public tests, or the first that passed most.
        agent: `module:attribute` of what starts a user's own agent.
        begun_by: the command that begins its runs.
        declared: whether anything is known of it.
    """

    name: str = ""
    title: str
    strategy: str = ""
    label: str = ""
    parts: tuple[str, ...] | None = None
    own_parts: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    requests: "Callable[[StrategyOptions], tuple[int, int]] | None" = None
    asks: bool = True
    single: bool = False
    talks: bool = False
    tools: bool = False
    runs_tests: bool = True
    writes_tests: bool = False
    python_only: bool = False
    hands_in: HandsIn = "newest_passed"
    agent: str = ""
    begun_by: str = "run"
    declared: bool = True

    @property
    def several(self) -> bool:
        """Whether the harness may send several requests for a sample."""
        return self.asks and not self.single

    @property
    def reports(self) -> bool:
        """Whether the model, or the user's own agent, is shown what failed."""
        return self.talks or not self.asks

    @property
    def announced(self) -> str:
        """Its name where a run begins: of a built-in one, that of the command line."""
        return self.name if self.built_in else self.title

    @property
    def built_in(self) -> bool:
        """Whether the mode is the harness's own."""
        return self.name in MODES

    def heeds(self, key: str, by: HeededBy) -> bool:
        """Whether a setting, which is heeded by such modes, has an effect."""
        if not self.declared or by == "all" or key in self.options:
            return True
        return by != "option" and getattr(self, by)

    def as_json(self) -> dict[str, Any]:
        """Return what `run.json` keeps of a user's own mode, for reading the run without it."""
        return {**{key: getattr(self, key) for key in KEPT}, "options": list(self.options)}


LOOP = Mode(
    name="agentic",
    title="the agent",
    label="agentic",
    strategy="harness.agent.strategies.agent_loop:agentic",
    options=(
        *("tool_protocol", "max_turns", "stop_on_pass", "context", "repeats", "check_turns"),
        "show_budget",
    ),
    talks=True,
    tools=True,
)
"""The agent loop."""
SHOT = Mode(
    name="single_shot",
    title="single shot",
    strategy="harness.agent.strategies.shots:single_shot",
    parts=(),
    requests=lambda _: (1, 1),
    single=True,
    runs_tests=False,
)
"""One request a sample: the usual mode, and what all others are compared with."""
SELF_REPAIR = Mode(
    name="self_repair",
    title="self-repair",
    strategy="harness.agent.strategies.shots:self_repair",
    parts=(*OF_TESTS, "repair"),
    options=("repair_rounds",),
    requests=lambda options: (1, 1 + options.repair_rounds),
    talks=True,
)
BEST_OF_K = Mode(
    name="best_of_k_public",
    title="best of k",
    strategy="harness.agent.strategies.shots:best_of_k_public",
    parts=OF_TESTS,
    options=("best_of",),
    requests=lambda options: (1, options.best_of),
    hands_in="most_passed",
)

_own: dict[str, Mode] = {}
"""Modes of users by name, as they were last declared."""


def mode_named(name: object) -> Mode:
    """Return a mode by its name, without running a user's code.

    A user's own is known once it was asked for, or a run of it was read.
    """
    name = str(name)
    own = _built_in(name) if name in MODES else _own.get(name)
    return own or undeclared(name)


@cache
def _built_in(name: str) -> Mode | None:
    """Return a built-in mode; None if its feature is not part of this installation."""
    return installed(MODES[name])


def built_in_modes(*, asking: bool = False) -> tuple[Mode, ...]:
    """Return the built-in modes, or those in which the harness sends the requests."""
    modes = filter(None, map(_built_in, MODES))
    return tuple(mode for mode in modes if mode.asks or not asking)


def undeclared(name: str) -> Mode:
    """Return the mode of a strategy of which nothing but its name is known."""
    return Mode(name=name, title=name, label=name.replace("_", " "), declared=False)


def remember(mode: Mode) -> Mode:
    """Make a user's own mode known by its name."""
    if not mode.built_in:
        _own[mode.name] = mode
    return mode


def remember_stored(name: object, stored: object) -> None:
    """Make a mode known from what `run.json` keeps of it; ignore what is not as expected."""
    if not isinstance(name, str) or not isinstance(stored, dict) or name in _own:
        return
    usual, given = undeclared(name), cast("dict[str, Any]", stored)
    kept = {key: given[key] for key in KEPT if type(given.get(key)) is type(getattr(usual, key))}
    options = given.get("options")
    known = cast("list[object]", options) if isinstance(options, list) else []
    kept["options"] = tuple(map(str, known))
    remember(replace(usual, **kept, declared=True))
