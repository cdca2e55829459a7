"""The reminder that answers a message without a tool call."""

from harness.agent.attempt import Session
from harness.tools.workspace import Workspace

NO_CALL = "No tool was called."


def reminder(session: Session, *, turns_left: int, code_in_text: bool, further: int) -> str:
    """Return the text of a reminder.

    Args:
        session: session of the sample.
        turns_left: remaining answers of the model.
        code_in_text: whether the message contained code not written with a tool.
        further: number of further messages without a tool call that end the sample.
    """
    workspace = session.workspace
    turns = f"{turns_left} turn{'s' * (turns_left != 1)} left."
    again = (
        "call no tool again" if further == 1 else f"call no tool in your next {further} messages"
    )
    if workspace.latest is None:
        return f"{session.nudge} {turns} To give up, {again}."
    opening = session.nudge if code_in_text else NO_CALL
    state, next_step = _state(workspace)
    return f"{opening} {state} {turns} {next_step}, or {again} to give up."


def _state(workspace: Workspace) -> tuple[str, str]:
    """Return the newest solution's state, and what to do next."""
    if not workspace.problem.public_tests:
        return "What you handed in is stored.", "Hand in something better"
    report = workspace.latest.report if workspace.latest else None
    if report is None:
        return "Your newest solution has not been tested.", "Call run_tests"
    passed = f"{report.passed} of {report.total} public tests"
    return f"Your newest solution passes {passed}.", "Call write_solution with the corrected code"
