"""Pages that compare two runs: answer, problems and pairs of conversations."""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Literal, NamedTuple

from starlette.requests import Request
from starlette.responses import Response

from harness.errors import HarnessError
from harness.features.compare.comparison import compare_read
from harness.features.compare.flips import graded_by_problem
from harness.features.compare.run_names import names_of
from harness.features.compare.table_rows import TableRow, rows_of
from harness.features.experiment.ranking import Ranking, rank
from harness.features.report.changed_outcomes import EMPTY, talk_of
from harness.features.report.charts import PALETTE
from harness.features.report.first_screen import FirstScreen, screen_of_two
from harness.features.report.page import chart_scripts, embedded
from harness.features.report.variants_section import experiment_section
from harness.features.viewer.html import coloured, language_of, line
from harness.features.viewer.library import Library
from harness.features.viewer.open_run import key_of, stamp_of
from harness.features.viewer.pages import Shown
from harness.features.viewer.query import FILTERS, ComparisonQuery, neighbours, page_of
from harness.run.store.results import SampleResult
from harness.run.store.transcripts import Transcripts
from harness.run.summary.conversation import RevisionHistory, aligned
from harness.run.summary.filtered_run import EVERYTHING, filtered_together
from harness.run.summary.loaded_run import Run, read_run
from harness.sources.selection import Selection

Kind = Literal["gained", "lost", "both", "neither", "equal"]
KINDS: tuple[Kind, ...] = ("gained", "lost", "both", "neither", "equal")
"""`gained`: the second run solves a larger share. `equal`: the same, but not all."""
MOST_TAGS = 100
MOST_KEPT = 4


class Fared(NamedTuple):
    """Outcome of a run on a problem: its solved samples, and the sample to show."""

    solved: int
    samples: int
    shown: SampleResult

    @property
    def outcome(self) -> str:
        """The verdict; if there are several samples, how many are solved."""
        if self.samples > 1:
            return f"{self.solved} of {self.samples} solved"
        return str(self.shown.verdict)


class ComparedProblem(NamedTuple):
    """A problem that both runs have graded; `first` is a sample, which has its facts."""

    key: str
    first: SampleResult
    kind: Kind
    a: Fared
    b: Fared

    @property
    def title(self) -> str:
        """The problem's title, or its id if the title is unknown."""
        return self.first.title or self.first.problem_id


class Beside(NamedTuple):
    """Comparison of two runs.

    Attributes:
        screen: first screen, as in the report.
        names: names of both runs.
        outcomes: outcomes by key, changed ones first.
        rows: settings and facts of both runs, as in `harness compare --details`.
        warnings: reasons why the runs are not fully comparable.
        languages: languages of both runs' solutions.
    """

    screen: FirstScreen
    names: tuple[str, str]
    outcomes: dict[str, ComparedProblem]
    rows: tuple[TableRow, ...]
    warnings: tuple[str, ...]
    languages: tuple[str, str]

    @property
    def counts(self) -> dict[str, int]:
        """Number of problems of each kind."""
        kinds = [outcome.kind for outcome in self.outcomes.values()]
        return {kind: kinds.count(kind) for kind in KINDS if kind in kinds}

    @property
    def difficulties(self) -> list[str]:
        """Difficulties that occur, in order."""
        order = ("easy", "medium", "hard")
        difficulties = {each.first.difficulty or "" for each in self.outcomes.values()} - {""}
        return sorted(difficulties, key=lambda name: (name not in order, name != "easy", name))

    @property
    def platforms(self) -> list[str]:
        """Those that there are."""
        return sorted({each.first.platform for each in self.outcomes.values()} - {""})

    @property
    def tags(self) -> dict[str, int]:
        """The most frequent tags, at most `MOST_TAGS`, and how many problems have each."""
        every = Counter(tag for each in self.outcomes.values() for tag in each.first.tags)
        return dict(sorted(every.most_common(MOST_TAGS)))

    @property
    def with_issues(self) -> int:
        """Problems with known issues."""
        return sum(bool(each.first.known_issues) for each in self.outcomes.values())

    @property
    def dated(self) -> bool:
        """Whether any problem has a release date."""
        return any(each.first.release_date for each in self.outcomes.values())


@lru_cache(maxsize=MOST_KEPT)
def beside(a: Path, b: Path, only: Selection, stamps: Hashable) -> Beside:
    """Compare two runs.

    Args:
        a: directory of the baseline.
        b: directory of the other run.
        only: filter of problems.
        stamps: differ from those of an earlier call if a run has changed since.

    Raises:
        RunDirectoryError: a run cannot be read, or no graded problem is in both.
        UsageError, NothingSelectedError: the filters leave nothing.
    """
    del stamps
    runs = filtered_together([read_run(path) for path in (a, b)], only)
    comparison = compare_read(runs)
    names = names_of(comparison)
    versus = comparison.versus[0]
    return Beside(
        screen=screen_of_two(comparison, (PALETTE[0], PALETTE[1])),
        names=(names[versus.baseline], names[versus.label]),
        outcomes={each.key: each for each in _outcomes(runs[0], runs[1], versus.changed)},
        rows=tuple(row for row in rows_of(comparison) if row.name != "run"),  # no paths
        warnings=(*versus.unlike, *versus.differs, *versus.notes),
        languages=(language_of(runs[0].spec), language_of(runs[1].spec)),
    )


def _outcomes(a: Run, b: Run, changed: Iterable[str]) -> list[ComparedProblem]:
    one, other = graded_by_problem(a), graded_by_problem(b)
    shared = [problem for problem in one if problem in other and problem not in set(changed)]
    outcomes = [_outcome(one[problem], other[problem]) for problem in shared]
    return sorted(outcomes, key=lambda each: (KINDS.index(each.kind), each.title.casefold()))


def _outcome(a: Sequence[SampleResult], b: Sequence[SampleResult]) -> ComparedProblem:
    solved = [sum(result.solved for result in own) for own in (a, b)]
    shares = solved[0] / len(a), solved[1] / len(b)
    wanted = shares[0] > 0, shares[1] > 0
    kind: Kind = "equal"
    if shares[0] != shares[1]:
        wanted = shares[0] > shares[1], shares[1] > shares[0]
        kind = "gained" if wanted[1] else "lost"
    elif shares[0] in {0, 1}:
        kind = "both" if shares[0] else "neither"
    sides = (
        Fared(right, len(own), next((each for each in own if each.solved == wants), own[0]))
        for own, right, wants in zip((a, b), solved, wanted, strict=True)
    )
    return ComparedProblem(key_of(a[0].problem_id), a[0], kind, *sides)


class ComparisonPages:
    """Pages of two runs, made on request.

    Args:
        library: the runs.
    """

    def __init__(self, library: Library) -> None:
        self._library = library

    def charts(self, request: Request) -> Response:
        """Answer with the script that draws charts."""
        del request
        return Response(chart_scripts(), media_type="text/javascript")

    def _beside(self, asked: ComparisonQuery) -> tuple[Beside, str]:
        """Return the requested comparison, and a hash that changes with its runs."""
        a, b = self._library.place(asked.a), self._library.place(asked.b)
        stamps = stamp_of(a.path), stamp_of(b.path)
        version = key_of(repr((asked.a, asked.b, stamps, asked.only)))
        kept = beside(a.path, b.path, asked.only, stamps)  # pyright: ignore[reportArgumentType] - frozen
        return kept, version

    def compare(self, request: Request) -> Shown:
        """Return the comparison and the problems of both runs."""
        asked = ComparisonQuery.of(request.query_params)
        whole = asked._replace(**dict.fromkeys(FILTERS, ""))
        try:
            compared, version = self._beside(asked)
            problem = ""
        except HarnessError as error:
            if asked.only == EVERYTHING:
                raise
            (compared, version), problem = self._beside(whole), str(error)
        shown = [each for each in compared.outcomes.values() if _is_of(each, asked.kind)]
        page = page_of(shown, asked.page)
        chart = compared.screen.chart
        return {
            "crumbs": [(f"{compared.names[1]} against {compared.names[0]}", None)],
            "version": version,
            "running": False,
            "asked": asked,
            "screen": compared.screen,
            "chart": embedded({chart.name: chart.chart}) if chart else None,
            "warnings": compared.warnings[:10],
            "rows": compared.rows,
            "problem": problem,
            "names": compared.names,
            "paths": [line(self._library.place(key).name) for key in (asked.a, asked.b)],
            "counts": compared.counts,
            "kinds": KINDS,
            "whole": self._beside(whole)[0],
            "outcomes": page.items,
            "total": page.total,
            "number": page.number,
            "pages": page.of,
            "address": asked.at,
            "link": partial(_problem_address, asked),
        }

    def problem(self, request: Request) -> Shown:
        """Return a problem's two solutions and conversations, revision by revision."""
        asked = ComparisonQuery.of(request.query_params)
        compared, version = self._beside(asked)
        key = request.path_params["problem"]
        outcome = compared.outcomes[key]
        keys = [k for k, each in compared.outcomes.items() if _is_of(each, asked.kind)]
        place = keys.index(key) if key in keys else -1
        before, after = neighbours(keys, place)
        places = self._library.place(asked.a), self._library.place(asked.b)
        fared = outcome.a, outcome.b
        talks = [_talk(p.path, f) for p, f in zip(places, fared, strict=True)]
        halves = [
            {
                "name": name,
                "fared": own,
                "talk": talk,
                "language": kind,
                "code": coloured(own.shown.code[:20_000], kind) if own.shown.code.strip() else None,
                "address": f"/runs/{p.key}/samples/{key_of(own.shown.sample)}",
            }
            for name, own, talk, p, kind in zip(
                compared.names, fared, talks, places, compared.languages, strict=True
            )
        ]
        return {
            "crumbs": [
                (f"{compared.names[1]} against {compared.names[0]}", asked.at()),
                (line(outcome.title), None),
            ],
            "version": version,
            "running": False,
            "outcome": outcome,
            "halves": halves,
            "rows": aligned(talks[0] or EMPTY, talks[1] or EMPTY),
            "coloured": coloured,
            "place": place + 1,
            "of": len(keys),
            "before": before and _problem_address(asked, before),
            "after": after and _problem_address(asked, after),
        }

    def experiment(self, request: Request) -> Shown:
        """Return an experiment's ranked table."""
        key = request.path_params["experiment"]
        places = self._library.listing().places
        variants = [each for each in places if each.experiment and key_of(each.group) == key]
        if not variants:
            raise KeyError(key)
        group, ranking = variants[0].group, rank(variants[0].path.parent)
        keys = {each.path.name: each.key for each in variants}
        baseline = keys.get(ranking.baseline)
        return {
            "crumbs": [(line(group), None)],
            "version": key_of(ranking.model_dump_json()),
            "running": False,
            "name": group,
            "ranking": ranking,
            "keys": keys,
            "against": {
                name: f"/compare?a={baseline}&b={own}"
                for name, own in keys.items()
                if baseline and own != baseline
            },
            **_charts(ranking),
        }


def _charts(ranking: Ranking) -> Shown:
    """Return the charts that the report has of an experiment."""
    charts = [each for each in experiment_section(ranking).exhibits if each.chart is not None]
    return {"charts": charts, "chart_data": embedded({each.name: each.chart for each in charts})}


def _is_of(outcome: ComparedProblem, kind: str) -> bool:
    if kind == "changed":
        return outcome.kind in {"gained", "lost"}
    return not kind or outcome.kind == kind


def _problem_address(asked: ComparisonQuery, key: str) -> str:
    return f"/compare/{key}?{asked._replace(page=1).url_part}"


def _talk(run: Path, fared: Fared) -> RevisionHistory | None:
    """Return the conversation of the sample shown; None if there is none."""
    opened = Transcripts(run)
    return talk_of(opened, fared.shown)
