"""Programs that tests start."""

import signal
from pathlib import Path

import pytest
from program import finish, heard, let_go, start


@pytest.mark.parametrize("env", [{}, {"PYTHONHASHSEED": "1"}], ids=["forked", "from scratch"])
async def test_a_program_that_a_failed_test_leaves_is_killed(
    tmp_path: Path, env: dict[str, str]
) -> None:
    process = await start(tmp_path, "serve", "--port", "0", "--workers", "1", **env)
    await heard(process, "listens at")
    let_go(kill=True)
    assert (await finish(process))[0] == -signal.SIGKILL
