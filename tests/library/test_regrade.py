"""`harness.regrade`: a run judged again, as the command does."""

from pathlib import Path

import pytest

import harness

pytestmark = pytest.mark.usefixtures("kept_sandbox")

ECHO = {
    "id": "own/echo",
    "statement": "Print the number.",
    "tests": [{"input": "1\n", "output": "1\n"}, {"input": "2\n", "output": "2\n"}],
}


def test_a_run_is_judged_again_on_the_rows_of_now(tmp_path: Path) -> None:
    before = harness.evaluate(lambda _: "print(input())", benchmark=[ECHO], out=tmp_path / "run")
    again = harness.regrade(tmp_path / "run", benchmark=[ECHO], test_timeout=9)
    assert (before.pass_at_1, again.pass_at_1) == (1.0, 1.0)
    assert again.path == tmp_path / "run-regraded"
    assert again.spec["test_timeout"] == 9
    assert harness.regrade(tmp_path / "run", benchmark=[ECHO], test_timeout=9).path == again.path
    with pytest.raises(harness.HarnessError, match="own/echo"):
        harness.regrade(tmp_path / "run", benchmark=[], test_timeout=9)
    with pytest.raises(harness.UsageError, match="run is of type Evaluation; give the directory"):
        harness.regrade(before)  # pyright: ignore[reportArgumentType]
    with pytest.raises(harness.HarnessError, match="is another run"):
        harness.regrade(tmp_path / "run", benchmark=[ECHO], test_timeout=8)
