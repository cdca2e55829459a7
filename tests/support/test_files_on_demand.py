"""Files that workers collect on demand: every test runs once, and every failure is reported."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

FILES = {
    "pytest.ini": f"""
        [pytest]
        pythonpath = {Path(__file__).parent}
        addopts = -p files_on_demand --import-mode=importlib
        asyncio_default_fixture_loop_scope = function
        markers = slow""",
    "test_a.py": """
        import os, pytest
        @pytest.fixture(scope="session")
        def process():
            yield os.getpid()
        def test_passes(process): pass
        def test_fails(process): assert False
        class TestNumbers:
            @pytest.mark.parametrize("number", [1, 2])
            def test_number(self, number, process): assert process == os.getpid()
        @pytest.mark.slow
        def test_slow(): pass""",
    "test_b.py": "import no_such_module",
    "test_c.py": "import pytest\npytest.importorskip('no_such_module')\ndef test_c(): pass",
    "first/test_d.py": "import pytest\npytestmark = pytest.mark.slow\ndef test_d(): pass",
    "first/test_e.py": "def test_e(): pass",
    "second/test_f.py": "def test_f(): pass",
}


@pytest.mark.parametrize(
    ("flags", "counts"),
    [
        ([], {"failed": 1, "passed": 7, "skipped": 1, "error": 1}),
        (["-m", "not slow"], {"failed": 1, "passed": 5, "skipped": 1, "error": 1}),
        (["-m", "slow", "--ignore=test_b.py"], {"passed": 2, "skipped": 1}),
        (["-k", "number", "--ignore=test_b.py"], {"passed": 2, "skipped": 1}),
        (
            ["--reruns", "2", "--ignore=test_b.py"],
            {"failed": 1, "passed": 7, "skipped": 1, "rerun": 2},
        ),
        (["test_a.py::TestNumbers"], {"passed": 2}),
    ],
)
def test_each_selected_test_runs_once_and_each_error_counts(
    tmp_path: Path, flags: list[str], counts: dict[str, int]
) -> None:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(re.sub(r"^ {8}", "", text, flags=re.MULTILINE))
    command = [sys.executable, "-m", "pytest", "-q", "-n", "2", *flags]
    env = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    done = subprocess.run(
        command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False
    )
    line = done.stdout.splitlines()[-1]
    assert {word: int(number) for number, word in re.findall(r"(\d+) ([a-z]+)", line)} == counts
    assert (done.returncode != 0) == (counts.keys() >= {"failed"} or "error" in counts)
