"""The search: GEPA's, over the templates of a prompt set.

Nothing of GEPA's own state is stored. It is deterministic given the scores and the reflection
model's answers, which runs and transcripts keep: resuming is doing it again from the start, where
whatever was asked before is read and not asked.
"""

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from harness.errors import UsageError
from harness.features.tune.candidate_runs import SearchStoppedError
from harness.features.tune.candidate_set import Candidate, CandidateSet, digest
from harness.features.tune.reflection_prompt import (
    ShownSample,
    proposed_template,
    reflection_messages,
)
from harness.features.tune.search_record import CandidateRecord, SearchRecord, read_record
from harness.features.tune.split import ProblemSplit
from harness.models.protocol import Message
from harness.registry import resolve
from harness.run.store.results import SampleResult

MINIBATCH = 3
"""Problems with which a proposal is compared with its parent first, as in GEPA."""
MOST_IDLE = 20
"""Proposals in a row without a new candidate, after which the search ends.

A model at temperature 0 may propose the same again and again, and each answer is paid for.
"""
MOST_TRIED = 4
"""Most earlier proposals for a template that the reflection model is shown."""
EPOCHS = 3
"""Passes through the train problems without a failure, after which the search ends."""

Results = Mapping[str, Sequence[SampleResult]]
Dataset = Mapping[str, Sequence[Mapping[str, Any]]]


def need_gepa() -> None:
    """Refuse to go on without the package.

    Raises:
        UsageError: it is not installed.
    """
    if find_spec("gepa") is None:
        raise UsageError("harness tune needs the package gepa: pip install 'harness[tune]'")


@dataclass(slots=True)
class GepaSearch:
    """A search, which GEPA drives through the three methods of its adapter.

    Attributes:
        candidates: makes and checks candidates.
        split: the problems.
        ask: asks a candidate problems and returns its results.
        shown: returns what may be shown of a sample.
        reflect: asks the reflection model.
        path: the tuning's directory, for the record.
        samples: samples of each problem.
        most: most samples of candidates; None for no limit.
        tell: called with a line on each step.
        seed: seed of GEPA's choices.
        record: the candidates so far.
    """

    candidates: CandidateSet
    split: ProblemSplit
    ask: Callable[[Candidate, Sequence[str]], Results]
    shown: Callable[[Candidate, SampleResult], ShownSample]
    reflect: Callable[[Sequence[Message]], str]
    path: Path
    samples: int
    most: int | None
    tell: Callable[[str], None]
    seed: int
    record: SearchRecord = field(default_factory=SearchRecord)
    propose_new_texts: Any = None
    _known: int = 0
    _idle: int = 0
    _quiet: int = 0
    _scores: Mapping[str, float] = field(default_factory=dict[str, float])
    _to_beat: dict[str, Mapping[str, float]] = field(default_factory=dict[str, Mapping[str, float]])

    def __post_init__(self) -> None:
        before = read_record(self.path)
        self._known = before.evaluations + before.proposals
        self.propose_new_texts = self.propose
        start = CandidateRecord(number=0, name=digest(self.candidates.start))
        self._keep(self.record.with_candidate(start))

    def run(self) -> SearchStoppedError:
        """Search until something ends it; return what did."""
        optimize = resolve("gepa.api:optimize")  # imported when a search begins
        try:
            optimize(
                dict(self.candidates.start),
                trainset=list(self.split.train),
                valset=list(self.split.selection),
                adapter=self,
                reflection_minibatch_size=min(MINIBATCH, len(self.split.train)),
                stop_callbacks=self._is_quiet,
                logger=_Silent(),
                track_best_outputs=False,
                seed=self.seed,
            )
        except SearchStoppedError as stopped:
            return stopped
        except _FailedError as failed:
            raise failed.cause from None
        return SearchStoppedError("done", "no train problem is left to learn from")

    def evaluate(self, batch: list[str], candidate: Candidate, capture_traces: bool = False) -> Any:
        """Return a candidate's scores on problems, as GEPA asks for them.

        A proposal is asked the train problems first that its parent does not always solve. If it
        cannot solve more than its parent any more, it is not asked the others, which count as
        failed: GEPA's decision is the same.
        """
        del capture_traces
        name, problems = digest(candidate), list(dict.fromkeys(batch))
        parent = self._to_beat.pop(name, None)
        if parent is None or set(parent) != set(problems):
            results = self._results(candidate, problems, problems)
        else:
            lost = [problem for problem in problems if parent[problem] < 1]
            results = self._results(candidate, lost, problems)
            others = [problem for problem in problems if problem not in lost]
            if sum(map(_score, results.values())) + len(others) > sum(parent.values()):
                results = {**results, **self._results(candidate, others, problems)}
        scores = {problem: _score(of_problem) for problem, of_problem in results.items()}
        self._scores = scores
        return resolve("gepa.core.adapter:EvaluationBatch")(
            outputs=list(batch),
            scores=[scores.get(problem, 0.0) for problem in batch],
            trajectories=[_failure(results.get(problem, ())) for problem in batch],
        )

    def _results(
        self, candidate: Candidate, problems: Sequence[str], batch: Sequence[str]
    ) -> Results:
        """Return a candidate's results on problems of a batch; ask those that are not known."""
        known = self.record.named(digest(candidate))
        assert known is not None
        new = [problem for problem in problems if problem not in known.scores]
        asked = self.record.evaluations + len(new) * self.samples
        if new and self.most is not None and asked > self.most:
            raise SearchStoppedError("evaluations", f"{self.record.evaluations} of {self.most}")
        if not problems:
            return {}
        results = self.ask(candidate, problems)
        if new:
            scores = {problem: _score(of_problem) for problem, of_problem in results.items()}
            self._keep_scores(known, scores, asked, new, batch)
        return results

    def make_reflective_dataset(
        self, candidate: Candidate, eval_batch: Any, components_to_update: list[str]
    ) -> Dataset:
        """Return the samples that the reflection model is shown, failures first."""
        with _never_swallowed():
            sample_results: Sequence[SampleResult] = eval_batch.trajectories
            results = sorted(sample_results, key=lambda each: each.solved)
            shown = [{"sample": self.shown(candidate, result)} for result in results]
            return dict.fromkeys(components_to_update, shown)

    def propose(
        self, candidate: Candidate, reflective_dataset: Dataset, components_to_update: list[str]
    ) -> dict[str, str]:
        """Return a new text for a template; nothing if it is faulty, or in the pool already."""
        with _never_swallowed():
            return self._proposed(candidate, reflective_dataset, components_to_update)

    def _proposed(
        self, candidate: Candidate, reflective_dataset: Dataset, components_to_update: list[str]
    ) -> dict[str, str]:
        self._quiet = 0
        if self._idle >= MOST_IDLE:
            raise SearchStoppedError("done", f"{MOST_IDLE} proposals in a row brought nothing new")
        (place,) = components_to_update
        samples = [each["sample"] for each in reflective_dataset[place]]
        parent_scores = self._scores
        parent = self.record.named(digest(candidate))
        assert parent is not None
        tried = [*self._tried(parent, place)]
        answer = self.reflect(reflection_messages(place, candidate[place], samples, tried))
        text = proposed_template(answer)
        self._idle += 1
        update = {"proposals": self.record.proposals + 1}
        self.record = self.record.model_copy(update=update)
        proposed = {**candidate, place: text}
        known = self.record.named(digest(proposed))
        if known is not None:  # one that other problems did not favour may be tried again
            self._keep(self.record)
            selected = known.mean(self.split.selection) is not None
            if known.fault or selected:
                return {}
            self._to_beat[known.name] = parent_scores
            return {place: text}
        self.candidates.folder_of(proposed)
        fault = self.candidates.fault(proposed) if text else "the answer has no template"
        made = CandidateRecord(
            number=len(self.record.candidates),
            name=digest(proposed),
            parent=parent.number,
            template=place,
            fault=fault,
        )
        self._keep(self.record.with_candidate(made))
        if fault:
            self.tell(f"candidate {made.number}, from {parent.number}: not asked: {fault}")
            return {}
        self._to_beat[made.name] = parent_scores
        return {place: text}

    def _tried(self, parent: CandidateRecord, place: str) -> Iterator[str]:
        """Yield the last texts that were proposed for a template of a candidate."""
        own = [
            each
            for each in self.record.candidates
            if each.parent == parent.number and each.template == place
        ]
        for each in own[-MOST_TRIED:]:
            text = (self.candidates.folder / each.name / place).read_text(encoding="utf-8")
            if text:
                yield text

    def _keep_scores(
        self,
        known: CandidateRecord,
        scores: Mapping[str, float],
        asked: int,
        new: Sequence[str],
        batch: Sequence[str],
    ) -> None:
        """Record new scores, and tell of them."""
        if not known.scores and known.parent is not None:
            self._idle = 0
        update: dict[str, Any] = {"scores": {**known.scores, **scores}}
        if known.parent is not None and known.scores.keys() <= set(batch):
            update["batch"] = (*known.batch, *scores)
        changed = known.model_copy(update=update)
        self.record = self.record.model_copy(update={"evaluations": asked})
        self._keep(self.record.with_candidate(changed))
        solved = f"{sum(scores.values()):g} of {len(scores)}"
        origin = "the start" if known.parent is None else f"from {known.parent}"
        part = "selection" if set(new) <= set(self.split.selection) else "train"
        self.tell(f"candidate {known.number}, {origin}: {solved} {part} problems solved")

    def _keep(self, record: SearchRecord) -> None:
        """Store the record, unless the one on disk is further: the search is being repeated."""
        self.record = record
        if record.evaluations + record.proposals >= self._known:
            record.write(self.path)

    def _is_quiet(self, state: object) -> bool:
        """Whether no problem fails any more; called before each step."""
        del state
        self._quiet += 1
        batches = -(-len(self.split.train) // min(MINIBATCH, len(self.split.train)))
        return self._quiet > EPOCHS * batches + 1


def _score(results: Sequence[SampleResult]) -> float:
    """Return the share of a problem's samples that are solved."""
    return sum(each.solved for each in results) / len(results)


def _failure(results: Sequence[SampleResult]) -> SampleResult | None:
    """Return the first sample that is not solved, else the first; None if there is none."""
    return next((each for each in results if not each.solved), next(iter(results), None))


class _FailedError(BaseException):
    """An error that GEPA would take for a failed proposal and try again, which costs."""

    def __init__(self, cause: Exception) -> None:
        self.cause = cause
        super().__init__(str(cause))


@contextmanager
def _never_swallowed() -> Generator[None]:
    try:
        yield
    except Exception as error:
        raise _FailedError(error) from error


class _Silent:
    """GEPA's log, which is not kept: the record and the lines of the command say it."""

    def log(self, message: str) -> None:
        """Ignore a line."""
