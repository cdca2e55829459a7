"""One call of `harness tune`: split, search, and the test part, each resumed where it stopped."""

import os
import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from harness.errors import RunDirectoryError, StorageError, UsageError
from harness.features.experiment.run_parts import close_models
from harness.features.experiment.runs_folder import locked, refuse_used
from harness.features.tune.candidate_runs import (
    CandidateRuns,
    SearchStoppedError,
    most_of,
    refuse_function,
    refuse_recorded,
    times,
)
from harness.features.tune.candidate_set import Candidate, CandidateSet, digest
from harness.features.tune.gepa_search import GepaSearch, Results, need_gepa
from harness.features.tune.outcome import (
    CANDIDATES,
    PROMPT,
    REFLECTION,
    RUNS,
    START_TEST,
    TUNED_TEST,
    TuneOutcome,
    outcome_of,
)
from harness.features.tune.reflection import Reflection, ReflectionModel
from harness.features.tune.reflection_prompt import ShownSample
from harness.features.tune.search_record import CandidateRecord, read_record
from harness.features.tune.split import split_problems
from harness.features.tune.tune_file import FILE, TuneFile, TuneOptions, read_tune
from harness.features.tune.view import PAGE, write_page
from harness.problem import ProblemView
from harness.run.engine.controller import RunController
from harness.run.engine.lifecycle import PreparedRun
from harness.run.plan.budget import NOTHING, Total
from harness.run.plan.target import resolve_target
from harness.run.settings.spec import (
    RESUMABLE,
    RunSpec,
    given_as,
    known_keys,
    read_spec,
    spec_of,
    stored,
)
from harness.run.store.directory import default_path
from harness.run.store.results import SampleResult
from harness.run.store.transcript import file_name
from harness.run.store.transcripts import Transcripts
from harness.sources.selection import select
from harness.version import __version__

MARGIN = 1.1
"""Kept for the test part, for each dollar that it would cost at the mean so far."""
USUAL_EVALUATIONS = 300
"""Most samples of candidates, where neither they nor the budget are limited."""


class TuneRequest(NamedTuple):
    """The tuning to begin or go on with.

    Attributes:
        path: its directory.
        spec: settings of its runs.
        options: what is asked for beside.
    """

    path: Path
    spec: RunSpec
    options: TuneOptions

    @classmethod
    def of(
        cls,
        settings: Mapping[str, Any],
        options: TuneOptions,
        out: Path | None = None,
        resume: Path | None = None,
    ) -> "TuneRequest":
        """Read the settings, or those of a tuning on disk.

        Raises:
            UsageError: a setting is invalid, or cannot be changed on resume.
            RunDirectoryError: `resume` is not a tuning.
        """
        if resume is not None:
            return cls._on_disk(settings, options, out, resume)
        spec = read_spec(None, settings)
        if not spec.known_mode.asks:
            raise UsageError(f"--mode {spec.mode}: your own agent hears no prompt of harness")
        name = resolve_target(spec, os.environ).name
        path = out or default_path("tune", name)
        return cls(path, spec.model_copy(update={"model": name}), options)

    @classmethod
    def _on_disk(
        cls, settings: Mapping[str, Any], options: TuneOptions, out: Path | None, resume: Path
    ) -> "TuneRequest":
        tuning = read_tune(resume)
        fixed = sorted(set(settings) - RESUMABLE)
        given = options.model_dump(exclude_defaults=True)
        fixed += sorted(given.pop("sizes", {}))
        fixed += sorted(given.keys() - {"max_evaluations", "reflection_base_url"})
        if fixed or out is not None:
            name = given_as(fixed[0] if fixed else "out", settings)
            raise UsageError(
                f"--resume takes the tuning's own settings; {name} does not go with it"
            )
        spec = spec_of({**known_keys(tuning.spec), **settings}, str(resume), settings)
        return cls(resume, spec, tuning.options.model_copy(update=given))

    def again(self, *more: str) -> str:
        """Return the command that goes on."""
        return shlex.join(["harness", "tune", "--resume", str(self.path), *more])


@dataclass(slots=True)
class Tuning:
    """A tuning, prepared by `prepare` and carried out by `carry_out`.

    Attributes:
        asked: what was asked for.
        controller: carries runs out.
        tell: called with a line on each step.
        tune: contents of `tune.json`.
        runs: the runs of candidates.
        candidates: makes and checks candidates.
        reflection: asks for new templates.
        views: the problems of all parts by id, as a model sees them.
    """

    asked: TuneRequest
    controller: RunController
    tell: Callable[[str], None]
    tune: TuneFile = field(init=False)
    runs: CandidateRuns = field(init=False)
    candidates: CandidateSet = field(init=False)
    reflection: Reflection = field(init=False)
    views: Mapping[str, ProblemView] = field(init=False)
    _costs: dict[str, Total] = field(default_factory=dict[str, Total])
    _unused: ExitStack = field(default_factory=ExitStack)

    def prepare(self) -> PreparedRun:
        """Find mistakes before anything costs; return the start's run on the search's problems.

        Raises:
            HarnessError: a setting, model, prompt set or problem cannot be used.
        """
        need_gepa()
        path, spec, options = self.asked.path, self.asked.spec, self.asked.options
        refuse_recorded(spec)
        loaded = self.controller.reader(spec)(spec.benchmark or "fixture")
        problems = {each.id: each for each in loaded.problems}
        before = read_tune(path) if (path / FILE).exists() else None
        if before is None:
            refuse_used(path / FILE, "a tuning", CANDIDATES)
            selected = select(loaded.problems, spec.selection()).problems
            split = split_problems(selected, options.sizes, spec.seed, options.test_from)
        else:
            before.refuse_other(path, stored(spec), options)
            split = before.split
        lost = [each for each in (*split.searched, *split.test) if each not in problems]
        if lost:
            raise RunDirectoryError(f"{path}: the benchmark no longer has problem {lost[0]}")
        self.views = {each: problems[each].view() for each in (*split.searched, *split.test)}
        dry = self.controller.dry_run
        folder = path / CANDIDATES
        if dry:
            folder = Path(self._unused.enter_context(TemporaryDirectory()))
        self.candidates = CandidateSet.of(spec.prompt, spec.mode, folder, [*self.views.values()])
        model = ReflectionModel.of(
            spec, options.reflection_model, options.reflection_base_url, dry_run=dry
        )
        start = digest(self.candidates.start)
        if before is not None and before.start != start:
            raise RunDirectoryError(
                f"{path} was begun with other templates of --prompt {spec.prompt}; put them back, "
                "or choose another --out"
            )
        self.tune = before or TuneFile(
            harness=__version__,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            spec=stored(spec),
            options=options,
            split=split,
            start=start,
            reflection_price=model.price,
        )
        self.runs = CandidateRuns(self.controller, spec, path / RUNS, loaded)
        self.reflection = Reflection(model, path / REFLECTION, self.controller, self._allows)
        self.runs.elsewhere = self.reflection.spent
        begun = self.candidates.folder_of(self.candidates.start)
        prepared = self.runs.prepare(begun, start, split.searched)
        refuse_function(prepared)
        return prepared

    def close(self, prepared: PreparedRun) -> None:
        """Close what `prepare` opened, and is not used."""
        close_models([prepared])
        self._unused.close()

    def carry_out(self) -> TuneOutcome:
        """Search, ask the test part, and write the prompt folder and the page.

        Raises:
            HarnessError: another process is at work on it, or a write failed.
        """
        with locked(self.asked.path, "tuning"):
            self._keep(spec=stored(self.asked.spec))
            if self.tune.chosen is None:
                self._keep(ended="running", remark="")
            stopped = SearchStoppedError("interrupted")
            try:
                stopped = self._search() if self.tune.chosen is None else self._tested()
            except SearchStoppedError as error:  # in the test part
                stopped = error
            except KeyboardInterrupt:  # between two requests
                self.controller.interrupts += 1
            self._keep(ended=stopped.ended, remark=stopped.remark)
            self._write_prompt()
            outcome = outcome_of(self.asked.path)
            write_page(outcome, self.candidates.start)
        return outcome

    def remarks(self, outcome: TuneOutcome) -> Iterator[str]:
        """Yield why the tuning is not complete and how it goes on, and where things are."""
        again = self.asked.again()
        match outcome.ended:
            case "interrupted":
                yield f"interrupted; go on with: {again}"
                if self.tune.chosen is None and outcome.best:
                    fewer = ("--max-evaluations", str(outcome.evaluations))
                    yield f"end the search here, and ask the test part: {self.asked.again(*fewer)}"
            case "pending":
                yield f"samples are pending ({outcome.remark}); try again with: {again}"
            case "budget" if self.tune.chosen is None or self._is_short(outcome):
                yield f"the budget is spent ({outcome.remark}); go on with a larger one: {again}"
            case _:
                pass
        if outcome.prompt is not None:
            yield f"prompt folder: {outcome.prompt}, report: {self.asked.path / PAGE}"

    @staticmethod
    def _is_short(outcome: TuneOutcome) -> bool:
        return outcome.gain is None or outcome.gain.problems < outcome.gain.planned

    def _search(self) -> SearchStoppedError:
        """Search, then ask the test part if the search came to its end."""
        asked = self.asked
        search = GepaSearch(
            self.candidates,
            self.tune.split,
            self._ask,
            self._shown,
            self.reflection.ask,
            asked.path,
            asked.spec.samples_per_problem,
            self._most_evaluations,
            self.tell,
            asked.spec.seed,
        )
        stopped = search.run()
        best = search.record.best(self.tune.split.selection)
        if stopped.ended in {"interrupted", "pending"} or best is None or not best.number:
            return stopped
        self._keep(chosen=best.name, ended=stopped.ended, remark=stopped.remark)
        self.tell(
            f"candidate {best.number} is best; it and the start are asked the "
            f"{len(self.tune.split.test)} test problems"
        )
        return self._tested()

    @property
    def _most_evaluations(self) -> int | None:
        """The limit of evaluations; a usual one where there is no budget either."""
        spec, given = self.asked.spec, self.asked.options.max_evaluations
        has_budget = spec.max_cost is not None or spec.max_tokens_total is not None
        return given if given is not None or has_budget else USUAL_EVALUATIONS

    def _tested(self) -> SearchStoppedError:
        """Ask the start and the chosen candidate the test problems that are missing.

        Returns:
            How the search ended.
        """
        test = self.tune.split.test
        chosen = self.candidates.folder / str(self.tune.chosen)
        start = self.candidates.folder_of(self.candidates.start)
        for folder, name in ((start, START_TEST), (chosen, TUNED_TEST)):
            self.runs.ask(folder, name, test, test)
        return SearchStoppedError(self.tune.ended, self.tune.remark)

    def _ask(self, candidate: Candidate, wanted: Sequence[str]) -> Results:
        """Return a candidate's results in the search, within what the test part leaves."""
        folder, name = self.candidates.folder_of(candidate), digest(candidate)
        searched = self.tune.split.searched
        results = self.runs.ask(folder, name, searched, wanted, self._allowance())
        asked = [each for of_problem in results.values() for each in of_problem]
        known = self._costs.get(name, NOTHING)
        self._costs[name] = most_of((self.runs.mean_cost(asked), known))
        return results

    def _allowance(self) -> Total:
        """Return what search and reflection may spend: the rest is for the test part."""
        spec, split = self.asked.spec, self.tune.split
        limit = Total(spec.max_cost or 0.0, spec.max_tokens_total or 0.0)
        samples = len(split.test) * spec.samples_per_problem
        if not self._costs:  # each sample is taken to cost the same
            share = 2 * len(split.test) / (2 * len(split.test) + len(split.selection))
            return times(limit, 1 - share)
        both = self._costs[self.tune.start] + most_of(self._costs.values())
        return limit - times(both, MARGIN * samples)

    def _allows(self, dearest: Total) -> None:
        """Refuse a request for reflection that the budget does not hold."""
        spec, allowance = self.asked.spec, self._allowance()
        if spec.max_cost is None and spec.max_tokens_total is None:
            return
        after = self.runs.spent() + dearest
        for limit, amount, most in (
            (spec.max_cost, after.cost, allowance.cost),
            (spec.max_tokens_total, after.tokens, allowance.tokens),
        ):
            if limit is not None and amount >= most:
                raise SearchStoppedError("budget", "the rest is kept for the test part")

    def _shown(self, candidate: Candidate, result: SampleResult) -> ShownSample:
        run = self.asked.path / RUNS / digest(candidate)
        transcripts = Transcripts(run)
        events = list(transcripts.events(file_name(result.problem_id, result.index)))
        return ShownSample.of(self.views[result.problem_id], result, events)

    def _best(self) -> CandidateRecord | None:
        record = read_record(self.asked.path)
        if self.tune.chosen is not None:
            return record.named(self.tune.chosen)
        return record.best(self.tune.split.selection)

    def _write_prompt(self) -> None:
        """Write the folder with the best prompt; the start's if nothing was better."""
        best = self._best()
        if best is None:
            return
        folder, draft = self.asked.path / PROMPT, self.asked.path / f".{PROMPT}.draft"
        try:
            shutil.rmtree(draft, ignore_errors=True)
            shutil.copytree(self.candidates.folder / best.name, draft)
            shutil.rmtree(folder, ignore_errors=True)
            draft.rename(folder)
        except OSError as error:
            raise StorageError(f"{folder}: {error.strerror or error}") from error

    def _keep(self, **update: Any) -> None:
        self.tune = self.tune.model_copy(update=update)
        self.tune.write(self.asked.path)
