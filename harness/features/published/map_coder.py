"""MapCoder: recall similar problems, plan by each, write the code of the surest plan, debug it.

From Islam et al. 2024, "MapCoder: Multi-Agent Code Generation for Competitive Problem Solving"
(arXiv:2405.11403). One request recalls `plans` similar problems and the algorithm. For each, one
request makes a plan and one rates it. Then the plans are coded in the order of their ratings; code
that fails the public tests is debugged up to `repair_rounds` times. The first code that passes them
ends the sample. The paper recalls 3 problems (5 on HumanEval) and debugs 5 times.
"""

import re
from typing import Any, NamedTuple

from harness.agent.attempt import Attempt, StopReason
from harness.agent.session import Session, run_until_stopped
from harness.features.published.solver import Solver, end_of

_SECTIONS = re.compile(r"<problem>(.*?)(?:</problem>|(?=<problem>)|\Z)", re.DOTALL)
_NUMBER = re.compile(
    r"(?<![\d.])(?P<value>\d{1,4}(?:[.,]\d{1,6})?|\.\d{1,6})"
    r"(?:\s*(?P<percent>%)|\s*(?:/|out of|of)\s*(?P<most>\d{1,4}))?"
)


class RatedPlan(NamedTuple):
    """A plan, and how sure the model is of it, from 0 to 100."""

    text: str
    confidence: int


async def map_coder(session: Session) -> Attempt:
    """Recall, plan, code and debug, until a solution passes the public tests."""
    solver = Solver(session)
    reason, error = await run_until_stopped(_work(solver), session.limits)
    return solver.attempt(reason, error)


async def _work(solver: Solver) -> StopReason:
    options = solver.session.options
    recalled = (await solver.ask("recall", alone=True, plans=options.plans)).text
    algorithm, plans = section(recalled, "algorithm"), list[RatedPlan]()
    for example in examples(recalled)[: options.plans] or [recalled.strip()]:
        turn = await solver.ask("plan", alone=True, example=example, algorithm=algorithm)
        plan = turn.text.strip()
        rating = await solver.ask("rate", alone=True, plan=plan)
        plans.append(RatedPlan(plan, confidence(rating.text)))
    for plan in sorted(plans, key=lambda each: -each.confidence):
        values: dict[str, Any] = {"plan": plan.text, "algorithm": algorithm}
        values |= {"code": "", "feedback": ""}
        for number in range(1 + options.repair_rounds):
            code, report = await solver.solve("debug" if number else "code", **values)
            if code and (ended := end_of(report)) is not None:
                return ended
            if report is not None:
                values |= {"code": code, "feedback": report.text}
            values["new"] = bool(code)
    return StopReason.MODEL_STOPPED


def examples(text: str) -> list[str]:
    """Return the recalled problems, without the tags around them."""
    algorithms = (each.strip() for each in _SECTIONS.findall(text.partition("<algorithm>")[0]))
    return [each for each in algorithms if each]


def section(text: str, tag: str) -> str:
    """Return the text of a tag; it may lack its end."""
    _, _, after = text.partition(f"<{tag}>")
    return after.partition(f"</{tag}>")[0].strip()


def confidence(text: str) -> int:
    """Return the rating of a plan, 0 to 100: that in its tag, else the last one; 0 without any.

    `9/10` and `9 out of 10` are 90, and so is a share of 1 such as `0.9`.
    """
    inside = list(_NUMBER.finditer(section(text, "confidence")))
    numbers = inside[:1] or list(_NUMBER.finditer(text))[-1:]
    if not numbers:
        return 0
    written = numbers[0]["value"].replace(",", ".")
    value, most = float(written), float(numbers[0]["most"] or 0)
    if most:
        value *= 100 / most
    elif "." in written and value <= 1 and not numbers[0]["percent"]:
        value *= 100
    return min(100, round(value))
