"""The fork server: a warmed interpreter that forks a process for each solution.

`enter.py` becomes it: `python -s -S -P -B fork_server.py FD`, where FD is a socket to the worker.
It is trusted: judged code never runs in this process, which holds only lengths and times of what
programs write.

The worker's first message is the configuration, see `harness.sandbox.launch`; the fork server
replies with its probe's findings. Then a request opens the trial of a solution and brings three
descriptors: memory files with the program and with the inputs, and one for the output of tests.
Further requests run some of its tests, in one process or one each; another closes it. Time is
measured here, outside the judged process: its CPU clock against the CPU limit, the monotonic clock
against the looser wall limit.
"""

import os

# Fork hooks are disabled: there are no threads to repair, and an unchanged random state makes
# verdicts reproducible.
_register_at_fork = os.register_at_fork
os.register_at_fork = lambda **_hooks: None  # pyright: ignore[reportUnknownLambdaType]

import builtins
import gc
import importlib
import importlib.machinery
import importlib.util
import resource
import signal
import sys
import threading
from _sitebuiltins import Quitter
from collections.abc import Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any

FOLDER = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, FOLDER)

from inside.child_process import WorkerGoneError, can_watch
from inside.compilation import Compilation
from inside.compiled_trial import CompiledTrial
from inside.connection import Connection, close_all_but
from inside.messages import pack
from inside.python.preamble import WARM, Preamble
from inside.python.recursion_depth import allow_depth
from inside.python.warm_up import rehearse
from inside.timing.lanes import Lanes, LaneStep
from inside.trial import SolutionTrial, TrialJob
from inside.walls import linux
from inside.walls.lockdown import PROCESSES, Lockdown
from inside.walls.probe import probe
from inside.watch import Watch
from inside.working_directory import empty_working_directory

THREAD_STACK_BYTES = 4 << 20  # small enough for `PROCESSES` threads
MOST_PREAMBLES = 8
OPENING = frozenset({"open", "lanes", "close"})  # requests that close the previous trial
PAUSES = frozenset({"pause", "resume"})  # ignored while nothing runs


class AllowedPackages:
    """Finds the allowed packages, and nothing else installed beside them."""

    def __init__(self, packages: dict[str, str]) -> None:
        self.packages = packages

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Return the spec of an allowed package by path: its folder cannot be listed."""
        del path, target
        folder = self.packages.get(fullname)
        if folder is None:
            return None
        package = os.path.join(folder, fullname)
        return importlib.util.spec_from_file_location(
            fullname, os.path.join(package, "__init__.py"), submodule_search_locations=[package]
        )


def warm_up(packages: dict[str, str]) -> None:
    """Prepare this interpreter as the environment solutions start in."""
    sys.path.remove(FOLDER)
    for name in [name for name in sys.modules if name.partition(".")[0] == "inside"]:
        del sys.modules[name]  # a solution may have a module of that name
    for name in ("exit", "quit"):  # omitted by -S
        setattr(builtins, name, Quitter(name, "Ctrl-D"))
    sys.set_int_max_str_digits(0)
    sys.meta_path.append(AllowedPackages(packages))
    for name in sorted(WARM):
        importlib.import_module(name)
    rehearse()
    os.register_at_fork = _register_at_fork
    threading.stack_size(THREAD_STACK_BYTES)
    allow_depth(resource.getrlimit(resource.RLIMIT_STACK)[0], THREAD_STACK_BYTES)
    gc.collect()
    gc.freeze()


def close_up() -> None:
    """Drop privileges that neither this process nor its children need."""
    linux.prctl(linux.PR_SET_NO_NEW_PRIVS, 1)
    linux.prctl(linux.PR_SET_DUMPABLE, 0)  # hides this process's memory from others of its user
    linux.prctl(linux.PR_SET_CHILD_SUBREAPER, 1)


class RequestServer:
    """Answers requests, with one trial or a set of lanes open at a time."""

    def __init__(self, connection: Connection, lockdown: Lockdown, watch: Watch | None) -> None:
        self.connection = connection
        self.lockdown = lockdown
        self.watch = watch
        self.preamble = lru_cache(MOST_PREAMBLES)(Preamble)  # a source has one
        self.opened: SolutionTrial | Lanes | None = None
        self.cores: list[int] = sorted(os.sched_getaffinity(0))

    def serve(self) -> None:
        """Answer until the worker hangs up."""
        try:
            while (request := self.connection.receive()) is not None:
                self.answer(*request)
        except WorkerGoneError:
            pass
        finally:
            if self.opened is not None:
                self.opened.close()
            empty_working_directory()

    def answer(self, order: dict[str, Any], descriptors: list[int]) -> None:
        """Answer one request; an opening request replaces the open trial or lanes."""
        if order["do"] in PAUSES:
            return
        if order["do"] == "compile":
            self.compile(order, descriptors)
            return
        if order["do"] in OPENING:
            self.close()
        if order["do"] in OPENING - {"close"}:
            try:
                preamble = self.preamble(order["preamble"])
            except Exception as error:
                self.connection.say({"failed": f"the preamble cannot be used: {error}"})
                raise WorkerGoneError from error
            self.opened = self.trial_or_lanes(order, preamble, descriptors)
        match self.opened:
            case SolutionTrial() as trial:
                run = trial.run_each if order.get("each") else trial.run
                self.connection.answer(pack(run(order["spans"], order["last"], order["full"])))
            case Lanes() as lanes:
                steps = [LaneStep(*each) for each in order["steps"]]
                self.connection.say({"steps": lanes.run(steps)})
            case None:
                pass

    def trial_or_lanes(
        self, order: dict[str, Any], preamble: Preamble, descriptors: list[int]
    ) -> SolutionTrial | Lanes:
        """Open a trial of one solution, or lanes; all they fork begins on one core."""
        limits, number = order["limits"], int(order["core"])
        os.sched_setaffinity(0, [self.cores[number % len(self.cores)]])
        if order["do"] == "open":
            ends = descriptors[-2:] if order.get("pipes") else []
            program, inputs, outputs, *launcher = descriptors[: len(descriptors) - len(ends)]
            job = TrialJob(
                *(limits, preamble, program, inputs, outputs),
                launcher=(*launcher, -1)[0],
                has_folder=order.get("has_folder", False),
                returns=order.get("returns", False),
                ends=tuple(ends),
            )
            return self.trial(job, self.cores if len(self.cores) > 1 else None)
        inputs, outputs, *programs = descriptors
        jobs = [
            TrialJob(limits, preamble, program, os.dup(inputs), os.dup(outputs), timed=True)
            for program in programs
        ]
        os.close(inputs)
        os.close(outputs)
        return Lanes([self.trial(job) for job in jobs])

    def trial(self, job: TrialJob, cores: list[int] | None = None) -> SolutionTrial:
        """Return the trial of one solution."""
        kind = SolutionTrial if job.launcher < 0 else CompiledTrial
        return kind(job, self.lockdown, self.watch, self.connection, cores)

    def compile(self, order: dict[str, Any], descriptors: list[int]) -> None:
        """Compile a source, and answer with one report."""
        source, outputs = descriptors
        job = Compilation(
            *(order["limits"], order["command"]),
            *(order["sources"], order["binary"]),
            files=(source, outputs),
        )
        try:
            report = job.run(self.lockdown, self.watch, self.connection)
        finally:
            job.close()
        self.connection.answer(pack([report]))

    def close(self) -> None:
        """Close the open trial or lanes."""
        if self.opened is None:
            return
        self.opened.close()
        os.sched_setaffinity(0, self.cores)
        self.opened = None
        empty_working_directory()


def main() -> None:
    """Greet the worker, serve it, and clean up."""
    descriptor = int(sys.argv[1])
    os.set_inheritable(descriptor, False)
    close_all_but(descriptor)  # closes what libraries opened: newer versions of libffi do
    connection = Connection(descriptor)
    config, _ = connection.receive() or ({}, [])
    home = os.getcwd()
    failed = can_watch()
    if failed:
        connection.say({"failed": failed})
        return
    close_up()
    if config["means"] == "bubblewrap":  # whose own option is tied to a thread of the worker
        linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
    lockdown = Lockdown(
        config["level"], config["view"], counted=config["counted"], compiles=config["compiles"]
    )
    watch = None
    if config["means"] != "direct":
        watch = Watch(
            config["view"]["home_bytes"],
            config["view"]["home_files"],
            own_room=config["means"] is not None,
            threads=None if config["counted"] else PROCESSES,
        )
    if not config["compiles"]:
        warm_up(config["packages"])
    layers = probe(lockdown, config["canaries"])
    copies = linux.machine() in linux.MACHINES
    connection.say({"layers": layers, "missing": lockdown.missing, "copies": copies})
    try:
        RequestServer(connection, lockdown, watch).serve()
    finally:
        if config["means"] is None:
            os.rmdir(home)  # the worker may be gone without having done it


if __name__ == "__main__":
    main()
