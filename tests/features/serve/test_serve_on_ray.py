"""`harness serve --set executor=ray`: the same answers from another machine's sandboxes."""

import json
import re
import signal
import subprocess
from importlib.util import find_spec
from pathlib import Path

import httpx2
import pytest
from own_problems import ECHO
from program import PROGRAM, environment

if find_spec("ray") is None:
    pytest.skip("ray is not installed", allow_module_level=True)
from ray_cluster import RayCluster

pytestmark = pytest.mark.thorough

LISTENS = re.compile(r"listens at (http://\S+)")


def test_the_answers_are_the_same(tmp_path: Path) -> None:
    (tmp_path / "own.jsonl").write_text(json.dumps(ECHO))
    with RayCluster.started(1) as cluster:
        process = subprocess.Popen(
            [
                *(PROGRAM, "serve", "--port", "0", "--problems", "jsonl:own.jsonl"),
                *("--set", "executor=ray", "--set", f"ray_address={cluster.address}"),
            ],
            cwd=tmp_path,
            env=environment(**cluster.environment),
            stderr=subprocess.PIPE,
            text=True,
        )
        assert process.stderr is not None
        log_lines: list[str] = []
        match = None
        while match is None:
            log_lines.append(process.stderr.readline())
            assert log_lines[-1], log_lines
            match = LISTENS.search(log_lines[-1])
        with httpx2.Client(base_url=match[1], timeout=120) as client:
            right, wrong = "print(input())", "print(1)"
            items = [{"problem": "echo", "code": code} for code in (right, wrong)]
            lines = client.post("/grade", json={"items": items}).text.splitlines()
            rewards = {each["index"]: each["reward"] for each in map(json.loads, lines)}
            assert rewards == {0: 1.0, 1: 0.0}
            body = {"code": right, "language": "python", "stdin": "7"}
            answer = client.post("/run_code", json=body).json()
            assert (answer["status"], answer["run_result"]["stdout"]) == ("Success", "7\n")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert process.returncode == 0
