"""Pages that compare two runs: answer, problems and pairs of conversations."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import Response

from harness.errors import HarnessError, UsageError
from harness.features.experiment.ranking import rank
from harness.features.report.notable_problems import EMPTY, talk_of
from harness.features.report.page import chart_scripts, embedded
from harness.features.viewer.comparison.outcomes import KINDS, Beside, Fared, Outcome, beside
from harness.features.viewer.highlight import coloured
from harness.features.viewer.html import line
from harness.features.viewer.library import Library
from harness.features.viewer.open_run import Place, key_of, stamp_of
from harness.features.viewer.query import page_number, page_of, url_words
from harness.run.store.transcripts import Transcripts
from harness.run.summary.conversation import Conversation, aligned
from harness.run.summary.groups import EVERYTHING, read_filters
from harness.sources.selection import Selection

Shown = dict[str, Any]
Answer = Callable[[Request, str, Callable[[Request], Shown | None]], Response]
MOST_KEPT = 4
LONGEST_WORD = 200
FILTERS = ("difficulty", "platform", "tag", "since", "until", "issues")


@dataclass(frozen=True, slots=True)
class ComparisonQuery:
    """Query of a comparison's URL; unknown words are ignored.

    Attributes:
        kind: one of `KINDS`, `changed`, or empty for all.
        difficulty, platform, tag, since, until: filters of problems.
        issues: `none` to leave out problems with known issues.
    """

    a: str
    b: str
    kind: str = ""
    difficulty: str = ""
    platform: str = ""
    tag: str = ""
    since: str = ""
    until: str = ""
    issues: str = ""
    page: int = 1

    @classmethod
    def of(cls, words: QueryParams) -> "ComparisonQuery":
        """Read the query of a URL: `a` and `b`, or `run` twice."""
        chosen = words.getlist("run") or [words.get("a", ""), words.get("b", "")]
        if len(chosen) != 2:  # noqa: PLR2004 - a pair
            raise UsageError(f"choose two runs to compare; {len(chosen)} are chosen")
        told = {name: words.get(name, "")[:LONGEST_WORD] for name in ("kind", *FILTERS)}
        page = page_number(words.get("page", "1"))
        return cls(chosen[0][:64], chosen[1][:64], **told, page=page)

    def at(self, page: int = 1) -> str:
        """Return the URL of a page of the comparison."""
        return f"/compare?{replace(self, page=page).words}"

    @property
    def words(self) -> str:
        """The query as the end of a URL."""
        told = {name: getattr(self, name) for name in ("a", "b", "kind", *FILTERS)}
        return url_words({**told, "page": str(self.page) if self.page > 1 else ""})

    @property
    def only(self) -> Selection:
        """Filter of problems. Raises UsageError if a date is malformed."""
        return read_filters(
            {
                "filter_difficulty": [self.difficulty] if self.difficulty else [],
                "filter_platform": [self.platform] if self.platform else [],
                "filter_tags": [self.tag] if self.tag else [],
                "min_release_date": self.since or None,
                "max_release_date": self.until or None,
                "exclude_known_issues": True if self.issues == "none" else None,
            }
        )


class ComparisonPages:
    """Pages of two runs, made on request.

    Args:
        library: the runs.
        answer: makes a response of a template and its values.
    """

    def __init__(self, library: Library, answer: Answer) -> None:
        self._library, self._answer = library, answer
        self._kept: OrderedDict[tuple[Any, ...], Beside] = OrderedDict()

    def compare(self, request: Request) -> Response:
        """Answer with the comparison and the problems of both runs."""
        return self._answer(request, "compare.j2", self._compare)

    def problem(self, request: Request) -> Response:
        """Answer with a problem's two solutions and conversations, revision by revision."""
        return self._answer(request, "problem.j2", self._problem)

    def experiment(self, request: Request) -> Response:
        """Answer with an experiment's ranked table."""
        return self._answer(request, "experiment.j2", self._experiment)

    def charts(self, request: Request) -> Response:
        """Answer with the script that draws charts."""
        del request
        return Response(chart_scripts(), media_type="text/javascript")

    def _place(self, key: str) -> Place:
        place = next((each for each in self._library.found().places if each.key == key), None)
        if place is None:
            raise KeyError(key)
        return place

    def _beside(self, asked: ComparisonQuery) -> tuple[Beside, str]:
        """Return the requested comparison, and a hash that changes with its runs."""
        a, b = self._place(asked.a), self._place(asked.b)
        key = asked.a, asked.b, stamp_of(a.path), stamp_of(b.path), asked.only
        found = self._kept.pop(key, None) or beside(a.path, b.path, asked.only)
        self._kept[key] = found
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)
        return found, key_of(repr(key))

    def _compare(self, request: Request) -> Shown | None:
        asked = ComparisonQuery.of(request.query_params)
        whole = replace(asked, **dict.fromkeys(FILTERS, ""))
        try:
            found, version = self._beside(asked)
            problem = ""
        except HarnessError as error:
            if asked.only == EVERYTHING:
                raise
            (found, version), problem = self._beside(whole), str(error)
        shown = [each for each in found.outcomes.values() if _is_of(each, asked.kind)]
        page = page_of(shown, asked.page)
        chart = found.screen.chart
        return {
            "crumbs": [(f"{found.names[1]} against {found.names[0]}", None)],
            "version": version,
            "running": False,
            "asked": asked,
            "screen": found.screen,
            "chart": embedded({chart.name: chart.chart}) if chart else None,
            "warnings": found.warnings[:10],
            "problem": problem,
            "names": found.names,
            "paths": [line(self._place(key).name) for key in (asked.a, asked.b)],
            "counts": found.counts,
            "kinds": KINDS,
            "whole": self._beside(whole)[0],
            "outcomes": page.items,
            "total": page.total,
            "number": page.number,
            "pages": page.of,
            "address": asked.at,
            "link": partial(_problem_address, asked),
        }

    def _problem(self, request: Request) -> Shown | None:
        asked = ComparisonQuery.of(request.query_params)
        found, version = self._beside(asked)
        key = request.path_params["problem"]
        outcome = found.outcomes[key]
        keys = [k for k, each in found.outcomes.items() if _is_of(each, asked.kind)]
        place = keys.index(key) if key in keys else -1
        around = {
            "before": _problem_address(asked, keys[place - 1]) if place > 0 else None,
            "after": _problem_address(asked, keys[place + 1])
            if 0 <= place < len(keys) - 1
            else None,
        }
        places = self._place(asked.a), self._place(asked.b)
        fared = outcome.a, outcome.b
        talks = [_talk(p.path, f) for p, f in zip(places, fared, strict=True)]
        halves = [
            {
                "name": name,
                "fared": own,
                "talk": talk,
                "code": coloured(own.shown.code[:20_000]) if own.shown.code.strip() else None,
                "address": f"/runs/{p.key}/samples/{key_of(own.shown.sample)}",
            }
            for name, own, talk, p in zip(found.names, fared, talks, places, strict=True)
        ]
        return {
            "crumbs": [
                (f"{found.names[1]} against {found.names[0]}", asked.at()),
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
            **around,
        }

    def _experiment(self, request: Request) -> Shown | None:
        key = request.path_params["experiment"]
        group = next(
            (each for each in self._library.found().places
             if each.experiment and key_of(each.group) == key), None
        )  # fmt: skip
        if group is None:
            raise KeyError(key)
        ranking = rank(group.path.parent)
        keys = {each.path.name: each.key for each in self._library.found().places
                if each.group == group.group}  # fmt: skip
        baseline = keys.get(ranking.baseline)
        return {
            "crumbs": [(line(group.group), None)],
            "version": key_of(ranking.model_dump_json()),
            "running": False,
            "name": group.group,
            "ranking": ranking,
            "keys": keys,
            "against": {
                name: f"/compare?a={baseline}&b={own}"
                for name, own in keys.items()
                if baseline and own != baseline
            },
        }


def _is_of(outcome: Outcome, kind: str) -> bool:
    if kind == "changed":
        return outcome.kind in {"gained", "lost"}
    return not kind or outcome.kind == kind


def _problem_address(asked: ComparisonQuery, key: str) -> str:
    return f"/compare/{key}?{replace(asked, page=1).words}"


def _talk(run: Path, fared: Fared) -> Conversation | None:
    """Return the conversation of the sample shown; None if there is none."""
    with Transcripts(run) as opened:
        return talk_of(opened, fared.shown)
