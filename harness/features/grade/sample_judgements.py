"""Judge the programs of a run's samples; a sample is committed when its last grade arrives."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from harness.agent.problem_kind import ProblemKind
from harness.features.grade.solutions import judged_answers
from harness.figures import count
from harness.grading.jobs import Job, Judged
from harness.grading.verdict import INFRASTRUCTURE, Grade, Verdict
from harness.problem import Problem
from harness.run.reporter import Reporter
from harness.run.session.judging import judge_jobs
from harness.run.session.judging_session import JudgingSession
from harness.text import printable_line

Failure = tuple[str, Verdict, str]
"""A sample that was not judged: its name, the verdict and the cause."""
_Key = tuple[str, str]  # a problem's id, and a program


class SampleToJudge(NamedTuple):
    """A sample: all its programs, and the one that counts."""

    name: str
    problem: Problem
    codes: Sequence[str]
    final: str


@dataclass(slots=True)
class SampleJudgements:
    """Judges each program of a problem once, for all samples that have it.

    Args:
        samples: the samples to judge.
        commit: called with the place of a sample and its grades by program. Samples whose final
            solution was not judged, because of the infrastructure, are not committed.

    Attributes:
        failures: the samples that were not judged.
    """

    samples: Sequence[SampleToJudge]
    commit: Callable[[int, Mapping[str, Grade]], None]
    failures: list[Failure] = field(default_factory=list[Failure])
    _waiting: dict[_Key, list[int]] = field(default_factory=dict[_Key, list[int]])
    _keys: list[_Key] = field(default_factory=list[_Key])
    _judged: dict[_Key, Judged] = field(default_factory=dict[_Key, Judged])
    _left: list[int] = field(default_factory=list[int])

    def judge(self, rules: ProblemKind, session: JudgingSession, reporter: Reporter) -> bool:
        """Judge every program; return whether the user interrupted it. Raises StorageError."""
        self._left = [len(sample.codes) for sample in self.samples]
        for place, sample in enumerate(self.samples):
            for code in sample.codes:
                self._waiting.setdefault((sample.problem.id, code), []).append(place)
        self._keys = [*self._waiting]
        jobs = [
            Job(number, self.samples[places[0]].problem, code)
            for number, ((_, code), places) in enumerate(self._waiting.items())
        ]
        jobs.sort(key=lambda job: job.problem.id)
        if rules.runs_code:
            return judge_jobs(jobs, session, reporter, "revisions", self.keep)
        for judged in judged_answers(jobs):
            self.keep(judged)
        return False

    @property
    def pending(self) -> Counter[str]:
        """Number of samples that were not judged, by verdict."""
        return Counter(str(verdict) for _, verdict, _ in self.failures)

    def keep(self, judged: Judged) -> None:
        """Store a grade and commit the samples that it completes. Raises StorageError."""
        key = self._keys[judged.number]
        self._judged[key] = judged
        for place in self._waiting[key]:
            self._left[place] -= 1
            if not self._left[place]:
                self._complete(place)

    def _complete(self, place: int) -> None:
        name, problem, codes, final = self.samples[place]
        own = {code: self._judged[problem.id, code] for code in codes}
        if (verdict := own[final].grade.verdict) in INFRASTRUCTURE:
            self.failures.append((name, verdict, own[final].cause))
        else:
            self.commit(place, {code: judged.grade for code, judged in own.items()})
        for key in ((problem.id, code) for code in codes):
            if not any(self._left[each] for each in self._waiting[key]):
                del self._judged[key]


def failure_words(failures: Sequence[Failure], noun: str) -> str:
    """Say how many samples were not judged, and why the first was not."""
    sample, _, cause = failures[0]
    return (
        f"{count(len(failures), noun)} not judged, the first, {printable_line(sample)}, "
        f"because: {printable_line(cause)}"
    )
