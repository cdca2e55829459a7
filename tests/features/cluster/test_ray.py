"""Runs on a real Ray cluster of several nodes: as on one machine, whatever becomes of a node."""

import asyncio
import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import httpx2
import pytest
from own_problems import ECHO
from program import (
    PROGRAM,
    WITHOUT_NAMESPACES,
    environment,
    finish,
    harness,
    heard,
    results,
    run_by,
    start,
)

if find_spec("ray") is None:
    pytest.skip("ray is not installed", allow_module_level=True)
from json_lines import json_lines
from ray_cluster import RayCluster

from harness.features.cluster.packed_work import LARGE

MEASURED = {
    "seconds",
    "answer_seconds",
    "tests",
    "peak_bytes",
    "steps",
    "isolation",
    "judged_again",
}
"""What differs between two runs of the same."""
SLOW = "def slow(problem):\n    return 'import time\\ntime.sleep(0.1)\\nprint(input())'\n"
OWN = ["-b", "jsonl:own.jsonl", "-m", "python:mine:slow", "--out", "r"]


@pytest.fixture(scope="module")
def cluster() -> Iterator[RayCluster]:
    with RayCluster.started(2) as cluster:
        yield cluster


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A folder with a problem of large tests, and a model that solves it in half a second."""
    large = {"input": "x" * 2 * LARGE, "output": "x" * 2 * LARGE, "public": False}
    row = {**ECHO, "tests": [*ECHO["tests"], large]}
    (tmp_path / "own.jsonl").write_text(json.dumps(row) + "\n")
    (tmp_path / "mine.py").write_text(SLOW)
    return tmp_path


def on(cluster: RayCluster) -> list[str]:
    return ["--set", "executor=ray", "--set", f"ray_address={cluster.address}"]


def told(run: Path) -> dict[str, Any]:
    """The results but for what was measured, by sample, with each test's verdict."""
    return {
        each["sample"]: {
            **{key: value for key, value in each.items() if key not in MEASURED},
            "tests": [(test["verdict"], test["public"]) for test in each["tests"]],
        }
        for each in results(run)
    }


async def committed(run: Path, count: int) -> None:
    """Wait until so many samples are in the results."""
    path = run / "results.jsonl"
    async with asyncio.timeout(60):
        while not path.exists() or path.read_bytes().count(b"\n") < count:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


@pytest.mark.thorough
def test_the_bundled_job_comes_out_as_on_one_machine(tmp_path: Path, cluster: RayCluster) -> None:
    job = ("run", "-n", "16", "--agentic-mode", "--json")
    local = harness(tmp_path, *job, "--out", "local")
    spread = harness(tmp_path, *job, "--out", "ray", *on(cluster))
    assert (local.returncode, spread.returncode) == (0, 0), spread.stderr
    assert told(tmp_path / "ray") == told(tmp_path / "local")
    one, other = (json.loads(done.stdout) for done in (local, spread))
    for key in ("pass_at_1", "verdicts", "usage", "model_calls", "tool_calls", "stop_reasons"):
        assert one[key] == other[key]
    names = [
        sorted(path.name for path in (tmp_path / name / "transcripts").iterdir())
        for name in ("local", "ray")
    ]
    assert names[0] == names[1]
    spec = json.loads((tmp_path / "ray" / "run.json").read_text())["spec"]
    assert spec["executor"] == "ray"


@pytest.mark.thorough
async def test_a_node_killed_in_the_middle_costs_no_sample_and_none_is_graded_twice(
    own: Path, cluster: RayCluster
) -> None:
    node = cluster.add(2)
    process = await start(own, "run", *OWN, "-k", "16", "--json", *on(cluster))
    await committed(own / "r", 2)
    cluster.kill(node)
    code, out, err = await finish(process)
    assert code == 0, err
    assert "was lost" in err
    assert json.loads(out)["graded"] == 16, "stdout is the summary and nothing else"
    assert sorted(each["index"] for each in results(own / "r")) == list(range(16))
    assert {each["verdict"] for each in results(own / "r")} == {"accepted"}


@pytest.mark.thorough
async def test_interrupted_at_once_it_goes_on_here(own: Path, cluster: RayCluster) -> None:
    process = await start(own, "run", *OWN, "-k", "16", *on(cluster))
    await committed(own / "r", 1)
    process.send_signal(signal.SIGINT)
    await heard(process, "again to stop now")
    process.send_signal(signal.SIGINT)
    code, _, err = await finish(process)
    assert code == 130, err
    before = results(own / "r")
    assert len(before) < 16
    done = harness(own, "run", "--resume", "r", "--set", "executor=local")
    assert done.returncode == 0, done.stderr
    assert results(own / "r")[: len(before)] == before
    assert sorted(each["index"] for each in results(own / "r")) == list(range(16))


@pytest.mark.thorough
def test_grade_and_verify_give_the_same_verdicts_there(own: Path, cluster: RayCluster) -> None:
    codes = ["print(input())", "print(1)", "while True: pass", "1/0"]
    rows = [{"problem_id": "own/echo", "code": code} for code in codes]
    (own / "s.jsonl").write_text(json_lines(rows))
    grade = ["grade", "--problems", "jsonl:own.jsonl", "--solutions", "s.jsonl", "--json"]
    grade += ["--test-timeout", "0.3"]
    verify = ["verify", "jsonl:own.jsonl", "--fresh", "--json"]
    for command, code in ((grade, 0), (verify, 1)):
        verdicts = []
        for where in ([], on(cluster)):
            done = harness(own, *command, *where)
            assert done.returncode == code, done.stderr
            verdicts.append(_verdicts(json.loads(done.stdout)))
        assert verdicts[0] == verdicts[1]


def _verdicts(document: Any) -> list[str]:
    """All verdicts in some JSON, in order."""
    if isinstance(document, dict):
        here = [str(value) for key, value in document.items() if key == "verdict"]
        return here + [each for value in document.values() for each in _verdicts(value)]
    return (
        [each for value in document for each in _verdicts(value)]
        if isinstance(document, list)
        else []
    )


AT_NODE = """
import asyncio, os, sys
from harness.sandbox.executor import Where
from harness.sandbox.isolation import Isolation, Level

def look(worker):
    return os.getpid(), dict(os.environ), worker.isolation.level

def fall(worker):
    os._exit(1)

async def main():
    where = Where("ray", sys.argv[1])
    async with where.open(Isolation(Level.LANDLOCK), print) as executor:
        pid, environment, level = await executor.call(look)
        print(executor.size, pid != os.getpid(), "PLANTED" in environment, level)
        try:
            await executor.call(fall)
        except Exception as error:
            print(type(error).__name__, error)
        print((await executor.call(look))[2])

asyncio.run(main())
"""


@pytest.mark.thorough
def test_no_key_goes_to_a_node_and_work_that_ends_nodes_ends(cluster: RayCluster) -> None:
    done = subprocess.run(
        [sys.executable, "-c", AT_NODE, cluster.address],
        env=environment(PLANTED="secret"),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    first, *lost, gave_up, last = done.stdout.splitlines()
    assert first == "4 True False namespaces"
    assert len(lost) == 3
    assert all("was lost" in line for line in lost)
    assert gave_up.startswith("SandboxError 3 nodes were lost while they worked at it")
    assert last == "namespaces"


@pytest.mark.thorough
def test_a_node_whose_sandbox_is_too_weak_is_left_out(own: Path, cluster: RayCluster) -> None:
    able = run_by(own, sys.executable, "-c", WITHOUT_NAMESPACES, sys.executable, "-c", "")
    assert able.returncode == 0, able.stderr
    with cluster.joined(sys.executable, "-c", WITHOUT_NAMESPACES):
        # So many that the node has been looked at before they are done.
        flags = ["-k", "40", "--require-isolation", "namespaces", *on(cluster)]
        done = harness(own, "run", *OWN, *flags)
    assert done.returncode == 0, done.stderr
    assert "is left out: no sandbox of level namespaces or above can be had here" in done.stderr
    assert [each["isolation"] for each in results(own / "r")] == ["namespaces"] * 40


LISTENS = re.compile(r"listens at (http://\S+)")


@pytest.mark.thorough
async def test_a_server_gives_the_same_answers(own: Path, cluster: RayCluster) -> None:
    command = ["serve", "--port", "0", "--problems", "jsonl:own.jsonl", *on(cluster)]
    process = await start(own, *command, **cluster.environment)
    found = LISTENS.search(await heard(process, "listens at"))
    assert found is not None
    async with httpx2.AsyncClient(base_url=found[1], timeout=120) as client:
        right, wrong = "print(input())", "print(1)"
        items = [{"problem": "echo", "code": code} for code in (right, wrong)]
        lines = (await client.post("/grade", json={"items": items})).text.splitlines()
        rewards = {each["index"]: each["reward"] for each in map(json.loads, lines)}
        assert rewards == {0: 1.0, 1: 0.0}
        body = {"code": right, "language": "python", "stdin": "7"}
        answer = (await client.post("/run_code", json=body)).json()
        assert (answer["status"], answer["run_result"]["stdout"]) == ("Success", "7\n")
    process.terminate()
    code, _, err = await finish(process)
    assert code == 0, err


GREET = """
import asyncio, sys
from harness.features.cluster.ray_node import Node
from harness.sandbox.isolation import Level
from harness.version import __version__

for version in (__version__, "0.0.0"):
    print(asyncio.run(Node(1, Level.NAMESPACES).greet(version)).refusal)
"""


def test_a_node_whose_sandbox_is_too_weak_or_whose_harness_is_another_is_refused() -> None:
    command = [sys.executable, "-c", WITHOUT_NAMESPACES, sys.executable, "-c", GREET]
    done = run_by(Path("/"), *command)
    weak, other = done.stdout.splitlines()
    assert weak.startswith("no sandbox of level namespaces or above can be had here")
    assert "and this is 0.0.0; install the same version there" in other


@pytest.mark.parametrize("command", ["run", "grade", "verify", "regrade"])
def test_a_cluster_that_is_not_there_is_one_line(command: str, own: Path) -> None:
    (own / "s.jsonl").write_text('{"problem_id": "own/echo", "code": "print(input())"}\n')
    if command == "regrade":
        assert harness(own, "run", *OWN).returncode == 0
    given = {
        "run": OWN,
        "grade": ["--problems", "jsonl:own.jsonl", "--solutions", "s.jsonl"],
        "verify": ["jsonl:own.jsonl", "--fresh"],
        "regrade": ["r"],
    }[command]
    done = harness(
        own,
        "grade" if command == "regrade" else command,
        *given,
        "--set",
        "executor=ray",
        "--set",
        "ray_address=127.0.0.1:1",
    )
    assert done.returncode == 2
    assert "no Ray cluster can be reached at 127.0.0.1:1" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.thorough
def test_flags_that_do_not_go_together_or_are_unknown(own: Path) -> None:
    done = harness(own, "run", *OWN, "--set", "ray_address=auto")
    assert (done.returncode, "goes with --set executor=ray" in done.stderr) == (2, True)
    done = harness(own, "run", *OWN, "--set", "executor=ray", "--set", "ray_address=ray://x")
    assert (done.returncode, "give auto, or HOST:PORT" in done.stderr) == (2, True)
    done = harness(own, "verify", "jsonl:own.jsonl", "--set", "executor=spark")
    assert (done.returncode, "must be 'local' or 'ray'" in done.stderr) == (2, True)
    done = harness(own, "run", *OWN, "--set", "executor=spark")
    assert (done.returncode, "--set executor" in done.stderr) == (2, True)


def test_without_ray_it_is_said_what_to_install(own: Path) -> None:
    (own / "ray.py").write_text("raise ImportError('not here')\n")
    done = subprocess.run(
        [sys.executable, PROGRAM, "run", *OWN, "--set", "executor=ray"],
        cwd=own,
        env=environment(PYTHONPATH=str(own)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "install harness[ray]" in done.stderr
