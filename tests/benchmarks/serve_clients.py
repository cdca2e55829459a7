"""Whether clients of SandboxFusion work with `harness serve` by its address alone.

Real packages from PyPI, each with an environment of its own below a folder: `sandbox-fusion`, and
the client files of `verl` and `tinker-cookbook`, which are unpacked and not installed. Prints what
each got, and exits with 1 where that is not what it should be.
"""

import argparse
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

from serving import Serving

CLIENTS = Path(__file__).parent / "clients"
PACKAGES = {
    "sandbox_fusion": ("sandbox-fusion==0.3.7", ()),
    "verl": ("verl==0.9.1", ("requests", "numpy")),
    "tinker": ("tinker-cookbook==0.6.1", ("aiohttp",)),
}
WRONG = ["wrong_answer"]
EXPECTED: dict[str, dict[str, Any]] = {
    "sandbox_fusion": {
        "right": ["Success", 0, "cba\n"],
        "raises": ["RunFailed", 1, ""],
        "exit": ["RunFailed", 3, ""],
        "time": ["RunTimeout", None, ""],
        "files": ["Success", 0, ""],
        "fetched": "42",
        "asynchronous": True,
        "cpp": [0, 3, 1, None],
    },
    "verl": {
        "right": [1.0, ["success"]],
        "wrong": [1 / 3, ["success", "wrong_answer"]],
        "exit": [0.0, ["runtime_error"]],
        "raises": [0.0, ["runtime_error"]],
        "compile": [0.0, ["runtime_error"]],
        "time": [0.0, ["timeout"]],
        "memory": [0.0, ["runtime_error"]],
        "function": [1.0, ["success"]],
        "method": [1.0, ["success"]],
        "function wrong": [0.0, WRONG],
        "function raises": [0.0, WRONG],  # verl's own wrapper prints nothing, and ends well
        "twenty": [1.0, ["success"]],
        "assert": [0.5, ["runtime_error", "success"]],
    },
    "tinker": {
        "right": [True, "Success", None],
        "wrong": [False, "Failed", None],
        "raises": [False, "Failed", None],
        "compile": [False, "Failed", None],
        "time": [False, "Failed", None],
        "function": [True, "Success", None],
        "function wrong": [False, "Failed", None],
        "twenty at once": 20,
    },
}
TOKEN = "a token of sixteen"


def main() -> None:
    """Set up, ask, compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/serve-clients"))
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    wrong = 0
    for token in ("", TOKEN.replace(" ", "-")):
        with Serving(token=token) as serving:
            for name in PACKAGES:
                cases = ask(name, folder, serving.address(token))
                for case, expected in EXPECTED[name].items():
                    good = cases.get(case) == expected
                    wrong += not good
                    mark = "ok" if good else f"EXPECTED {expected}"
                    print(
                        f"{name:15} {case:16} {'token' if token else '':5} {cases.get(case)} {mark}"
                    )
    sys.exit(1 if wrong else 0)


def ask(name: str, folder: Path, address: str) -> dict[str, Any]:
    """Return what a client got, case by case."""
    python, source = environment(name, folder)
    command = [python, str(CLIENTS / f"ask_{name}.py"), address, str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout.splitlines()[-1])


def environment(name: str, folder: Path) -> tuple[str, Path]:
    """Make a package's environment, once; return its interpreter and where its files are."""
    package, beside = PACKAGES[name]
    room, source = folder / name, folder / f"{name}-files"
    python = str(room / "bin" / "python")
    if not room.exists():
        subprocess.run([sys.executable, "-m", "venv", room], check=True)
        needed = beside or (package,)
        subprocess.run([python, "-m", "pip", "install", "-q", *needed], check=True)
    if beside and not source.exists():
        download = [python, "-m", "pip", "download", "-q", "--no-deps", "-d", str(source), package]
        subprocess.run(download, check=True, env={**os.environ})
        for wheel in source.glob("*.whl"):
            zipfile.ZipFile(wheel).extractall(source)
    return python, source


if __name__ == "__main__":
    main()
