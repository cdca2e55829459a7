"""A real Ray cluster of several nodes on this machine, in a separate process.

As a program it prints the cluster's address, and then executes commands, one per line: `add N`
adds a node of N cores, `kill I` kills the I-th added node with all its processes, `behead` kills
the process that makes the head, `await N` waits for N nodes including the head.
"""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Self


class RayCluster:
    """The cluster, as used by tests; its head offers no cores."""

    def __init__(self, process: subprocess.Popen[str], environment: dict[str, str]) -> None:
        self._process = process
        self.process_id = process.pid
        self.environment = environment
        self.address = self._answer()
        self.nodes = self._added = 0

    def add(self, cores: int) -> int:
        """Add a node; return its number."""
        self._tell(f"add {cores}")
        self.nodes += 1
        self._added += 1
        return self._added - 1

    def kill(self, node: int) -> None:
        """Kill a node, like a power failure."""
        self._tell(f"kill {node}")
        self.nodes -= 1

    @contextlib.contextmanager
    def joined(self, *prefix: str) -> Iterator[None]:
        """Add another node with one core, started through the command `prefix`."""
        program = str(Path(sys.executable).with_name("ray"))
        command = [program, "start", "--block", "--num-cpus=1", "--object-store-memory=80000000"]
        process = subprocess.Popen(
            [*prefix, *command, f"--address={self.address}"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=self.environment,
        )
        try:
            self._tell(f"await {self.nodes + 2}")  # including the head
            yield
        finally:
            process.terminate()
            process.wait()

    def behead(self) -> None:
        """Kill the process that manages the list of nodes."""
        self._tell("behead")

    def _tell(self, command: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(command + "\n")
        self._process.stdin.flush()
        assert self._answer() == "done"

    def _answer(self) -> str:
        assert self._process.stdout is not None
        line = self._process.stdout.readline().strip()
        assert line, "the cluster has ended"
        return line

    @classmethod
    @contextlib.contextmanager
    def started(cls, *cores: int) -> Iterator[Self]:
        """Start a cluster with a node for each number of cores."""
        # Ray's sockets are in this folder, and their paths must be short.
        folder = tempfile.mkdtemp(prefix="ray-", dir="/tmp")
        environment = {**os.environ, "RAY_TMPDIR": folder, "RAY_USAGE_STATS_ENABLED": "0"}
        environment["RAY_prestart_worker_first_driver"] = "0"
        process = subprocess.Popen(
            [sys.executable, __file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            text=True,
        )
        try:
            cluster = cls(process, environment)
            for each in cores:
                cluster.add(each)
            yield cluster
        finally:
            process.communicate("quit\n")
            shutil.rmtree(folder, ignore_errors=True)


def _serve() -> None:
    from ray.cluster_utils import Cluster

    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # Ray's own output is not an answer
    cluster = Cluster(
        initialize_head=True,
        head_node_args={
            "num_cpus": 0,
            "include_dashboard": False,
            "object_store_memory": 100 << 20,
        },
    )
    nodes = []
    print(cluster.address, file=answers, flush=True)
    for line in sys.stdin:
        match line.split():
            case ["add", cores]:
                nodes.append(cluster.add_node(num_cpus=int(cores)))
            case ["kill", number]:
                cluster.remove_node(nodes[int(number)], allow_graceful=False)
            case ["await", count]:
                while len(cluster.global_state._live_node_ids()) < int(count):
                    time.sleep(0.1)
            case ["behead"]:
                cluster.head_node.kill_gcs_server()
            case _:
                break
        print("done", file=answers, flush=True)
    cluster.shutdown()


if __name__ == "__main__":
    _serve()
