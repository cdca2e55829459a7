"""Reflexion: a model tests its solution with tests of its own, and reflects on what failed.

From Shinn et al. 2023, "Reflexion: Language Agents with Verbal Reinforcement Learning"
(arXiv:2303.11366). The model writes tests, then a solution. While the solution fails a public or a
written test, the model writes a reflection on the failures, and then a solution that heeds the
reflections so far. The paper's programming agent has no public tests; here they are run beside its
own, since they are known to be right.
"""

from harness.agent.attempt import Attempt, StopReason
from harness.agent.events import RanWrittenTests
from harness.agent.session import Session, run_until_stopped
from harness.features.published.solver import Solver, end_of
from harness.tools.revision import Report

MOST_REFLECTIONS = 3
"""Latest reflections that a request for a solution shows."""


async def reflexion(session: Session) -> Attempt:
    """Ask for tests and a solution; after failures, for reflections and further solutions."""
    solver = Solver(session)
    reason, error = await run_until_stopped(_work(solver), session.limits)
    return solver.attempt(reason, error)


async def _work(solver: Solver) -> StopReason:
    rounds, reflections = solver.session.options.repair_rounds, list[str]()
    await solver.write_tests()
    code, report = await solver.solve(None)
    new = bool(code)
    for number in range(rounds + 1):
        ran, ended = await solver.run_tests([code]) if code else None, end_of(report)
        if ran is not None and all(ran.passed[0]) and ended is not None:
            return ended
        if number < rounds:
            values = {"code": code, "feedback": _feedback(report, ran), "new": new}
            turn = await solver.ask("reflect", alone=True, **values)
            reflections.append(turn.text.strip())
            shown = reflections[-MOST_REFLECTIONS:]
            answer, tested = await solver.solve("revise", reflections=shown, **values)
            new = bool(answer)
            if new:
                code, report = answer, tested
    return StopReason.MODEL_STOPPED


def _feedback(report: Report | None, ran: RanWrittenTests | None) -> str:
    """Return what came of the tests of a solution; empty without one."""
    parts = [report.text if report is not None else "", ran.report if ran is not None else ""]
    return "\n\n".join(filter(None, parts))
