"""Reports of small runs, on disk and in a browser."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from browser import Seen, page, watch
from playwright.async_api import Page

from harness.features.report.labelled_runs import LabelledRun, sides_of
from harness.features.report.page import report_page
from harness.grading.verdict import Verdict
from harness.run.settings.spec import RunSpec
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run, read_run
from harness.tools.revision import Revision

MakeResult = Callable[..., SampleResult]
WriteRun = Callable[..., Path]


@pytest.fixture
def sides(write_run: WriteRun) -> Callable[..., list[LabelledRun]]:
    """The sides of runs with these samples: `sides(single=[…], agentic=[…])`."""

    def made(**runs: list[SampleResult]) -> list[LabelledRun]:
        return sides_of([read_run(write_run(name, results)) for name, results in runs.items()])

    return made


@pytest.fixture
def report(tmp_path: Path) -> Callable[..., Path]:
    """The page of some runs, as a file."""

    def written(*runs: Path, cutoff: date | None = None, title: str = "Report") -> Path:
        path = tmp_path / "report.html"
        path.write_text(report_page([read_run(run) for run in runs], title=title, cutoff=cutoff))
        return path

    return written


@pytest.fixture(scope="session")
def many(make_result: MakeResult) -> Callable[..., list[SampleResult]]:
    """Samples of problems p0, p1, … of all difficulties; every third is solved."""

    def made(number: int, **changes: Any) -> list[SampleResult]:
        return [
            make_result(
                f"p{at}",
                solved=at % 3 == 0,
                title=f"Problem number {at}",
                difficulty=("easy", "medium", "hard")[at % 3],
                platform=("left", "right")[at % 2],
                tags=(f"tag-{at % 4}",),
                release_date=date(2024, 1 + at % 12, 15),
                seconds=float(number - at),
                **changes,
            )
            for at in range(number)
        ]

    return made


@pytest.fixture(scope="session")
def in_memory() -> Callable[..., Run]:
    """A run that is on no disk."""

    def made(name: str, results: list[SampleResult], **spec: Any) -> Run:
        manifest = {
            "prompt": {"name": "default", "hash": "h"},
            "spec": RunSpec(model="made-model", **spec).model_dump(mode="json"),
            "problems": {result.problem_id: result.problem_hash for result in results},
        }
        return Run(Path("runs") / name, manifest, tuple(results))

    return made


@pytest.fixture(scope="session")
def two(
    tmp_path_factory: pytest.TempPathFactory,
    in_memory: Callable[..., Run],
    many: Callable[..., list[SampleResult]],
) -> Path:
    """A report of an agentic and a single-shot run, with a cut-off."""
    first = Revision(turn=1, tokens=500, cost=0.1, seconds=1.0, public_passed=0, solved=False)
    second = Revision(turn=2, tokens=1_000, cost=0.2, seconds=2.0, public_passed=1, solved=True)
    agentic = [
        result.model_copy(update={"steps": (first, second) if result.solved else (first,)})
        for result in many(36, model_calls=2)
    ]
    single = [r.model_copy(update={"code": f"print({n})"}) for n, r in enumerate(many(36))]
    single[0] = single[0].model_copy(update={"verdict": Verdict.WRONG_ANSWER})
    runs = [
        in_memory("single", single, mode="single_shot"),
        in_memory("agentic", agentic, mode="agentic"),
    ]
    path = tmp_path_factory.mktemp("two") / "report.html"
    path.write_text(report_page(runs, cutoff=date(2024, 6, 1)))
    return path


@pytest.fixture
def opened() -> Callable[..., Any]:
    """A report in a browser, its charts drawn: the page, and what went on in it."""

    @asynccontextmanager
    async def open_(path: Path, **how: Any) -> AsyncIterator[tuple[Page, Seen]]:
        async with page(**how) as shown:
            seen = watch(shown)
            await shown.goto(path.as_uri())
            await shown.wait_for_selector("html[data-charts=drawn]", state="attached")
            yield shown, seen

    return open_
