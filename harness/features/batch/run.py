"""The batch transport of a run, and what an interrupt means while it waits."""

import asyncio
import os
from collections.abc import Callable, Sequence
from dataclasses import replace
from signal import Signals

from harness.features.batch.batch_rules import check_batch
from harness.features.batch.batched_model import batched, endpoint_of
from harness.problem import Problem
from harness.run.plan.plan import Plan
from harness.run.store.directory import RunDirectory


async def ask_by_batch(  # noqa: PLR0917 - what a run consists of
    plan: Plan,
    directory: RunDirectory,
    samples: Sequence[tuple[Problem, int]],
    tell: Callable[[str], None],
    stopping: Sequence[Signals],
    interrupted: Callable[[], None],
) -> Plan | None:
    """The plan with a model that knows all answers; None when the user would not wait for them.

    Args:
        plan: of the run.
        directory: where `batches.jsonl` lies, or will.
        samples: those that have no result yet.
        tell: is told, in a line, how far the batches are.
        stopping: the signals that are an interrupt. The first one ends the waiting, the second one
            whatever else is going on; the batches stay with the provider.
        interrupted: is called at each.

    Raises:
        RunDirectoryError: the run's `batches.jsonl` cannot be used.
        StorageError: the disk refused a write.
    """
    await plan.model.close()
    endpoint = endpoint_of(plan, os.environ)
    model = await asyncio.to_thread(batched, plan, directory, samples, endpoint, tell)
    asking = asyncio.ensure_future(model.asking.ask_all())
    interrupts = 0

    def interrupt() -> None:
        nonlocal interrupts
        interrupts += 1
        interrupted()
        if interrupts > 1:
            asking.cancel()
            return
        model.asking.stop()
        tell("interrupted: what was handed in stays with the provider, and is read on resume")

    loop = asyncio.get_running_loop()
    for word in stopping:
        loop.add_signal_handler(word, interrupt)
    whole = False
    try:
        whole = await asking
    except asyncio.CancelledError:
        if not interrupts:
            raise
    finally:
        for word in stopping:
            loop.remove_signal_handler(word)
        if not whole:
            await model.close()
    return replace(plan, model=model) if whole else None


class Batch:
    """Requests by the batch; satisfies `harness.run.plan.modes.Transport`."""

    check = staticmethod(check_batch)
    answered = staticmethod(ask_by_batch)


BATCH = Batch()
