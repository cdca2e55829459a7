"""verifiers 0.4: `vf-validate`, and `vf-eval` against a loopback model that calls the tools."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SUPPORT = Path(__file__).parents[1] / "support"
BIN = Path(sys.executable).parent
ROWS = Path(__file__).parents[2] / "fixtures" / "problems.jsonl"
TASKSET = ("harness_taskset",)
COUNT = 2


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        environ = {**os.environ, "SERVED_KEY": "none", "PYTHONWARNINGS": "ignore"}
        settings = ["benchmark", "fixture", "sample-size", str(COUNT), "workers", "1"]
        flags = {
            prefix: [w for n, v in zip(*[iter(settings)] * 2, strict=True) for w in (prefix + n, v)]
            for prefix in ("--taskset.", "--env.taskset.")
        }

        def run(name: str, *words: str) -> str:
            command = [str(BIN / name), *TASKSET, *words, "-o", f"{folder}/{name}"]
            done = subprocess.run(
                command, env=environ, cwd=folder, capture_output=True, text=True, check=False
            )
            assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
            return done.stdout

        run("vf-validate", *flags["--taskset."], "--runtime.type", "subprocess")
        (summary,) = Path(folder, "vf-validate").glob("*/summary.json")
        outcomes = json.loads(summary.read_text())["outcomes"]
        print("vf-validate:", outcomes)
        assert outcomes["valid"] == COUNT

        known = [json.loads(line) for line in ROWS.read_text().splitlines()]
        solutions = {row["title"]: ["print(0)", row["references"][0]] for row in known}
        Path(folder, "solutions.json").write_text(json.dumps(solutions))
        server = subprocess.Popen(
            [
                *(sys.executable, str(SUPPORT / "chat_server.py"), "--port", "0"),
                *("--scenario", "solver", "--solutions", f"{folder}/solutions.json"),
            ],
            stdout=subprocess.PIPE,
            text=True,
            cwd=SUPPORT,
        )
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            run(
                "vf-eval",
                *flags["--env.taskset."],
                *("-m", "served", "--client.base-url", url, "--client.api-key-var", "SERVED_KEY"),
                *("--env.agent.harness.id", "null", "--env.agent.runtime.type", "subprocess"),
                *("-n", str(COUNT), "-r", "1"),
            )
        finally:
            server.terminate()
            server.wait()
        (traces,) = Path(folder, "vf-eval").rglob("traces.jsonl")
        for line in traces.read_text().splitlines():
            (trace,) = json.loads(line)["traces"]
            print("vf-eval:", trace["rewards"], trace["metrics"], trace["errors"])
            assert trace["rewards"]["harness_reward"]["score"] == 1.0, trace
    print("verifiers: all holds")


if __name__ == "__main__":
    main()
