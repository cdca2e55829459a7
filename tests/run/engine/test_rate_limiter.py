"""Requests in flight: as many as asked for, fewer while the provider refuses, none too early."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from chat_server import ChatServer, Reply, completion, failure

from harness.agent.attempt import Limits
from harness.agent.conversation import Conversation
from harness.agent.events import Event, Retried
from harness.agent.journal import Journal
from harness.agent.session import Session
from harness.agent.templates.prompt_set import load_prompt
from harness.grading.verdict import Grade
from harness.models.clients.openai_chat import OpenAIChat
from harness.models.protocol import ModelSettings, UserMessage
from harness.problem import ProblemView, Signature
from harness.run.engine.rate_limiter import RateLimiter
from harness.run.engine.sample_gate import SampleGate
from harness.run.plan.budget import Allowance, Budget
from harness.tools.toolbox import Toolbox
from harness.tools.workspace import Workspace


async def settled() -> None:
    """Let every task that can run, run."""
    for _ in range(5):
        await asyncio.sleep(0)


async def test_a_place_goes_to_the_sample_that_began_first() -> None:
    limiter, order = RateLimiter(1), list[str]()

    async def one(name: str, rank: int) -> None:
        await limiter.acquire(rank)
        order.append(name)
        limiter.release()

    await limiter.acquire()
    ranks = {"late": 7, "early": 1, "early, second request": 1, "gone": 0}
    tasks = {name: asyncio.create_task(one(name, rank)) for name, rank in ranks.items()}
    await settled()
    tasks.pop("gone").cancel()
    await settled()
    limiter.release()
    await asyncio.gather(*tasks.values())
    assert order == ["early", "early, second request", "late"]


class Crowd:
    """Requests that hold their places until told what became of them."""

    def __init__(self, limiter: RateLimiter) -> None:
        self.limiter = limiter
        self.tickets: list[int] = []
        self.tasks: set[asyncio.Task[None]] = set()

    async def ask(self, count: int) -> list[asyncio.Task[None]]:
        async def one() -> None:
            self.tickets.append(await self.limiter.acquire())

        tasks = [asyncio.create_task(one()) for _ in range(count)]
        self.tasks |= set(tasks)
        await settled()
        return tasks

    @property
    def in_flight(self) -> int:
        return len(self.tickets)

    async def refuse(self, count: int) -> None:
        for _ in range(count):
            self.limiter.refused(self.tickets.pop(0))
        await settled()

    async def answer(self, count: int) -> None:
        for _ in range(count):
            self.tickets.pop(0)
            self.limiter.answered()
        await settled()


@pytest.fixture
def crowd() -> Crowd:
    return Crowd(RateLimiter(16))


async def test_the_limiter_gives_all_places_at_once_and_no_more(crowd: Crowd) -> None:
    await crowd.ask(20)
    assert crowd.in_flight == 16
    await crowd.answer(3)
    assert crowd.in_flight == 16
    await crowd.answer(16)
    assert crowd.limiter.places == 16


async def test_the_refusals_of_one_burst_halve_the_places_once(crowd: Crowd) -> None:
    await crowd.ask(16)
    await crowd.refuse(12)
    assert crowd.limiter.places == 8
    await crowd.ask(8)
    assert crowd.in_flight == 8  # four of the burst are still in flight
    await crowd.refuse(4)
    assert crowd.limiter.places == 8
    await crowd.refuse(1)  # sent after the decrease
    assert crowd.limiter.places == 4


async def test_a_round_of_answers_adds_one_place(crowd: Crowd) -> None:
    await crowd.ask(40)
    await crowd.refuse(1)
    assert crowd.limiter.places == 8
    await crowd.answer(7)  # of the sixteen: eight are in flight now
    for places in (8, 9, 10):
        assert crowd.limiter.places == pytest.approx(places, abs=1)
        await crowd.answer(places)
    assert 10 <= crowd.limiter.places <= 12


async def test_answers_add_nothing_while_places_are_free(crowd: Crowd) -> None:
    await crowd.ask(16)
    await crowd.refuse(16)
    for _ in range(100):
        await crowd.ask(1)
        await crowd.answer(1)
    assert crowd.limiter.places == 8


async def test_refusals_leave_at_least_one_place(crowd: Crowd) -> None:
    for _ in range(10):
        await crowd.ask(1)
        await crowd.refuse(1)
    assert crowd.limiter.places == 1
    await crowd.ask(2)
    assert crowd.in_flight == 1


async def test_places_are_given_in_the_order_asked_for() -> None:
    limiter, order = RateLimiter(1), list[int]()

    async def one(number: int) -> None:
        await limiter.acquire()
        order.append(number)
        limiter.release()

    await asyncio.gather(*(one(number) for number in range(9)))
    assert order == list(range(9))


async def test_a_cancelled_waiter_takes_no_place(crowd: Crowd) -> None:
    waiting = (await crowd.ask(18))[16:]
    waiting[0].cancel()
    await crowd.answer(1)
    assert waiting[0].cancelled()
    assert waiting[1].done()
    assert crowd.in_flight == 16
    given = (await crowd.ask(1))[0]
    crowd.tickets.pop(0)
    crowd.limiter.answered()  # the place is given to a task that is cancelled before it knows
    given.cancel()
    await settled()
    await crowd.ask(1)
    assert crowd.in_flight == 16


# With a server


class Narrow:
    """A server that bears only so many requests at a time, and says when to come back."""

    def __init__(self, most: int, wait_s: float) -> None:
        self.most, self.wait_s = most, wait_s
        self.flying = self.refused = self.answered = 0
        self.not_before: dict[str, float] = {}
        self.early: list[float] = []

    def __call__(self, body: dict[str, Any], _number: int) -> Reply:
        who, now = body["messages"][0]["content"], time.monotonic()
        if now < self.not_before.get(who, 0.0):
            self.early.append(self.not_before[who] - now)
        if self.flying >= self.most:
            self.refused += 1
            self.not_before[who] = now + self.wait_s
            return failure(429, "slow down", headers={"retry-after-ms": str(self.wait_s * 1000)})
        self.flying += 1

        async def land() -> None:
            self.flying -= 1
            self.answered += 1

        usage = {"prompt_tokens": 7, "completion_tokens": 3}
        return Reply(completion("yes", usage=usage).body, silence_s=0.02, until=land)


VIEW = ProblemView(
    id="made/a",
    source="made",
    title="A",
    statement="",
    platform="made",
    difficulty=None,
    tags=(),
    release_date=None,
    starter_code="",
    entry_point=None,
    signature=Signature(),
    preamble="",
    public_tests=(),
)


async def not_run(_code: str) -> Grade:
    raise AssertionError("nothing is run here")


def session(
    model: Any, limiter: RateLimiter, record: Callable[[Event], None], seconds: float | None = None
) -> Session:
    prompt = load_prompt("default", "single_shot")
    return Session(
        problem=VIEW,
        model=model,
        settings=ModelSettings(),
        prompt=prompt,
        toolbox=Toolbox((), prompt),
        workspace=Workspace(VIEW, prompt, not_run, 1.0),
        limits=Limits(seconds=seconds),
        journal=Journal(record),
        gate=SampleGate(limiter, Budget(Allowance())),
    )


@pytest.mark.thorough
async def test_many_samples_at_a_narrow_server_all_end_with_few_refusals() -> None:
    server, events = Narrow(most=4, wait_s=0.1), list[Event]()
    async with ChatServer(server) as served:
        model = OpenAIChat("x", model="x", base_url=served.base_url, api_key="none")
        limiter = RateLimiter(32)

        async def sample(number: int) -> None:
            conversation = Conversation(session(model, limiter, events.append))
            conversation.add(UserMessage(content=f"sample {number}"))
            for _ in range(4):
                await conversation.ask()

        async with asyncio.timeout(60):
            await asyncio.gather(*(sample(number) for number in range(32)))
        await model.close()
    assert server.answered == 128
    assert server.early == []
    # Refused are 28 of the first 32 requests, 12 of the next 16, 4 of the next 8, and then the one
    # that finds out whether a fifth is borne, at most once in each round of four: 76. It was 39.
    assert server.refused <= 76
    retries = [event for event in events if isinstance(event, Retried)]
    assert len(retries) == server.refused
    assert {(retry.status, retry.throttled) for retry in retries} == {(429, True)}


@pytest.mark.thorough
async def test_a_request_that_waits_for_its_retry_holds_no_place() -> None:
    other_was_asked = asyncio.Event()

    def script(body: dict[str, Any], number: int) -> Reply | Awaitable[Reply]:
        if number == 0:
            return failure(500, headers={"retry-after": "1"})
        if body["messages"][0]["content"] == "other":
            other_was_asked.set()
        return completion("yes")

    async with ChatServer(script) as served:
        model = OpenAIChat("x", model="x", base_url=served.base_url, api_key="none")
        limiter, order = RateLimiter(1), list[str]()

        async def sample(name: str) -> None:
            conversation = Conversation(session(model, limiter, lambda _: None))
            conversation.add(UserMessage(content=name))
            await conversation.ask()
            order.append(name)

        async with asyncio.timeout(60):
            await asyncio.gather(sample("one"), sample("other"))
        await model.close()
    assert other_was_asked.is_set()
    assert order == ["other", "one"]


@pytest.mark.thorough
async def test_queueing_is_not_working_time_of_a_sample() -> None:
    def script(_body: dict[str, Any], number: int) -> Reply:
        if number == 1:
            return failure(429, headers={"retry-after-ms": "600"})
        return Reply(completion("yes").body, silence_s=1.5)

    async with ChatServer(script) as served:
        model = OpenAIChat("x", model="x", base_url=served.base_url, api_key="none")
        limiter, worked = RateLimiter(1), list[float]()

        async def sample() -> None:
            conversation = Conversation(session(model, limiter, lambda _: None, seconds=4))
            conversation.add(UserMessage(content="?"))
            await conversation.ask()
            worked.append(conversation.seconds)

        async with asyncio.timeout(60):
            await asyncio.gather(*(sample() for _ in range(4)))
        await model.close()
    assert len(worked) == 4  # the last has queued for three others, longer than it may work
    assert all(1.4 < seconds < 4 for seconds in worked)
