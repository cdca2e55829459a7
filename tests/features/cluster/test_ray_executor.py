"""Nodes of a cluster that are lost at the worst moment: another does the work, and nothing breaks.

A node's actor is a stand-in here: what is tested is the order in which things happen on the driver,
which a real cluster does not let a test choose. `test_ray.py` has real clusters.
"""

import asyncio
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from harness.features.cluster.outcomes import pack_outcome
from harness.features.cluster.ray_executor import Member, RayExecutor
from harness.sandbox.isolation import Level
from harness.sandbox.worker import Worker

ray: Any = pytest.importorskip("ray")


class Actor:
    """A node's actor: its calls are what it is told to answer."""

    def __init__(self) -> None:
        self.answers: list[asyncio.Future[bytes]] = []
        self.call = self

    def remote(self, *_: object) -> asyncio.Future[bytes]:
        self.answers.append(asyncio.get_running_loop().create_future())
        return self.answers[-1]


def work(_: Worker) -> str:
    return "done"


def joined(executor: RayExecutor, node: str, slots: int = 1) -> tuple[Member, Actor]:
    actor = Actor()
    member = Member(node, actor)
    executor._members[node] = member
    executor._slots.add(member, slots)
    return member, actor


async def until(reached: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not reached():  # noqa: ASYNC110 - a tick of the loop, which no event tells of
            await asyncio.sleep(0)


@pytest.fixture
def said() -> list[str]:
    return []


@pytest.fixture
def executor(said: list[str]) -> RayExecutor:
    made = RayExecutor("auto", workers=1, least=Level.LANDLOCK, say=said.append)
    made._ray = SimpleNamespace(  # without a cluster, which `ray.kill` would begin
        kill=lambda _: None, exceptions=ray.exceptions, cloudpickle=ray.cloudpickle
    )
    return made


def lost() -> Exception:
    return ray.exceptions.RayActorError()


DONE = pack_outcome("done")


async def test_a_node_lost_in_the_tick_in_which_a_piece_came_back(executor: RayExecutor) -> None:
    member, actor = joined(executor, "a")
    first = asyncio.create_task(executor.call(work))
    await until(lambda: bool(actor.answers))
    second = asyncio.create_task(executor.call(work))
    await until(lambda: bool(executor._slots._waiting))
    # The first piece comes back, and gives its slot to the second; before that one is awake the
    # node is lost.
    actor.answers[0].set_result(DONE)
    await until(lambda: not executor._slots._waiting)
    assert not second.done()
    executor._lose(member, "the power failed")
    _, other = joined(executor, "b")
    await until(lambda: bool(other.answers))
    other.answers[0].set_result(DONE)
    assert await first == await second == "done"


async def test_a_late_word_of_its_loss_does_not_take_a_node_that_rejoined(
    executor: RayExecutor, said: list[str]
) -> None:
    _, old = joined(executor, "a", slots=2)
    pieces = [asyncio.create_task(executor.call(work)) for _ in range(2)]
    await until(lambda: len(old.answers) == 2)
    old.answers[0].set_exception(lost())
    await until(lambda: len(said) == 1)
    _, new = joined(executor, "a", slots=2)
    old.answers[1].set_exception(lost())
    await until(lambda: len(new.answers) == 2)
    for answer in new.answers:
        answer.set_result(DONE)
    assert await asyncio.gather(*pieces) == ["done", "done"]
    assert len(said) == 1
    assert set(executor._slots._taken.values()) == {0}


async def test_shared_data_are_forgotten_under_the_lock(executor: RayExecutor) -> None:
    executor._kept[0] = (object(), object(), 1)
    with executor._lock:
        forgetting = threading.Thread(target=executor._forget_kept)
        forgetting.start()
        forgetting.join(0.05)
        assert forgetting.is_alive()
        assert executor._kept
    forgetting.join(60)
    assert not executor._kept
