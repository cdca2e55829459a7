"""The answer of an execution: what a program printed, or what a function returned."""

from harness.sandbox.execution import Ending, Execution


def answer_of(
    execution: Execution, *, functional: bool, exit_code_counts: bool = False
) -> bytes | None:
    """Return the answer to compare with the expected output; None where there is none.

    A program that raises SystemExit has finished, whatever its exit code, and its output counts;
    the graders of LiveCodeBench and APPS do the same. A process that ends otherwise with an exit
    code (`os._exit`) has crashed.

    Args:
        execution: execution of a test.
        functional: whether the answer is a value.
        exit_code_counts: whether SystemExit with a code other than 0 is a crash, too, as in the
            judges of contests.
    """
    exited = execution.ending is Ending.EXIT and not functional and not execution.error
    exited = exited and not exit_code_counts
    if execution.ending is not Ending.FINISHED and not exited:
        return None
    return execution.result if functional else execution.stdout
