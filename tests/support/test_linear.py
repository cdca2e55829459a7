"""Linear and quadratic processing are told apart."""

import pytest
from linear import assert_linear


def test_linear_work_that_is_not_done_soon_passes() -> None:
    assert_linear(lambda size: sum(range(size)), 500_000, soon=1e-6)


def test_quadratic_work_fails() -> None:
    def work(size: int) -> int:
        return sum(sum(range(size)) for _ in range(size))

    with pytest.raises(AssertionError, match="of 4 times"):
        assert_linear(work, 2_000, soon=1e-6)
