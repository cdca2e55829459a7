"""Whatever stands in a file of agent runs, it is read, or refused in one line."""

from collections.abc import Callable
from typing import Any

import pytest
from agent_runs_made import RIGHT, WRONG, atif, eval_log, inspect_sample, messages, trace
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.errors import HarnessError
from harness.features.import_.imported_sample import ImportedSample

Read = Callable[..., list[ImportedSample]]

ROWS: dict[str, Any] = {
    "revisions": {"problem_id": "echo", "code": RIGHT, "turn": 1, "tokens": {"input": 1}},
    "messages": {"messages": messages(WRONG, RIGHT), "problem_id": "echo", "metadata": {}},
    "atif": atif(WRONG, RIGHT, extra={"task_id": "echo", "harness": {"index": 0}}),
    "verifiers": trace(WRONG, RIGHT),
    "inspect": inspect_sample(WRONG, RIGHT),
}

JUNK = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(max_size=5),
    st.just("\ud800"),
    st.just([[]]),
    st.just([{}]),
    st.just({"": []}),
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of all values in a JSON value."""
    paths = [path]
    if isinstance(value, dict | list):
        for key, each in value.items() if isinstance(value, dict) else enumerate(value):
            paths += places(each, (*path, key))
    return paths


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A copy with another value at a path."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(value[path[0]], path[1:], new)
    return copy


@pytest.mark.thorough
@pytest.mark.parametrize("format_", ROWS)
@settings(
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(data=st.data())
def test_a_trajectory_with_one_value_replaced_is_read_or_refused_in_one_line(
    read: Read, format_: str, data: st.DataObject
) -> None:
    row = ROWS[format_]
    path = data.draw(st.sampled_from(places(row)[1:]))
    made = changed(row, path, data.draw(JUNK))
    try:
        if format_ == "inspect":
            read(eval_log(made), format_, name="a.eval")
        else:
            read([made], format_)
    except HarnessError as error:
        assert "\n" not in str(error)  # noqa: PT017 - it may be read as well
