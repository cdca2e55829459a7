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
DOUBLE = "#include <iostream>\nint main() {{ int n; std::cin >> n; std::cout << {} << '\\n'; }}\n"
OWN = [
    {
        "id": f"own/times{factor}",
        "title": f"Times {factor}",
        "statement": f"Read a number and print it times {factor}.",
        "tests": [
            {"input": f"{n}\n", "output": f"{factor * n}\n", "public": n == 1} for n in (1, 7)
        ],
        "references": [{"language": "cpp", "code": DOUBLE.format(f"{factor} * n")}],
    }
    for factor in (2, 3)
]


def main() -> None:
    known = [json.loads(line) for line in ROWS.read_text().splitlines()]
    python = {row["title"]: ["print(0)", row["references"][0]] for row in known}
    cpp = {row["title"]: [DOUBLE.format(0), row["references"][0]["code"]] for row in OWN}
    with tempfile.TemporaryDirectory() as folder:
        rows = Path(folder, "own.jsonl")
        rows.write_text("".join(f"{json.dumps(row)}\n" for row in OWN))
        for language, benchmark, solutions in (
            ("python", "fixture", python),
            ("cpp", f"jsonl:{rows}", cpp),
        ):
            print(language)
            place = Path(folder, language)
            place.mkdir()
            settings = {"benchmark": benchmark, "language": language, "sample-size": str(COUNT)}
            check(place, settings | {"workers": "1"}, solutions)
    print("verifiers: all holds")


def check(folder: Path, settings: dict[str, str], solutions: dict[str, list[str]]) -> None:
    """Validate the references, and let a model solve each problem in its second attempt."""
    environ = {**os.environ, "SERVED_KEY": "none", "PYTHONWARNINGS": "ignore"}
    flags = {
        prefix: [word for name, value in settings.items() for word in (prefix + name, value)]
        for prefix in ("--taskset.", "--env.taskset.")
    }

    def run(name: str, *words: str) -> None:
        command = [str(BIN / name), *TASKSET, *words, "-o", f"{folder}/{name}"]
        done = subprocess.run(
            command, env=environ, cwd=folder, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]

    run("vf-validate", *flags["--taskset."], "--runtime.type", "subprocess")
    (summary,) = Path(folder, "vf-validate").glob("*/summary.json")
    outcomes = json.loads(summary.read_text())["outcomes"]
    print("vf-validate:", outcomes)
    assert outcomes["valid"] == COUNT

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


if __name__ == "__main__":
    main()
