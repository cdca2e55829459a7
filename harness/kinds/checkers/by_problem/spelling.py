"""A checker of programs that answer in words whose case does not matter."""

from harness.kinds.checkers.by_problem.layout import lines_of


def in_any_case(_given: str, expected: str, answer: str) -> bool:
    """Return whether each line is the expected word, in capitals or not."""
    wanted = lines_of(expected, expected.count("\n") + 1)
    lines = lines_of(answer, len(wanted))
    return answer.isascii() and [line.lower() for line in lines] == [
        word.lower() for word in wanted
    ]
