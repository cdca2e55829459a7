"""Exit when out of memory: one line of output, and no waiting for threads."""

import os
import threading
from collections.abc import Iterator
from errno import ENOMEM
from resource import RLIM_INFINITY, RLIMIT_AS, getrlimit
from typing import cast

from harness.errors import INFRASTRUCTURE

NO_THREAD = "can't start new thread"
MEBIBYTE = 1 << 20
DEEPEST = 20


def end_when_out_of_memory() -> None:
    """Exit also if a thread runs out of memory, which others would wait for forever.

    Disables backtraces of Rust extensions under a memory limit: making one takes memory, and one
    that fails never ends.
    """
    if getrlimit(RLIMIT_AS)[0] != RLIM_INFINITY:
        os.environ["RUST_BACKTRACE"] = "0"
    usual = threading.excepthook

    def hook(args: threading.ExceptHookArgs) -> None:
        if args.exc_value is not None and is_out_of_memory(args.exc_value):
            end()
        usual(args)

    threading.excepthook = hook


def is_out_of_memory(error: BaseException) -> bool:
    """Whether an error, or one of its causes, means that memory is exhausted."""
    return any(map(_says_so, _chain(error, DEEPEST)))


def _chain(error: BaseException | None, depth: int) -> Iterator[BaseException]:
    if error is None or not depth:
        return
    yield error
    if isinstance(error, BaseExceptionGroup):
        for each in cast("BaseExceptionGroup[BaseException]", error).exceptions:
            yield from _chain(each, depth - 1)
    yield from _chain(error.__cause__ or error.__context__, depth - 1)


def _says_so(error: BaseException) -> bool:
    match error:
        case MemoryError():
            return True
        case OSError(errno=number):
            return number == ENOMEM
        case RuntimeError():
            return NO_THREAD in str(error)
        case _:  # of a Rust extension; its class cannot be imported
            return type(error).__name__ == "PanicException"


def end() -> None:
    """Print a message and exit at once, without waiting for threads."""
    limit = getrlimit(RLIMIT_AS)[0]
    least = "" if limit == RLIM_INFINITY else f" of {limit // MEBIBYTE} MiB (ulimit -v)"
    advice = "raise the limit" if least else "free some memory"
    line = (
        f"harness: out of memory{least}: {advice}, or lower --workers and --concurrency; "
        "what is graded is kept\n"
    )
    os.write(2, line.encode())
    os._exit(INFRASTRUCTURE)
