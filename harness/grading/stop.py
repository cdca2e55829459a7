"""When judging a solution stops."""

from enum import StrEnum

MANY_TESTS = 100
MOST_LATE = 3  # time limits after which `Stop.LATE` ends


class Stop(StrEnum):
    """Rule for when the judge stops.

    `auto`: at the first failure if there are more than `MANY_TESTS` tests, else at the first test
    that hits a limit of time, memory or output.
    `late`: at the third test that hits the time limit, for rewards by the share of tests passed.
    The tests after it count as failed, and its error says so.
    """

    AUTO = "auto"
    FAILURE = "failure"
    LATE = "late"
    NEVER = "never"


STOPS = {None: Stop.AUTO, True: Stop.NEVER, False: Stop.FAILURE}
"""Stop rule by whether the user wants all tests; None where the user has not said."""
