"""A run directory that cannot be begun."""

import subprocess
import sys
from pathlib import Path

import pytest

BEGIN = """
import resource, sys
from pathlib import Path
from harness.errors import RunDirectoryError
from harness.run.store.directory import RunDirectory
sys.dont_write_bytecode = True  # it would be cut off, too
resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))  # as a disk that is full
spec = {"samples_per_problem": 1}
try:
    RunDirectory.create(Path(sys.argv[1]), {"spec": spec, "problems": {}, "text": "x" * 10_000})
except RunDirectoryError as error:
    print(error)
"""


@pytest.mark.thorough
@pytest.mark.parametrize("there", [False, True])
def test_a_disk_that_takes_no_more_leaves_nothing_behind(tmp_path: Path, *, there: bool) -> None:
    path = tmp_path / "r"
    if there:
        path.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", BEGIN, path], capture_output=True, text=True, check=True
    )
    assert done.stdout == (
        f"{path}: a run cannot be kept there (File too large); choose another --out\n"
    )
    assert list(tmp_path.rglob("*")) == ([path] if there else [])
