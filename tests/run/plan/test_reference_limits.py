"""What a limit of time may be said as."""

from typing import Any

import pytest
from for_each import for_each

from harness.errors import UsageError
from harness.run.settings.execution_settings import factor_of, read_test_timeout
from harness.run.settings.spec import RunSpec, read_spec


@for_each(
    ("given", "kept", "factor"),
    [
        (2, 2.0, None),
        ("2.5", 2.5, None),
        ("reference*4", "reference*4", 4.0),
        (" reference*0.5 ", "reference*0.5", 0.5),
    ],
)
def test_test_timeout_is_seconds_or_a_factor(
    given: Any, kept: float | str, factor: float | None
) -> None:
    spec = read_spec(None, {"test_timeout": given})
    assert spec.test_timeout == kept
    assert spec.test_seconds == (kept if factor is None else None)
    assert factor_of(spec.test_timeout) == factor
    assert RunSpec.model_validate(spec.model_dump(mode="json")) == spec


@for_each(
    "given",
    [
        *("reference", "reference4", "references*4", "reference*", "reference*x", "reference*-1"),
        *("reference*0", "reference*nan", "reference*inf", "reference*1e999"),
    ],
)
def test_a_bad_factor_of_test_timeout_is_refused(given: str) -> None:
    with pytest.raises(UsageError, match=r"as reference\*4, with a factor of more than 0 \(given"):
        read_spec(None, {"test_timeout": given})


@for_each("given", ["soon", "", "0", "-1", "nan", "inf", "1e9", True, [], {}, 10**400])
def test_bad_seconds_of_test_timeout_are_refused(given: Any) -> None:
    with pytest.raises(ValueError, match="give CPU seconds, more than 0, at most 604800, or ref"):
        read_test_timeout(given)
