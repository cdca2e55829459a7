"""`POST /run_code`: run a program once, with SandboxFusion's request and answer.

Names are those of SandboxFusion's `sandbox/server/sandbox_api.py` and `sandbox/runners/base.py`,
and of its client package `sandbox-fusion` 0.3.7. Differences: only Python and C++ are run;
`run_timeout` is in CPU seconds, and in wall seconds for a program that sleeps, and
`compile_timeout` in CPU seconds, so that results do not depend on the machine's load; paths of
files stay inside the working directory. `harness.features.serve.compiled_run` prepares C++.

Files are written before the program runs, and fetched after it has ended. Of a program in Python
they are a part: a few lines write them into its working directory, which is then first on its
import path. Fetched files are printed on standard output, between marks that are random for every
request. The program could print such output itself, but only about its own files.
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from harness.features.serve.compiled_run import NAMES, compiled_run, fetched
from harness.features.serve.requests import Refusal
from harness.features.serve.run_request import MOST_OUTPUT, RunRequest
from harness.features.serve.single_run import Ran, SingleRun
from harness.kinds.cpp.builder import COMPILER_LIMITS
from harness.languages import PYTHON as PYTHON_3
from harness.sandbox.execution import Ending, Execution
from harness.sandbox.program import Program

_BEFORE = """\
def _harness_start(files, fetch, mark, code):
    import atexit, base64, json, linecache, os, sys, traceback
    for path, content in json.loads(files).items():
        if os.path.dirname(path):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(base64.b64decode(content))
    sys.path.insert(0, os.getcwd())
    read, write, is_file, encode = open, os.write, os.path.isfile, base64.b64encode
    dumps, stdout, leave, show = json.dumps, sys.stdout, sys.exit, traceback.print_exception
    linecache.cache["main.py"] = len(code), None, code.splitlines(True), "main.py"
    def hand_over():
        found = {}
        for path in fetch:
            if is_file(path):
                with read(path, "rb") as file:
                    found[path] = encode(file.read()).decode()
        data = (mark + dumps(found) + mark).encode()
        try:
            stdout.flush()
        finally:
            while data:
                data = data[write(1, data):]
    if fetch:
        atexit.register(hand_over)
    names = globals()
    del names["_harness_start"]
    try:
        exec(compile(code, "main.py", "exec", dont_inherit=True), names)
    except (SystemExit, MemoryError):
        raise
    except BaseException as error:
        show(type(error), error, error.__traceback__.tb_next)
        leave(1)
"""
PYTHON = (PYTHON_3, "python3")
KILLED = 9
_REASONS = {
    Ending.MEMORY_LIMIT: "MemoryError: the program used more memory than it may",
    Ending.OUTPUT_LIMIT: f"the program wrote more than {MOST_OUTPUT >> 20} MiB",
}


def wrap(code: str, files: Mapping[str, str], fetch: Sequence[str], mark: str) -> str:
    """Return a program that writes files and then runs another one.

    Args:
        code: the program.
        files: contents in base64, by path relative to the working directory.
        fetch: paths of the files to return after the program has ended.
        mark: marker before and after the fetched files in the output.
    """
    given = ", ".join(map(repr, (json.dumps(dict(files)), list(fetch), mark, code)))
    return f"{_BEFORE}_harness_start({given})\n"


def unwrap(stdout: bytes, mark: str) -> tuple[bytes, dict[str, str]]:
    """Split output into the program's own output and the fetched files.

    Args:
        stdout: output of a wrapped program.
        mark: the marker with which it was wrapped.
    """
    head, marked, rest = stdout.partition(mark.encode())
    text, closed, tail = rest.partition(mark.encode())
    if not marked or not closed:
        return stdout, {}
    try:
        files = json.loads(text)
    except ValueError:
        return stdout, {}
    if not isinstance(files, dict):
        return stdout, {}
    return head + tail, {str(path): str(files[path]) for path in files}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


class ReadyRequest(NamedTuple):
    """A request that is ready to run.

    Attributes:
        mark: marker of the fetched files in the output; empty if a request has no files, or its
            program is not Python.
        fetch: paths of files that a compiled program may leave.
    """

    run: SingleRun
    mark: str = ""
    fetch: Sequence[str] = ()

    @classmethod
    def of(cls, request: RunRequest, most_memory: int, cpp_flags: str = "") -> "ReadyRequest":
        """Prepare a request.

        Args:
            request: the parsed request.
            most_memory: most bytes that a program may use.
            cpp_flags: the C++ compiler's flags; empty for the usual ones.

        Raises:
            Refusal: 422, the language is unknown, or the program cannot be run as asked.
        """
        if request.language in NAMES:
            return cls(compiled_run(request, most_memory, cpp_flags), fetch=request.fetch_files)
        if request.language not in PYTHON:
            known = "this server runs python and cpp"
            raise Refusal(422, f"language {request.language!r:.40}: {known}")
        files = request.given_files
        code, mark = request.code, ""
        if files or request.fetch_files:
            mark = f"<{secrets.token_hex(16)}>"
            code = wrap(code, files, request.fetch_files, mark)
        return cls(SingleRun(Program(code), request.input, request.limits(most_memory)), mark)


def run_answer(ran: Ran, ready: ReadyRequest) -> dict[str, Any]:
    """Return SandboxFusion's answer for a finished run."""
    execution, compiled = ran.execution, None
    if ready.run.program.is_compiled:
        compiled = _compile_result(ran, ready.run.program)
        if execution.ending is Ending.CANNOT_COMPILE:
            return _answer("Failed", "", None, {}, compiled)
    files = fetched(execution, ready.fetch)
    stdout = execution.stdout
    if ready.mark:
        stdout, files = unwrap(stdout, ready.mark)
    result = {
        "status": "Finished",
        "execution_time": execution.wall_s,
        "cpu_time": execution.cpu_s,
        "return_code": return_code(execution),
        "stdout": stdout.decode("utf-8", "replace"),
        "stderr": _stderr(execution),
    }
    if result["return_code"] is None:
        result["status"] = "TimeLimitExceeded"
    status = "Success" if result["return_code"] == 0 else "Failed"
    return _answer(status, "", result, files, compiled)


def _compile_result(ran: Ran, program: Program) -> dict[str, Any]:
    """Return the part of an answer that says how a program was compiled."""
    failed = ran.execution.ending is Ending.CANNOT_COMPILE
    late = failed and ran.execution.cpu_s > (program.compile_s or COMPILER_LIMITS.cpu_s)
    return {
        "status": "TimeLimitExceeded" if late else "Finished",
        "execution_time": ran.compile_s,
        "return_code": None if late else int(failed),
        "stdout": "",
        "stderr": ran.execution.error if failed else "",
    }


def failed_answer(cause: str) -> dict[str, Any]:
    """Return SandboxFusion's answer for a failure of the sandbox."""
    return _answer("SandboxError", cause, None, {})


def _answer(
    status: str,
    message: str,
    result: dict[str, Any] | None,
    files: dict[str, str],
    compiled: dict[str, Any] | None = None,
) -> dict[str, Any]:
    return {
        "status": status,
        "message": message,
        "compile_result": compiled,
        "run_result": result,
        "executor_pod_name": None,
        "files": files,
    }


def return_code(execution: Execution) -> int | None:
    """Return the exit code as a shell reports it; None after a time limit."""
    match execution.ending:
        case Ending.FINISHED:
            return 0
        case Ending.EXIT:
            return execution.code
        case Ending.SIGNAL:
            return -execution.code
        case Ending.SANDBOX_LOST:
            return -KILLED
        case Ending.CPU_LIMIT | Ending.WALL_LIMIT:
            return None
        case _:
            return 1


def _stderr(execution: Execution) -> str:
    """Return standard error, with the last exception, which an interpreter adds."""
    last = _REASONS.get(execution.ending, execution.error)
    if execution.ending in {Ending.EXIT, Ending.SIGNAL}:
        last = ""
    written = execution.stderr
    if last and written and not written.endswith("\n"):
        written += "\n"
    return written + last
