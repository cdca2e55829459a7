"""What a run on a Ray cluster costs: samples a second, the driver's CPU and memory, the nodes' CPU.

Each number of nodes and samples is measured on a cluster of its own, which is on this machine: with
more nodes than cores nothing is won in time, so the figures to reckon from are the CPU seconds. The
samples are single shots; the model is in the driver and takes a fixed time, its answers are the
problems' own references. The problems are APPS's where `HARNESS_TEST_DATA` or `--data` names the
folder of real rows, else the bundled ones.

    python tests/benchmarks/scale.py [--nodes 1 2 4] [--samples 1000 10000] [--data FOLDER]
"""

import argparse
import asyncio
import dataclasses
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cost import _processes, table, tree

from harness.models.protocol import (
    Message,
    Model,
    ModelSettings,
    ModelStop,
    ModelTurn,
    RetryObserver,
    ToolSpec,
    Usage,
)
from harness.problem import ProblemView
from harness.run.engine.engine import Engine
from harness.run.engine.manifest import manifest
from harness.run.plan.plan import prepare
from harness.run.settings.spec import RunSpec
from harness.run.store.directory import RunDirectory
from harness.sandbox.strongest import choose
from harness.sandbox.worker import Worker

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
from ray_cluster import RayCluster

NODES, SAMPLES = (1, 2, 4), (1_000, 10_000)
LATENCY_S, CONCURRENCY = 1.0, 400
ROUND_TRIPS = 2_000
APPS = "apps_codechain_minival/[ic]*.jsonl"
PROBLEMS, SAMPLES_A_PROBLEM, CLUSTER_NODES = 10_000, 10, 100  # what is reckoned
CORES, IN_FLIGHT, ANSWER_S = 4, 1_000, 10.0


class Knowing:
    """A model that answers with the reference of the problem it is asked about, after a while."""

    name = "knowing"

    def __init__(self, references: dict[str, str], answer: str = "") -> None:
        self._references = references
        self._answer = answer

    def for_sample(self, problem: ProblemView, index: int) -> Model:
        """For a problem; each sample's answer is another text."""
        code = f"{self._references[problem.id]}\n# {index}"
        return Knowing(self._references, f"```python\n{code}\n```")

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
        on_retry: RetryObserver | None = None,
    ) -> ModelTurn:
        """The answer."""
        del messages, tools, settings, on_retry
        await asyncio.sleep(LATENCY_S)
        usage = Usage(input_tokens=700, output_tokens=300)
        stop = ModelStop(reason="end_turn", raw="stop")
        return ModelTurn(text=self._answer, usage=usage, stop=stop, latency_s=LATENCY_S)

    async def close(self) -> None:
        """Nothing to let go of."""


class Silent:
    """An observer that counts what failed."""

    def __init__(self) -> None:
        self.failed_samples = 0

    def failed(self, failure: Any) -> None:
        """Count it."""
        del failure
        self.failed_samples += 1

    def __getattr__(self, name: str) -> Any:
        return lambda *_arguments: None


def nothing(worker: Worker) -> None:
    """A piece of work that costs nothing."""
    del worker


@dataclasses.dataclass(frozen=True, slots=True)
class Figures:
    """Of one run.

    Attributes:
        wall_s: from the first request to the last result.
        driver_s, nodes_s: seconds of CPU of the driver, and of all the cluster's processes.
        memory: of the driver at its peak, in bytes; `before` the run began.
        round_trip_s: seconds of the driver's CPU to have nothing done on a node.
    """

    samples: int
    accepted: int
    wall_s: float
    driver_s: float
    nodes_s: float
    memory: int
    before: int
    round_trip_s: float


def tell(line: str) -> None:
    """What the executor has to say."""
    print(line, file=sys.stderr)


def _own_cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def _nodes_cpu(cluster: int) -> float:
    """Of a cluster whose first process is that one."""
    processes = _processes()
    return sum(processes[pid].cpu_s for pid in tree(cluster) if pid in processes)


def _memory() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


async def _measure(address: str, cluster: int, benchmark: str | None, samples: int) -> Figures:
    spec = RunSpec(
        benchmark=benchmark,
        model="gpt-none",
        concurrency=CONCURRENCY,
        executor="ray",
        ray_address=address,
    )
    plan = prepare(spec, {"OPENAI_API_KEY": "none"})
    codes = {each.id: next(iter(each.programs()), "") for each in plan.problems}
    problems = tuple(each for each in plan.problems if codes[each.id])
    selected = plan.selected._replace(problems=problems)
    spec = spec.model_copy(update={"samples_per_problem": -(-samples // len(problems))})
    plan = dataclasses.replace(plan, spec=spec, selected=selected, model=Knowing(codes))
    choice = choose()
    observer = Silent()
    with tempfile.TemporaryDirectory() as folder:
        directory = RunDirectory.create(Path(folder) / "run", manifest(plan, choice))
        async with spec.where.open(choice.isolation, tell) as pool:
            await pool.call(nothing)
            cpu = _own_cpu()
            for _ in range(ROUND_TRIPS // 10):
                await asyncio.gather(*(pool.call(nothing) for _ in range(10)))
            round_trip = (_own_cpu() - cpu) / ROUND_TRIPS
            before, nodes, cpu, start = _memory(), _nodes_cpu(cluster), _own_cpu(), time.monotonic()
            engine = Engine(plan, directory, pool, observer)
            await engine.run(plan.samples[:samples])
            wall, cpu = time.monotonic() - start, _own_cpu() - cpu
            nodes = _nodes_cpu(cluster) - nodes
            memory = _memory()
        done = directory.committed()
        directory.close()
    assert len(done) + observer.failed_samples == samples
    accepted = sum(result.solved for result in done)
    return Figures(len(done), accepted, wall, cpu, nodes, memory, before, round_trip)


def _in_a_process(nodes: int, samples: int, benchmark: str | None) -> Figures:
    """Measured by a driver of its own, on a cluster of its own."""
    with RayCluster.started(*[1] * nodes) as cluster:
        command = [sys.executable, __file__, "--driver", cluster.address, str(cluster.process_id)]
        command += ["--samples", str(samples), *(["--benchmark", benchmark] if benchmark else [])]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return Figures(**json.loads(done.stdout.splitlines()[-1]))


def _reckoned(figures: Figures) -> str:
    """What the README's run would take, by each of the things that it may wait for."""
    samples = PROBLEMS * SAMPLES_A_PROBLEM
    all_cores = CLUSTER_NODES * CORES
    by = {
        f"the model, {ANSWER_S:g} s an answer, {IN_FLIGHT:,} in flight": ANSWER_S / IN_FLIGHT,
        "the driver": figures.driver_s / figures.samples,
        f"{CLUSTER_NODES} nodes of {CORES} cores": figures.nodes_s / figures.samples / all_cores,
    }
    lines = [f"{samples:,} samples ({PROBLEMS:,} problems x {SAMPLES_A_PROBLEM}) would take, by"]
    lines += [f"  {name}: {seconds * samples / 60:.1f} min" for name, seconds in by.items()]
    return "\n".join(lines)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, nargs="+", default=NODES, help="of one core each")
    parser.add_argument("--samples", type=int, nargs="+", default=SAMPLES)
    parser.add_argument("--data", type=Path, default=os.environ.get("HARNESS_TEST_DATA"))
    parser.add_argument("--benchmark", help=argparse.SUPPRESS)
    parser.add_argument("--driver", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.driver:
        address, cluster = options.driver
        asked = _measure(address, int(cluster), options.benchmark, options.samples[0])
        print(json.dumps(dataclasses.asdict(asyncio.run(asked))))
        return
    benchmark = f"apps:{options.data}/{APPS}" if options.data else None
    cores = len(os.sched_getaffinity(0))
    print(f"{benchmark or 'bundled problems'}; {cores} cores for the driver and all nodes")
    head = (
        *("nodes: samples", "samples/s", "driver CPU ms", "nodes CPU ms", "driver MB"),
        *("more in the run", "round trip CPU ms"),
    )
    rows: list[list[str]] = []
    figures = None
    for samples in options.samples:
        for nodes in options.nodes:
            figures = _in_a_process(nodes, samples, benchmark)
            tell(f"{nodes}: {figures}")  # it takes long, and may be stopped
            rows.append(
                [
                    f"{nodes}: {samples:,}, {figures.accepted / figures.samples:.1%} accepted",
                    f"{figures.samples / figures.wall_s:.1f}",
                    f"{1000 * figures.driver_s / figures.samples:.2f}",
                    f"{1000 * figures.nodes_s / figures.samples:.1f}",
                    f"{figures.memory / 1e6:.0f}",
                    f"{(figures.memory - figures.before) / 1e6:.0f}",
                    f"{1000 * figures.round_trip_s:.2f}",
                ]
            )
    print(table(head, rows))
    if figures is not None:
        print(_reckoned(figures))


if __name__ == "__main__":
    main()
