"""The command line: the program, flags made from settings, help, and completion."""

import atexit
import gc
import os
import sys

from harness.errors import INTERRUPTED


def main() -> None:
    """The console script `harness`."""
    from harness.cli.encodings import make_outputs_readable
    from harness.cli.memory import end, end_when_out_of_memory, is_out_of_memory

    end_when_out_of_memory()
    make_outputs_readable()
    # NumPy's other threads spin while they are idle, and their number changes a sum's last digit.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    atexit.register(gc.freeze)  # else the interpreter looks through all objects before it exits
    gc.disable()  # until the command is imported: imports make no garbage, and all of it stays
    try:
        from harness.cli.app import app
        from harness.cli.completion_request import COMPLETE, answered

        if COMPLETE in os.environ:
            sys.exit(answered(app, os.environ) or 0)
        sys.exit(app(standalone_mode=False) or 0)
    except KeyboardInterrupt:
        _say("interrupted")
        sys.exit(INTERRUPTED)
    except BrokenPipeError:  # the reader of the output has exited, as `| head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # receives what is still to be flushed
        sys.stderr.close()
        sys.exit(0)
    except SystemExit:
        raise
    except BaseException as error:
        if is_out_of_memory(error):
            end()
        if not isinstance(error, Exception):
            raise
        line = _told(error)
        if line is None:
            raise  # a bug: bug reports need the traceback
        message, code = line
        _say(message)
        sys.exit(code)


def _told(error: Exception) -> tuple[str, int] | None:
    """Return the message and exit code of an error that the user can fix, else None."""
    from harness.errors import HarnessError, UsageError, missing_package

    if (missing := missing_package(error)) is not None:
        return missing, UsageError.exit_code
    if isinstance(error, HarnessError):
        return str(error), error.exit_code
    if isinstance(error, OSError):
        return f"{error.filename or 'output'}: {error.strerror or error}", UsageError.exit_code
    # Typer's own errors have no public base class, but all have `format_message`.
    format_message = getattr(error, "format_message", None)
    return (format_message(), getattr(error, "exit_code", 2)) if format_message else None


def _say(message: str) -> None:
    from harness.text import printable

    print(f"harness: {printable(' '.join(message.split()))}", file=sys.stderr)  # noqa: T201
