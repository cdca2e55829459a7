"""The gate of a sample: what answers of no use cost is counted, and the place given back."""

import asyncio

import pytest
from for_each import for_each

from harness.agent.attempt import RunStop, StopReason
from harness.agent.session import BudgetSpentError
from harness.models.prices.price import Price
from harness.models.protocol import ModelStop, ModelTurn, Retry, Usage
from harness.run.engine.outage import FAILURES, Outage
from harness.run.engine.rate_limiter import RateLimiter
from harness.run.engine.sample_gate import SampleGate
from harness.run.engine.stop_flag import StopFlag
from harness.run.plan.budget import Allowance, Budget

DOLLAR_A_TOKEN = Price(input=1e6, output=1e6)


def used(tokens: int) -> Usage:
    return Usage(input_tokens=tokens)


def gates(allowance: Allowance) -> tuple[SampleGate, Budget]:
    budget = Budget(allowance, DOLLAR_A_TOKEN)
    return SampleGate(RateLimiter(1), budget), budget


def failed(usage: Usage | None) -> Retry:
    return Retry(attempt=1, cause="no answer", wait_s=1.0, usage=usage)


ANSWER = ModelTurn(usage=used(1), stop=ModelStop(reason="end_turn"))


class TestRunsBudget:
    async def test_an_answer_of_no_use_is_counted_when_it_is_asked_again(self) -> None:
        gate, budget = gates(Allowance(cost=10))
        await gate.enter()
        gate.step_aside(failed(used(3)))
        assert budget.state == "$3.0000 of $10.0000"
        await gate.enter_again()
        gate.leave(ANSWER, billed=True)
        assert budget.state == "$4.0000 of $10.0000"

    async def test_the_money_for_the_next_attempt_stays_reserved(self) -> None:
        gate, budget = gates(Allowance(cost=10))
        await gate.enter()
        gate.step_aside(failed(used(4)))
        second = asyncio.create_task(budget.admit())  # four are spent, four reserved, two left
        for _ in range(5):
            await asyncio.sleep(0)
        assert not second.done()
        await gate.enter_again()
        gate.leave(ANSWER, billed=True)
        await asyncio.wait_for(second, 60)

    async def test_a_failure_that_told_nothing_costs_nothing(self) -> None:
        gate, budget = gates(Allowance(cost=10))
        await gate.enter()
        gate.step_aside(failed(None))
        assert budget.state == "$0.0000 of $10.0000"

    async def test_the_last_attempt_counts_though_it_ends_in_an_error(self) -> None:
        gate, budget = gates(Allowance(cost=10))
        await gate.enter()
        gate.leave(None, billed=False, usage=used(10))
        assert budget.reached is StopReason.COST_LIMIT

    async def test_an_error_without_an_answer_costs_nothing(self) -> None:
        gate, budget = gates(Allowance(cost=10))
        await gate.enter()
        gate.leave(None, billed=False)
        assert budget.state == "$0.0000 of $10.0000"


class TestSamplesBudget:
    async def test_a_sample_s_budget_pays_for_unusable_answers(self) -> None:
        gate, _ = gates(Allowance(cost_per_sample=10))
        await gate.enter()
        for _ in range(2):
            gate.step_aside(failed(used(4)))
            await gate.enter_again()
        gate.leave(ANSWER, billed=True)
        gate.recall(used(1))
        with pytest.raises(BudgetSpentError) as caught:
            await gate.enter()
        assert caught.value.reason is StopReason.COST_LIMIT

    async def test_an_answer_that_is_used_again_is_the_samples_and_not_the_runs(self) -> None:
        gate, budget = gates(Allowance(cost=20, cost_per_sample=10))
        gate.recall(used(8))
        assert budget.state == "$0.0000 of $20.0000"
        with pytest.raises(BudgetSpentError):
            await gate.enter()


@for_each(("loading", "paused"), [(True, False), (None, True)])
async def test_a_server_that_is_loading_its_model_is_no_outage(
    loading: bool | None, *, paused: bool
) -> None:
    outage = Outage(StopFlag())
    retry = Retry(attempt=1, cause="Loading model", wait_s=5.0, status=503, loading=loading)
    for _ in range(FAILURES):
        outage.failed(retry)
    assert outage.under_way is paused


async def test_a_request_that_failed_waits_for_the_provider_until_it_is_answered() -> None:
    gate, _ = gates(Allowance())
    await gate.enter()
    assert gate.waits_for is None
    gate.step_aside(failed(None))
    await gate.enter_again()
    assert gate.waits_for is RunStop.OUTAGE
    gate.leave(ANSWER, billed=True)
    assert gate.waits_for is None
    await gate.enter()
    gate.step_aside(failed(None))
    gate.leave(None, billed=True)  # the sample was cancelled meanwhile
    assert gate.waits_for is RunStop.OUTAGE


async def test_a_request_given_up_before_any_answer_waits_for_the_provider() -> None:
    gate, _ = gates(Allowance())
    await gate.enter()
    gate.leave(None, billed=True)
    assert gate.waits_for is RunStop.OUTAGE
    await gate.enter()
    gate.leave(ANSWER, billed=True)
    await gate.enter()
    gate.leave(None, billed=True)
    assert gate.waits_for is None, "the provider answers, but the model is slow"
