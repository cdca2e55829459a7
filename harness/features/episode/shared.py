"""`Episodes`: problems, settings and sandboxes shared by many episodes."""

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from functools import cached_property
from typing import Any, Literal, TypeVar, Unpack, cast

from harness.agent.attempt import Limits
from harness.agent.problem_kind import ProblemKind
from harness.agent.strategies.modes import LOOP
from harness.agent.strategies.options import Context, StrategyOptions
from harness.agent.templates.prompt_set import PromptSet, load_prompt
from harness.closing import Closing
from harness.errors import NothingSelectedError, UsageError
from harness.features.episode.reward import RewardRule, find_reward
from harness.grading.stop import Stop
from harness.languages import LanguageName
from harness.models.protocol import ToolSpec
from harness.models.providers import ToolProtocol
from harness.problem import Problem
from harness.run.plan.judging_options import judging_of
from harness.run.plan.languages import check_language, check_settings_of, left_out_words, taking
from harness.run.plan.problem_kinds import (
    check_mode,
    check_settings,
    rules_of,
    said_in,
    toolbox_of,
)
from harness.run.plan.problem_loader import Benchmark, checked, read
from harness.run.reporter import LOG
from harness.run.session.isolation import isolate
from harness.run.session.warm_pool import WarmPool
from harness.run.settings.keys import JudgingKeys, SelectionKeys, Words
from harness.run.settings.python_arguments import spec_from
from harness.run.settings.python_signature import listing
from harness.run.settings.spec import RunSpec, refuse_ineffective
from harness.sandbox.executor import Executor
from harness.sources.problem_names import Names
from harness.sources.selection import rank, select
from harness.tools.toolbox import Toolbox

T = TypeVar("T")
CALLER = "Episodes()"
OWN = ("problems", "reward", "part", "held_out", "exclude")
BYTES_OF_PART = 8
HELD_OUT = 0.1


class EpisodeKeys(SelectionKeys, JudgingKeys, total=False):
    """Settings of an episode, with the same meaning as in a run."""

    prompt: str
    extract: str
    language: LanguageName
    cpp_flags: str | None
    max_turns: int
    max_tool_calls: int | None
    stop_on_pass: bool
    submit_tool: bool
    run_code_tool: bool
    show_budget: bool
    context: Context
    repeats: int
    check_turns: int
    report_tests: int
    tool: Words
    tool_protocol: ToolProtocol


class Episodes(Closing):
    """Problems, settings and warm sandboxes for any number of episodes at once.

    Sandboxes start when they are first needed and stay until `close`, or the end of the `with`
    block. Episodes of one `Episodes` may run in many threads and in any event loop.

    Args:
        problems: `NAME[:WHERE]` or loaded problems; None to pass `Problem`s to `reset`.
        reward: `solved` (1 if every test passes, else 0), `fraction` (the share of hidden tests
            that pass, or of the points), `shaped` (a mixture, see `docs/training.md`), or a
            function of an `EpisodeReward`.
        part: `train` or `held_out`, to use one part of the problems. A problem's part depends only
            on its id and `seed`, so it stays the same when problems are added.
        held_out: share of problems in the held-out part, 0 to 1, by default 0.1; only with `part`.
        exclude: problems or ids to leave out, such as those of an evaluation. A problem is also
            left out if its title or statement equals that of an excluded `Problem`, which may be
            of another benchmark; an id is of these problems.
        keys: settings: which problems (`max_release_date`, `exclude_known_issues`), how they are
            judged (`workers`, `test_timeout`), how the loop works (`max_turns`, `stop_on_pass`).

    Attributes:
        problems: the selected problems, in the data's order.

    Raises:
        UsageError: a key, a reward or a problem is unknown.
        DataError: a row does not match its schema.
        NothingSelectedError: no problem is selected.
        IsolationError: no sandbox is strong enough.
    """

    @listing(EpisodeKeys)
    def __init__(
        self,
        problems: Benchmark | None = None,
        *,
        reward: RewardRule = "solved",
        part: Literal["train", "held_out"] | None = None,
        held_out: float | None = None,
        exclude: Iterable[Problem | str] | Problem | str = (),
        **keys: Unpack[EpisodeKeys],
    ) -> None:
        self.rule = find_reward(reward, CALLER)
        self.spec = spec = spec_from(CALLER, keys, EpisodeKeys, OWN, mode=LOOP.name)
        if isinstance(spec.test_timeout, str):
            raise UsageError(f"{CALLER}: test_timeout {spec.test_timeout!r}: give seconds")
        if part not in {None, "train", "held_out"}:
            raise UsageError(f"{CALLER}: part {part!r}: give 'train' or 'held_out'")
        if held_out is not None and part is None:
            raise UsageError(f"{CALLER}: held_out {held_out!r} is the share of a part: give part")
        share = HELD_OUT if held_out is None else held_out
        if not (isinstance(share, int | float) and 0 <= share <= 1):  # pyright: ignore[reportUnnecessaryIsInstance] - untyped
            raise UsageError(f"{CALLER}: held_out {held_out!r:.60}: give a share from 0 to 1")
        left_out = _listed(exclude)
        taken: tuple[Problem, ...] = ()
        if problems is None and (part or left_out):
            what = "part" if part else "exclude"
            raise UsageError(f"{CALLER}: {what} chooses among problems: give problems, too")
        if problems is not None:
            every = read(checked(problems), spec).problems
            _check_names(left_out, every)
            taken = select(every, spec.selection()).problems
            taken = tuple(without(taken, left_out))
            taken = tuple(each for each in taken if _in_part(each, part, share, spec.seed))
            if not taken:
                raise NothingSelectedError(f"{CALLER}: no problem is left; check part and exclude")
            kept, not_taken = taking(taken, spec.language)
            taken = tuple(kept)
            if not_taken:
                LOG.notice(left_out_words(not_taken, spec.language))
        self.problems = taken
        self._said = said_in(spec)
        refuse_ineffective(spec)
        check_settings_of(spec)
        _check_context(spec)
        rules = self.rules_for(taken)
        self.judging = judging_of(spec)
        if reward != "solved" and spec.all_tests is None:  # else it would depend on where it stops
            self.judging = replace(self.judging, stop=Stop.LATE)
        self.limits = Limits(turns=spec.max_turns, tool_calls=spec.max_tool_calls)
        options = StrategyOptions.of(spec)
        grows = options.model_copy(update={"context": "grow"})
        self.options = grows if options.context == "auto" else options
        self._names = Names(taken, "Episodes")
        self._boxes: dict[str, Toolbox] = {}
        self._prompts: dict[str, PromptSet] = {}
        self.prompt(rules)
        self.toolbox(rules)
        choice = isolate(LOG, spec.require_isolation, unsafe=spec.unsafe_no_sandbox)
        self._pool = WarmPool(spec.where, choice.isolation, "set of episodes")
        self._pool.end_with(self)

    @cached_property
    def tools(self) -> tuple[ToolSpec, ...]:
        """The tools offered to the model; all problems must be of one kind."""
        return self.toolbox(rules_of(self.problems, self.spec.language)).specs

    def order(self, epoch: int = 0) -> list[Problem]:
        """Return the problems in the random order of an epoch, determined by `seed`."""
        seed = self.spec.seed
        return sorted(self.problems, key=lambda each: rank(seed, f"{epoch}\0{each.id}"))

    def find(self, problem: Problem | str) -> Problem:
        """Return a problem given as such or by its id. Raises UsageError."""
        if isinstance(problem, str):
            return self._names.find(problem)
        if not isinstance(problem, Problem):  # pyright: ignore[reportUnnecessaryIsInstance] - untyped
            raise UsageError(f"problem is a {type(problem).__name__}: give an id or a Problem")
        return problem

    def begin(self, work: Callable[[Executor], Coroutine[Any, Any, T]]) -> Future[T]:
        """Start work in the thread of the sandboxes. Raises UsageError after `close`."""
        return self._pool.begin(work)

    def close(self) -> None:
        """Stop the sandboxes, and with them every running episode."""
        self._pool.close()

    def rules_for(self, problems: Sequence[Problem]) -> ProblemKind:
        """Return the kind of the problems. Raises UsageError for an unused key."""
        rules, spec = rules_of(problems, self.spec.language), self.spec
        check_language(spec.language, problems, flags=spec.flags)
        check_mode(rules, LOOP, runs_code=spec.run_code_tool)
        check_settings(rules, self._said, runs_code=spec.run_code_tool, caller=CALLER)
        rules.extractor(spec.extract, "extract")
        return rules

    def toolbox(self, rules: ProblemKind) -> Toolbox:
        """Return the tools for a kind of problems. Raises UsageError."""
        if rules.kind not in self._boxes:
            self._boxes[rules.kind] = toolbox_of(self.spec, rules.tools, self.prompt(rules))
        return self._boxes[rules.kind]

    def prompt(self, rules: ProblemKind) -> PromptSet:
        """Return the prompt set for a kind of problems.

        Raises:
            UsageError: the prompt set does not exist.
        """
        if rules.kind not in self._prompts:
            of = rules.kind, rules.language
            self._prompts[rules.kind] = load_prompt(self.spec.prompt, LOOP.name, *of)
        return self._prompts[rules.kind]


def _check_context(spec: RunSpec) -> None:
    """Refuse fresh conversations in text. Raises UsageError."""
    if spec.tool_protocol == "text" and spec.context == "fresh":
        raise UsageError(
            f"{CALLER}: context='fresh' goes with native tools: in text an episode is one "
            "conversation; leave it out"
        )


def _listed(exclude: Any) -> list[Problem | str]:
    """Return what `exclude` names. Raises UsageError."""
    if isinstance(exclude, str | Problem):
        return [exclude]
    give = "give problems or their ids"
    if not isinstance(exclude, Iterable):
        raise UsageError(f"{CALLER}: exclude is a {type(exclude).__name__}: {give}")
    excluded = [*cast("Iterable[Any]", exclude)]
    for number, each in enumerate(excluded):
        if not isinstance(each, str | Problem):
            raise UsageError(f"{CALLER}: exclude[{number}] is a {type(each).__name__}: {give}")
    return excluded


def _check_names(exclude: Iterable[Problem | str], problems: Sequence[Problem]) -> None:
    """Check that each id is one of the problems', so that a misspelt one cannot leave one in.

    Raises:
        UsageError: an id is unknown.
    """
    names = Names(problems)
    for each in exclude:
        if isinstance(each, str) and not names.candidates(each):
            try:
                names.find(each)
            except UsageError as error:
                more = (
                    "to leave out problems of another benchmark, give the problems, not their ids"
                )
                raise UsageError(f"{CALLER}: exclude: {error}; {more}") from None


def without(problems: Sequence[Problem], exclude: Iterable[Problem | str]) -> list[Problem]:
    """Return the problems that are not excluded.

    Args:
        problems: problems to choose from.
        exclude: problems, which exclude their id, title and statement; or ids, native ids and
            aliases.
    """
    names: set[str] = set()
    texts: set[str] = set()
    for each in exclude:
        if isinstance(each, Problem):
            names.add(each.id.casefold())
            texts |= _texts(each)
        else:
            names.add(each.strip().casefold())
    return [
        problem
        for problem in problems
        if not texts & _texts(problem)
        and not names & {n.casefold() for n in (problem.id, problem.native_id, *problem.aliases)}
    ]


def _texts(problem: Problem) -> set[str]:
    """Return normalized title and statement, which identify a problem across sources."""
    title, statement = (
        " ".join(text.casefold().split()) for text in (problem.title, problem.statement)
    )
    return {f"{kind}\0{text}" for kind, text in (("t", title), ("s", statement)) if text}


def _in_part(problem: Problem, part: str | None, held_out: float, seed: int) -> bool:
    if part is None:
        return True
    place = rank(seed, f"part\0{problem.id}")[:BYTES_OF_PART]
    is_held_out = int.from_bytes(place) < held_out * 256**BYTES_OF_PART
    return is_held_out == (part == "held_out")


def tool_schemas(specs: Iterable[ToolSpec]) -> list[Mapping[str, Any]]:
    """Return tools as JSON schemas in the format of the chat completions API."""
    return [{"type": "function", "function": each.model_dump()} for each in specs]
