"""What a run may spend: what fits is sent, what may not is not, and earlier spending counts."""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.agent.attempt import RunStop, StopReason
from harness.agent.events import (
    PutOff,
    Request,
    Response,
    Resumed,
    Retried,
    SampleEnd,
    SampleStart,
    Unusable,
)
from harness.agent.session import BudgetSpentError, RunStoppedError
from harness.models.estimated_usage import characters_of, unheard_usage
from harness.models.prices.price import Price
from harness.models.protocol import Message, ModelStop, ModelTurn, Retry, Usage, UserMessage
from harness.run.engine.earlier_spending import earlier_spending
from harness.run.engine.rate_limiter import RateLimiter
from harness.run.engine.sample_gate import SampleGate
from harness.run.plan.budget import Allowance, Budget, Total
from harness.run.store.billed_requests import Spent
from harness.run.store.transcript import TranscriptWriter

DOLLAR_A_TOKEN = Price(input=1e6, output=1e6)


def used(tokens: int) -> Usage:
    return Usage(input_tokens=tokens)


def turn(tokens: int | None) -> ModelTurn:
    usage = None if tokens is None else used(tokens)
    return ModelTurn(usage=usage, stop=ModelStop(reason="end_turn"))


def budget(cost: float | None = None, tokens: int | None = None) -> Budget:
    return Budget(Allowance(cost=cost, tokens=tokens), DOLLAR_A_TOKEN)


async def waits(asked: asyncio.Task[None]) -> bool:
    for _ in range(5):
        await asyncio.sleep(0)
    return not asked.done()


class TestRun:
    async def test_everything_fits_a_budget_without_limits(self) -> None:
        free = Budget(Allowance())
        for _ in range(100):
            await free.admit()
        assert free.reached is None

    async def test_requests_are_sent_until_one_more_would_not_fit(self) -> None:
        run = budget(cost=10)
        for _ in range(3):
            await run.admit()
            run.settle(Spent(used(3)))
        with pytest.raises(RunStoppedError) as caught:
            await run.admit()  # nine are spent, and a request took three
        assert caught.value.reason is RunStop.BUDGET
        assert run.turned_away is StopReason.COST_LIMIT
        assert run.reached is StopReason.COST_LIMIT
        assert run.state == "$9.0000 of $10.0000"

    async def test_spending_elsewhere_counts_but_is_no_measure_of_a_request(
        self,
    ) -> None:
        spent_elsewhere = Total(cost=7, tokens=70)
        run = Budget(Allowance(cost=10, tokens=100), DOLLAR_A_TOKEN, spent_elsewhere)
        await run.admit()
        second = asyncio.create_task(run.admit())
        assert await waits(second), "the first one is sent alone"
        run.settle(Spent(used(1)))
        await second
        run.settle(Spent(used(2)))
        assert run.spent == Total(cost=10, tokens=73)
        assert run.spent - spent_elsewhere == Total(cost=3, tokens=3)
        assert run.reached is StopReason.COST_LIMIT
        assert run.state == "$10.0000 of $10.0000 and 73 of 100 tokens"

    async def test_nothing_is_begun_where_all_is_spent_elsewhere(self) -> None:
        run = Budget(Allowance(tokens=70), None, Total(tokens=70))
        assert await run.begin() is None
        assert run.turned_away is StopReason.TOKEN_LIMIT

    async def test_a_limit_can_be_spent_to_the_last_cent(self) -> None:
        run = Budget(Allowance(cost=0.3), Price(input=0.1e6, output=0))
        for _ in range(3):
            await run.admit()
            run.settle(Spent(used(1)))
        assert run.reached is StopReason.COST_LIMIT

    async def test_a_token_limit_has_a_stop_reason_of_its_own(self) -> None:
        run = Budget(Allowance(tokens=5), price=None)
        await run.admit()
        run.settle(Spent(used(5)))
        with pytest.raises(RunStoppedError):
            await run.admit()
        assert run.turned_away is StopReason.TOKEN_LIMIT

    async def test_the_first_request_of_a_budget_is_sent_alone(self) -> None:
        run = budget(cost=100)
        await run.admit()
        second = asyncio.create_task(run.admit())
        assert await waits(second)
        run.settle(Spent(used(1)))
        await second

    async def test_what_may_not_fit_waits_for_those_in_flight_which_may_turn_out_cheaper(
        self,
    ) -> None:
        run = budget(cost=10)
        run.count(Spent(used(4)))
        await run.admit()  # may take up to eight
        second = asyncio.create_task(run.admit())
        assert await waits(second)
        run.settle(Spent(used(1)))
        await second

    async def test_a_request_that_waited_in_vain_is_stopped(self) -> None:
        run = budget(cost=10)
        run.count(Spent(used(4)))
        await run.admit()
        second = asyncio.create_task(run.admit())
        assert await waits(second)
        run.settle(Spent(used(5)))
        with pytest.raises(RunStoppedError):
            await second

    async def test_a_request_that_failed_costs_nothing(self) -> None:
        run = budget(cost=10)
        run.count(Spent(used(5)))
        await run.admit()
        run.settle(None)
        assert run.reached is None

    async def test_an_answer_that_nobody_waited_for_counts_as_the_dearest(self) -> None:
        run = budget(cost=12)
        run.count(Spent(used(5)))
        await run.admit()
        run.settle(Spent(None))
        assert run.state == "$10.0000 of $12.0000"
        assert run.reached is StopReason.COST_LIMIT

    async def test_a_provider_that_tells_of_no_tokens_cannot_be_held_to_any(self) -> None:
        run = budget(tokens=1_000)
        await run.admit()
        run.settle(Spent(used(9), silent=True, estimated=True))
        assert run.reached is None, "the first answer may have been streamed"
        await run.admit()
        run.settle(Spent(used(9), silent=True, estimated=True))
        assert run.reached is StopReason.TOKEN_LIMIT
        assert "does not tell" in run.state

    async def test_a_request_that_we_cut_off_is_booked_by_an_estimate_and_the_run_goes_on(
        self,
    ) -> None:
        run = budget(cost=1_000)
        await run.admit()
        run.settle(Spent(used(40), estimated=True))
        assert run.state == "$40.0000 of $1,000.0000"
        await run.admit()
        second = asyncio.create_task(run.admit())
        assert await waits(second), "an estimate says nothing of what a request takes"
        run.settle(Spent(used(1)))
        await second

    async def test_a_budget_knows_whom_it_turned_away(self) -> None:
        run = budget(cost=1)
        share = await run.begin()
        assert share is not None
        run.count(Spent(used(1)))
        run.end(share, finished=True)
        assert run.turned_away is None
        assert await run.begin() is None
        assert run.turned_away

    @given(
        st.integers(1, 60),
        st.lists(st.integers(0, 9), min_size=1, max_size=30),
        st.integers(1, 6),
    )
    def test_overspending_is_bounded_by_what_was_in_flight(
        self, limit: int, prices: list[int], width: int
    ) -> None:
        """Never more than each request in flight cost beyond the dearest before it."""
        spent = asyncio.run(_spend(limit, prices, width))
        assert spent <= limit + (width - 1) * max(prices) + max(prices)
        if len(set(prices)) == 1:
            assert spent <= max(limit, prices[0])


async def _spend(limit: int, prices: list[int], width: int) -> float:
    run, rest, spent = budget(cost=limit), iter(prices), 0

    async def worker() -> None:
        nonlocal spent
        for price in rest:
            try:
                await run.admit()
            except RunStoppedError:
                return
            await asyncio.sleep(0)
            spent += price
            run.settle(Spent(used(price)))

    async with asyncio.timeout(60):
        await asyncio.gather(*(worker() for _ in range(width)))
    return spent


class TestSample:
    def gate(self, limit: float, run: Budget | None = None) -> SampleGate:
        allowance = Allowance(cost_per_sample=limit)
        return SampleGate(RateLimiter(1), run or Budget(allowance, DOLLAR_A_TOKEN))

    async def test_a_sample_s_first_request_is_always_sent(self) -> None:
        gate = self.gate(0.001)
        await gate.enter()
        gate.leave(turn(5), billed=True)
        with pytest.raises(BudgetSpentError):
            await gate.enter()

    async def test_a_sample_stops_when_another_request_like_its_last_would_not_fit(self) -> None:
        gate = self.gate(10)
        for tokens in (2, 4):
            await gate.enter()
            gate.leave(turn(tokens), billed=True)
        await gate.enter()
        gate.leave(turn(3), billed=True)
        with pytest.raises(BudgetSpentError) as caught:
            await gate.enter()
        assert caught.value.reason is StopReason.COST_LIMIT

    async def test_a_sample_s_budget_does_not_concern_others(self) -> None:
        run = Budget(Allowance(cost_per_sample=3), DOLLAR_A_TOKEN)
        for _ in range(5):
            gate = self.gate(3, run)
            await gate.enter()
            gate.leave(turn(3), billed=True)

    async def test_giving_up_in_the_queue_gives_the_money_back(self) -> None:
        run, limiter = budget(cost=2), RateLimiter(1)
        run.count(Spent(used(1)))
        await limiter.acquire()
        waiting = asyncio.create_task(SampleGate(limiter, run).enter())
        assert await waits(waiting)
        waiting.cancel()
        assert not await waits(waiting)
        await run.admit()

    async def test_a_queued_request_is_checked_again_when_it_gets_a_place(self) -> None:
        """Many were let through while answers were cheap; then one is dear."""
        run, limiter = budget(cost=20), RateLimiter(1)
        run.count(Spent(used(1)))
        first = SampleGate(limiter, run)
        await first.enter()
        queued = [asyncio.create_task(SampleGate(limiter, run).enter()) for _ in range(5)]
        assert await waits(queued[-1])
        first.leave(turn(15), billed=True)
        ended = await asyncio.wait_for(asyncio.gather(*queued, return_exceptions=True), 60)
        assert [type(each) for each in ended] == [RunStoppedError] * 5

    async def test_a_place_is_given_back_once(self) -> None:
        run, limiter = Budget(Allowance()), RateLimiter(4)
        gate = SampleGate(limiter, run)
        await gate.enter()
        gate.step_aside(Retry(attempt=1, cause="", wait_s=1, status=429, throttled=True))
        assert limiter.places == 1
        gate.leave(None, billed=False)
        await limiter.acquire()
        second = asyncio.create_task(SampleGate(limiter, run).enter())
        assert await waits(second)
        second.cancel()


def unheard(*said: Message) -> Spent:
    return Spent(unheard_usage(characters_of(said), None), estimated=True)


UNHEARD, AFTER_ONE = unheard(), unheard(turn(3).message())


class TestSamplesThatFit:
    """A sample is begun if the budget can finish it, too."""

    async def finished(self, run: Budget, *tokens: int) -> None:
        for each in tokens:
            share = await run.begin()
            assert share is not None
            for _ in range(each):
                run.count(Spent(used(1)))
                run.charge(share, used(1))
            run.end(share, finished=True)

    async def test_the_first_sample_of_a_budget_is_begun_alone(self) -> None:
        run = budget(cost=100)
        first = await run.begin()
        assert first is not None
        second = asyncio.create_task(run.begin())
        assert await waits(second)
        run.count(Spent(used(1)))
        run.end(first, finished=True)
        assert await second is not None

    async def test_samples_are_reserved_all_their_turns_while_none_is_finished(self) -> None:
        run = budget(cost=24)
        first = await run.begin(turns=10)
        assert first is not None
        run.count(Spent(used(1)))
        run.charge(first, used(1))
        assert await run.begin(turns=10) is not None, "one spent, nine and ten to come"
        third = asyncio.create_task(run.begin(turns=10))
        assert await waits(third)
        third.cancel()

    async def test_a_sample_beside_others_is_reserved_the_dearest(self) -> None:
        run = budget(cost=20)
        await self.finished(run, 1, 5)
        assert await run.begin() is not None
        assert await run.begin() is not None
        fourth = asyncio.create_task(run.begin())
        assert await waits(fourth), "six are spent, and three may take fifteen"
        fourth.cancel()

    async def test_a_sample_alone_is_reserved_the_average(self) -> None:
        run = budget(cost=10)
        await self.finished(run, 1, 5)
        assert await run.begin() is not None, "four are left, and three are the mean"

    async def test_no_sample_is_begun_that_could_not_be_finished(self) -> None:
        run = budget(cost=10)
        await self.finished(run, 4, 4)
        assert await run.begin() is None
        assert run.turned_away is StopReason.COST_LIMIT
        assert run.reached is None, "a request would fit"

    async def test_what_a_sample_spent_before_is_not_to_be_spent_again(self) -> None:
        run = budget(cost=10)
        for _ in range(8):
            run.count(Spent(used(1)))
        run.finish({StopReason.COST_LIMIT: 4})
        run.begun = {"begun": {StopReason.COST_LIMIT: 3.0}}
        assert await run.begin("new") is None
        assert await run.begin("begun") is not None


class TestEarlierSpending:
    def transcript(self, run: Path, *events: object) -> Path:
        folder = run / "transcripts"
        folder.mkdir(exist_ok=True)
        path = folder / "made%2Fa-0.jsonl"
        with TranscriptWriter(path) as write:
            for event in events:
                write(event)  # type: ignore[arg-type]
        return path

    def asked(self, tokens: int | None) -> tuple[Request, Response]:
        return Request(turn=1, hash="", messages=()), Response(turn=1, response=turn(tokens))

    def test_a_new_run_has_spent_nothing(self, tmp_path: Path) -> None:
        assert earlier_spending(tmp_path, ()).requests == []

    def test_every_request_counts_by_itself(self, tmp_path: Path) -> None:
        self.transcript(tmp_path, *self.asked(3), *self.asked(4))
        assert earlier_spending(tmp_path, ()).requests == [Spent(used(3)), Spent(used(4))]

    def test_a_sample_taken_up_again_was_paid_for_before(self, tmp_path: Path) -> None:
        self.transcript(tmp_path, *self.asked(3))
        self.transcript(tmp_path, Resumed(kept=0, turn=0), *self.asked(5))
        assert earlier_spending(tmp_path, ()).requests == [Spent(used(3)), Spent(used(5))]

    def test_a_request_that_was_cut_off_counts_and_one_that_failed_does_not(
        self, tmp_path: Path
    ) -> None:
        request = Request(turn=2, hash="", messages=())
        self.transcript(tmp_path, *self.asked(3), request)
        assert earlier_spending(tmp_path, ()).requests == [Spent(used(3)), AFTER_ONE]
        end = SampleEnd(stop_reason="model_error", chosen_by="none", usage=Usage())
        retry = Retried(turn=2, attempt=1, cause="", wait_s=1)
        self.transcript(tmp_path, Resumed(kept=2, turn=1), request, retry, end)
        assert earlier_spending(tmp_path, ()).requests == [Spent(used(3)), AFTER_ONE]

    def test_an_answer_of_no_use_was_paid_for(self, tmp_path: Path) -> None:
        request = Request(turn=1, hash="", messages=())
        retry = Retried(turn=1, attempt=1, cause="", wait_s=1, usage=used(9))
        self.transcript(tmp_path, request, retry, *self.asked(3)[1:])
        assert earlier_spending(tmp_path, ()).requests == [Spent(used(9)), Spent(used(3))]

    def test_the_last_unusable_answer_counts_as_earlier_spending(self, tmp_path: Path) -> None:
        request = Request(turn=1, hash="", messages=())
        end = SampleEnd(stop_reason="model_error", chosen_by="none", usage=used(9))
        self.transcript(tmp_path, request, Unusable(turn=1, cause="", usage=used(9)), end)
        assert earlier_spending(tmp_path, ()).requests == [Spent(used(9))]

    def test_a_model_that_was_given_up_is_paid_by_an_estimate(self, tmp_path: Path) -> None:
        end = SampleEnd(stop_reason="time_limit", chosen_by="none", usage=Usage())
        self.transcript(tmp_path, Request(turn=1, hash="", messages=()), end)
        assert earlier_spending(tmp_path, ()).requests == [UNHEARD]

    def test_a_request_that_was_too_long_cost_nothing(self, tmp_path: Path) -> None:
        end = SampleEnd(stop_reason="context_limit", chosen_by="none", usage=Usage())
        self.transcript(tmp_path, Request(turn=1, hash="", messages=()), end)
        assert earlier_spending(tmp_path, ()).requests == []

    def test_an_unheard_request_is_estimated_by_its_length_and_the_longest_answer(
        self, tmp_path: Path
    ) -> None:
        start = SampleStart(
            sample="a#0", problem_id="a", index=0, mode="", model="", settings={"max_tokens": 500}
        )
        message = UserMessage(content="x" * 3_000)
        first, answer = self.asked(3)
        self.transcript(
            tmp_path, start, first, answer, Request(turn=2, hash="", messages=(message,))
        )
        known, lost = earlier_spending(tmp_path, ()).requests
        assert known == Spent(used(3))
        assert lost.estimated
        assert lost.usage is not None
        assert lost.usage.output_tokens == 500
        assert 1_000 < lost.usage.input_tokens < 1_100

    def test_a_sample_that_was_put_off_has_nothing_in_flight(self, tmp_path: Path) -> None:
        request = Request(turn=1, hash="", messages=())
        put_off = PutOff(turn=1, reason="outage")
        self.transcript(tmp_path, request, put_off)
        assert earlier_spending(tmp_path, ()).requests == []
        cut = put_off.model_copy(update={"in_flight": True})
        self.transcript(tmp_path, Resumed(kept=0, turn=0), request, cut)
        assert earlier_spending(tmp_path, ()).requests == [UNHEARD]

    def test_unfinished_samples_are_told_apart(self, tmp_path: Path) -> None:
        self.transcript(tmp_path, *self.asked(3), Request(turn=2, hash="", messages=()))
        earlier = earlier_spending(tmp_path, ())
        assert list(earlier.unfinished) == ["made%2Fa-0.jsonl"]
        assert earlier.unheard == 1

    def test_broken_files_stop_nothing(self, tmp_path: Path) -> None:
        path = self.transcript(tmp_path, *self.asked(3))
        with path.open("ab") as file:
            file.write(b"garbage\n")
        assert earlier_spending(tmp_path, ()).requests == [Spent(used(3))]
