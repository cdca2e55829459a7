"""Runs that are carried out in parts, on a budget that several of them share."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path

from harness.models.protocol import Model
from harness.run.engine.controller import RunController
from harness.run.engine.earlier_spending import budget_of
from harness.run.engine.lifecycle import PreparedRun, Read
from harness.run.engine.outcome import Outcome
from harness.run.plan.budget import Budget, Total
from harness.run.session.sync import run
from harness.run.settings.spec import RunSpec
from harness.run.store.directory import MANIFEST, read_manifest
from harness.run.store.transcripts import FOLDER

CarryOut = Callable[[PreparedRun, Path, Budget], Outcome]
"""Carries out part of a run, as `RunController.carry_out` does."""


def prepare_part(
    controller: RunController, path: Path, spec: RunSpec, read: Read, own_model: Model | None = None
) -> PreparedRun:
    """Prepare a run, or the rest of the one that is there.

    Its prompt folder may stand elsewhere than at its beginning: the hash is compared.

    Raises:
        HarnessError: see `harness.run.plan.plan.prepare`.
    """
    if not (path / MANIFEST).exists():
        return controller.new(spec, read=read, own_model=own_model)
    before = read_manifest(path)
    before["spec"] = {**before["spec"], "prompt": spec.prompt}
    return controller.further(path, spec, before, read=read, own_model=own_model)


def carry_out_part(
    prepared: PreparedRun, path: Path, elsewhere: Total, carry_out: CarryOut
) -> Outcome:
    """Carry out samples of a run, which is stored without the budget of all runs.

    Args:
        prepared: the run, with the samples to do now.
        path: its directory.
        elsewhere: what the other runs have spent.
        carry_out: does it.
    """
    budget = budget_of(prepared.plan, path, elsewhere)
    if path.is_dir() and not (path / MANIFEST).exists():  # a crash before the run had started
        (path / f".{MANIFEST}.draft").unlink(missing_ok=True)
        if (path / FOLDER).is_dir() and not any((path / FOLDER).iterdir()):
            (path / FOLDER).rmdir()
    spec = prepared.plan.spec.model_copy(update={"max_cost": None, "max_tokens_total": None})
    prepared = prepared._replace(plan=replace(prepared.plan, spec=spec))
    return carry_out(prepared, path, budget)


def first_failure(outcome: Outcome) -> str:
    """Return which sample failed first, and why; empty if none did."""
    return next((f"{each.sample}: {each.cause}" for each in outcome.failures), "")


def close_models(prepared: Iterable[PreparedRun]) -> None:
    """Close the models of runs that are prepared and not started."""

    async def close() -> None:
        for each in prepared:
            await each.plan.model.close()

    run(close)
