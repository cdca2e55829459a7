"""The fork server: a warmed interpreter that runs each solution in a process forked from it.

Started by `harness.sandbox.worker` as `python -s -S -P -B fork_server.py FD PACKAGES`: FD is a
socket to the worker, PACKAGES a JSON object of the packages that solutions may import beside the
standard library, name -> folder. It is trusted: judged code never runs in this process, and every
word that a runner says to it is carried to the worker unread but for its first byte.

A request is a job and two descriptors: a memory file with the inputs, and an empty one for what the
tests write. Time is read here, outside the judged process: its CPU clock against the CPU limit, the
monotonic clock against the looser wall limit.
"""

import builtins
import gc
import importlib
import importlib.abc
import importlib.machinery
import json
import os
import resource
import sys
import threading
from _sitebuiltins import Quitter
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

FOLDER = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(FOLDER))

from inside.batch import LIBC, Batch, WorkerGoneError  # noqa: E402 - the folder must be known first
from inside.connection import Connection  # noqa: E402
from inside.processes import empty_working_directory  # noqa: E402
from inside.runner import WARM, Preamble  # noqa: E402

STACK_BYTES = 512 << 20
THREAD_STACK_BYTES = 16 << 20
PR_SET_CHILD_SUBREAPER = 36


class AllowedPackages(importlib.abc.MetaPathFinder):
    """Finds the few packages that solutions may import, and nothing that lies beside them."""

    def __init__(self, packages: dict[str, str]) -> None:
        self.packages = packages

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Look an allowed package up in its folder, by the interpreter's own finder."""
        del path, target
        folder = self.packages.get(fullname)
        return importlib.machinery.PathFinder.find_spec(fullname, [folder]) if folder else None


def warm_up(packages: dict[str, str]) -> None:
    """Make this interpreter what a solution expects to wake up in."""
    sys.path.remove(str(FOLDER))
    for name in [name for name in sys.modules if name.partition(".")[0] == "inside"]:
        del sys.modules[name]  # a solution's own module of that name is its own
    for name in ("exit", "quit"):  # what -S leaves out
        setattr(builtins, name, Quitter(name, "Ctrl-D"))
    sys.set_int_max_str_digits(0)
    sys.meta_path.append(AllowedPackages(packages))
    for name in sorted(WARM):
        importlib.import_module(name)
    threading.stack_size(THREAD_STACK_BYTES)
    LIBC.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    gc.collect()
    gc.freeze()


def claim_stack() -> None:
    """Start again under the stack limit: its room is laid out when a program starts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_STACK)
    wanted = STACK_BYTES if hard == resource.RLIM_INFINITY else min(STACK_BYTES, hard)
    if soft != wanted:
        resource.setrlimit(resource.RLIMIT_STACK, (wanted, hard))
        os.execv(sys.executable, sys.orig_argv)  # noqa: S606 - this program itself


def serve(descriptor: int) -> None:
    """Answer requests until the worker hangs up."""
    os.set_inheritable(descriptor, False)
    connection = Connection(descriptor)
    home = Path.cwd()
    preambles: dict[str, Preamble] = {}
    while (request := connection.receive()) is not None:
        job, (inputs, outputs) = request
        text = job["preamble"]
        if text not in preambles:  # kept, its imports already run: a source has one
            preambles[text] = Preamble(text)
        batch = Batch(job, preambles[text], inputs, outputs, connection)
        try:
            records = batch.run()
        except WorkerGoneError:
            batch.close()
            empty_working_directory()
            break
        status, peak = batch.close()
        os.close(inputs)
        os.close(outputs)
        empty_working_directory()
        connection.send({"tests": records, "peak_bytes": peak, "exit": status})
    home.rmdir()  # the worker may be gone without having done it


if __name__ == "__main__":
    claim_stack()
    warm_up(json.loads(sys.argv[2]))
    serve(int(sys.argv[1]))
