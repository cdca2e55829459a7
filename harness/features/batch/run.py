"""The batch transport of a run, including interrupts while it waits."""

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


async def ask_by_batch(  # noqa: PLR0917 - the parts of a run
    plan: Plan,
    directory: RunDirectory,
    samples: Sequence[tuple[Problem, int]],
    tell: Callable[[str], None],
    stopping: Sequence[Signals],
    interrupted: Callable[[], None],
) -> Plan | None:
    """Wait for all batches; return the plan with a model that answers from them.

    Args:
        plan: the run's plan.
        directory: the run directory, for `batches.jsonl`.
        samples: samples without a result.
        tell: called with a line of text about the batches' progress.
        stopping: signals that count as an interrupt. The first ends the waiting, the second
            cancels everything else; the batches stay at the provider.
        interrupted: called at each interrupt.

    Returns:
        None if the user interrupted the waiting.

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
        tell("interrupted: submitted batches stay at the provider; resume the run to read them")

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
    """Transport of `--batch`; satisfies `harness.run.plan.modes.Transport`."""

    check = staticmethod(check_batch)
    answered = staticmethod(ask_by_batch)


BATCH = Batch()
