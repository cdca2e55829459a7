"""How `harness run` carries a run out: start or resume, interrupts, the table at the end."""

import asyncio
import json
import os
import signal
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from harness.cli.exit_codes import INFRASTRUCTURE, INTERRUPTED, OK
from harness.cli.isolating import isolate
from harness.cli.judging import Judging
from harness.cli.loading import load_problems
from harness.cli.vetting import vet
from harness.errors import RunDirectoryError, UsageError
from harness.problem import Problem
from harness.report.progress import RunProgress
from harness.report.tables import console, summary_view, write_json
from harness.report.text import bad_rows, count, printable, printable_line
from harness.runs.directory import RESULTS, RunDirectory, default_path, read_manifest
from harness.runs.engine import Engine, Failure
from harness.runs.judging import Options
from harness.runs.plan import Plan, check_same, manifest, prepare
from harness.runs.recordings import BUNDLED, PREFIX
from harness.runs.results import read_results
from harness.runs.spec import RESUMABLE, RunSpec, read_spec
from harness.runs.summary import Summary, summarize
from harness.runs.transcript import sample_name
from harness.sandbox.isolation import Isolation, Level
from harness.sandbox.pool import SandboxPool
from harness.sources.rows import Loaded

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Running:
    """One invocation of `harness run`."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self.out = console()
        self.err = console(error=True)
        self.interrupts = 0

    def start(
        self, flags: Mapping[str, Any], *, out: Path | None, config: Path | None, dry_run: bool
    ) -> int:
        """A new run; returns the exit code."""
        spec = read_spec(config, flags)
        plan = prepare(
            spec, os.environ, read=self._read(spec), vet=self._vet(spec, spec.require_isolation)
        )
        self._announce(plan, len(plan.samples))
        if dry_run:
            return OK
        choice = isolate(self.err, plan.spec.require_isolation, unsafe=plan.spec.unsafe_no_sandbox)
        path = out or default_path(plan.spec.mode, plan.model_name)
        directory = RunDirectory.create(path, manifest(plan, choice))
        return self._carry_out(plan, directory, choice.isolation)

    def resume(
        self,
        path: Path,
        flags: Mapping[str, Any],
        *,
        out: Path | None,
        config: Path | None,
        dry_run: bool,
    ) -> int:
        """Go on with a run; returns the exit code."""
        fixed = sorted(set(flags) - RESUMABLE)
        if fixed or out or config:
            named = fixed[0] if fixed else "out" if out else "config"
            raise UsageError(
                f"--resume takes the run's own settings; --{named.replace('_', '-')} would make it "
                "another run"
            )
        before = read_manifest(path)
        spec = read_spec(None, {**_known(before["spec"]), **flags})
        begun = _level_of(before)
        plan = prepare(spec, os.environ, before, read=self._read(spec), vet=self._vet(spec, begun))
        check_same(plan, before)
        done = sum(1 for _ in read_results(path / RESULTS))
        self._announce(plan, len(plan.samples) - done)
        if dry_run:
            return OK
        choice = isolate(self.err, begun, unsafe=plan.spec.unsafe_no_sandbox)
        return self._carry_out(plan, RunDirectory.resume(path), choice.isolation)

    def _read(self, spec: RunSpec) -> Callable[[str], Loaded]:
        return partial(load_problems, console=self.err, skip_bad_rows=spec.skip_bad_rows)

    def _vet(
        self, spec: RunSpec, least: Level
    ) -> Callable[[Sequence[Problem]], tuple[Problem, ...]]:
        judging = Judging(Options(), spec.workers, least, spec.unsafe_no_sandbox)
        return lambda problems: vet(problems, judging, self.err)

    def _announce(self, plan: Plan, left: int) -> None:
        """What is about to happen, and that it costs money where it does."""
        problems = count(len(plan.problems), "problem")
        samples = count(len(plan.samples), "sample")
        if left < len(plan.samples):
            samples += f", {left} of them left to do" if left else ", all of them done"
        self.err.print(
            f"{plan.spec.mode}: {problems}, {samples}, model {printable_line(plan.model_name)}"
        )
        if plan.model_name == PREFIX + BUNDLED:
            self.err.print(
                "the model's words are recordings, written by hand; its tokens estimates"
            )
        elif left and not plan.model_name.startswith((PREFIX, "python:")):
            most = left * (plan.spec.max_turns if plan.spec.mode == "agentic" else 1)
            self.err.print(
                f"real requests to {_place(plan)}, at most {most:,}; its provider may bill them"
            )
        if plan.loaded.skipped:
            self.err.print(bad_rows(plan.loaded.skipped))
        if plan.notice:
            self.err.print(plan.notice, soft_wrap=True)
        if plan.selected.undated:
            self.err.print(f"{count(plan.selected.undated, 'problem')} without a date left out")

    def _carry_out(self, plan: Plan, directory: RunDirectory, isolation: Isolation) -> int:
        done = directory.committed()
        names = {result.sample for result in done}
        rest = [
            (problem, index)
            for problem, index in plan.samples
            if sample_name(problem.id, index) not in names
        ]
        total = len(plan.samples)
        with RunProgress(self.err, total, done) as progress:
            failures = asyncio.run(self._engine(plan, directory, progress, rest, isolation))
        counts = Counter(str(failure.verdict) for failure in failures)
        summary = summarize(directory.committed(), total, counts)
        directory.write_summary(summary.model_dump(mode="json"))
        directory.close()
        self._report(summary, directory.path)
        if self.interrupts:
            self.err.print(f"interrupted; go on with: harness run --resume {directory.path}")
            return INTERRUPTED
        if failures:
            cause = printable(failures[0].cause.splitlines()[0] if failures[0].cause else "")
            self.err.print(
                f"{count(len(failures), 'sample')} pending, the first because: {cause}; "
                f"try again with: harness run --resume {directory.path}"
            )
            return INFRASTRUCTURE
        return OK

    async def _engine(
        self,
        plan: Plan,
        directory: RunDirectory,
        progress: RunProgress,
        samples: list[tuple[Any, int]],
        isolation: Isolation,
    ) -> list[Failure]:
        loop = asyncio.get_running_loop()
        async with SandboxPool(workers=plan.spec.workers, isolation=isolation) as pool:
            engine = Engine(plan, directory, pool, progress)
            for word in STOPPING:
                loop.add_signal_handler(word, self._interrupt, engine)
            try:
                return await engine.run(samples)
            finally:
                for word in STOPPING:
                    loop.remove_signal_handler(word)
                await plan.model.close()

    def _interrupt(self, engine: Engine) -> None:
        """The first time no new sample begins; the second time those under way are dropped."""
        self.interrupts += 1
        if self.interrupts == 1:
            engine.stop()
            self.err.print("interrupted: finishing the samples under way; again to stop at once")
        else:
            engine.cancel()

    def _report(self, summary: Summary, path: Path) -> None:
        if self.as_json:
            write_json(self.out, json.dumps({"run": str(path), **summary.model_dump(mode="json")}))
        else:
            self.out.print(summary_view(summary))
            self.out.print(f"run directory: {path}", soft_wrap=True)


def _known(values: dict[str, Any]) -> dict[str, Any]:
    """A stored spec's keys that this version knows; a run of another version is refused."""
    unknown = sorted(set(values) - set(RunSpec.model_fields))
    if unknown:
        raise RunDirectoryError(
            f"the run has a setting {unknown[0]!r} that this version does not know; "
            "go on with the version that began it"
        )
    return values


def _level_of(manifest: Mapping[str, Any]) -> Level:
    """The sandbox's level when the run began."""
    try:
        return Level(manifest["sandbox"]["level"])
    except (KeyError, TypeError, ValueError) as error:
        raise RunDirectoryError(
            "run.json does not say under which sandbox level the run began; start a new run"
        ) from error


def _place(plan: Plan) -> str:
    from urllib.parse import urlsplit

    url = plan.spec.base_url or os.environ.get("OPENAI_BASE_URL", "")
    parts = urlsplit(url)
    host = parts.hostname or "the model's own provider"
    return f"{host}:{parts.port}" if parts.port else host
