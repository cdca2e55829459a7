"""Sources of plug-ins, with checked results and errors in one line."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace

from harness.errors import DataError, UsageError
from harness.plugins import Plugin, words_of
from harness.problem import Problem, Reference, TestCase, TestSuite
from harness.sources.files.download import Watch, quiet
from harness.sources.files.rows import Loaded


def load_plugged(
    plugin: Plugin, where: str | None, *, skip_bad_rows: bool = False, watch: Watch = quiet
) -> Loaded:
    """Load the problems of a plug-in's source, called like a built-in one.

    Raises:
        UsageError: it does not load, raises, or returns something else than problems.
        HarnessError: the plug-in itself raised one.
    """
    load = plugin.load()
    if not callable(load):
        raise UsageError(f"{plugin} is a {type(load).__name__}; a source is a function")
    try:
        found: object = load(where, skip_bad_rows=skip_bad_rows, watch=watch)
    except (Exception, SystemExit) as error:
        raise plugin.blame(error) from error
    if not isinstance(found, Loaded):
        raise UsageError(
            f"{plugin} returned a {type(found).__name__}, not a harness.sources.files.rows.Loaded"
        )
    problems = tuple(found.problems)
    strange = next((each for each in problems if not isinstance(each, Problem)), None)  # pyright: ignore[reportUnnecessaryIsInstance] - theirs
    if strange is not None:
        raise UsageError(f"{plugin} returned a {type(strange).__name__} among its problems")
    twice = [name for name, count in Counter(p.id for p in problems).items() if count > 1]
    if twice:
        raise UsageError(f"{plugin} returned two problems of the id {twice[0]!r}")
    return replace(found, problems=tuple(_guarded(plugin, each) for each in problems))


def _guarded(plugin: Plugin, problem: Problem) -> Problem:
    """Return the problem; errors of later decoding are raised as DataError."""
    hidden = _HiddenTests(plugin, problem.id, problem.tests.load_hidden)
    references = _References(plugin, problem.id, problem.load_references)
    suite = TestSuite(problem.tests.public, hidden)
    return problem.model_copy(update={"tests": suite, "load_references": references})


@dataclass(frozen=True, slots=True)
class _HiddenTests:
    plugin: Plugin
    problem: str
    decode: Callable[[], tuple[TestCase, ...]]

    def __call__(self) -> tuple[TestCase, ...]:
        try:
            return tuple(self.decode())
        except (Exception, SystemExit) as error:
            raise _fault(self.plugin, self.problem, "hidden tests", error) from error


@dataclass(frozen=True, slots=True)
class _References:
    plugin: Plugin
    problem: str
    decode: Callable[[], tuple[Reference, ...]]

    def __call__(self) -> tuple[Reference, ...]:
        try:
            return tuple(self.decode())
        except (Exception, SystemExit) as error:
            raise _fault(self.plugin, self.problem, "references", error) from error


def _fault(plugin: Plugin, problem: str, what: str, error: BaseException) -> DataError:
    if isinstance(error, DataError):
        return error
    return DataError(problem, None, f"its {what}, by {plugin}: {words_of(error)}")
