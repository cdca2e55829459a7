"""`POST /run_code`: run a program once, with SandboxFusion's request and answer.

Names are those of SandboxFusion's `sandbox/server/sandbox_api.py` and `sandbox/runners/base.py`,
and of its client package `sandbox-fusion` 0.3.7. Differences: only Python is run; `run_timeout` is
in CPU seconds, and in wall seconds for a program that sleeps, so that results do not depend on the
machine's load; paths of files stay inside the working directory.

Files are written before the program runs, and fetched after it has ended. The sandbox takes only a
program and its standard input, so the files are part of the program: a few lines write them into
its working directory, which is then first on its import path. Fetched files are printed on standard
output, between marks that are random for every request. The program could print such output itself,
but only about its own files.
"""

import binascii
import json
import secrets
from base64 import b64decode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from harness.features.serve.requests import Refusal, Text
from harness.grading.sandbox_retry import RetryingWorker
from harness.sandbox.limits import MEBIBYTE, Limits
from harness.sandbox.program import Ending, Execution, Program, Trial
from harness.sandbox.worker import Worker

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
PYTHON = ("python", "python3")
LONGEST_RUN_S = 1_800.0
MOST_FILES = 1_000
MOST_OUTPUT = 64 * MEBIBYTE
WALL_FACTOR = 1.0
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
    head, found, rest = stdout.partition(mark.encode())
    text, closed, tail = rest.partition(mark.encode())
    if not found or not closed:
        return stdout, {}
    try:
        files = json.loads(text)
    except ValueError:
        return stdout, {}
    if not isinstance(files, dict):
        return stdout, {}
    return head + tail, {str(path): str(files[path]) for path in files}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


class RunRequest(BaseModel):
    """A program to run; keys that SandboxFusion does not know are ignored, as there.

    Attributes:
        compile_timeout: seconds. Nothing is compiled: a client that gives it waits that much longer
            than the run may take, so it limits the wait for a worker.
        run_timeout: seconds, at most `LONGEST_RUN_S`; larger values are reduced to that.
        memory_mb: MiB; -1 for the server's own limit, which is also the largest.
        files: contents in base64, by path; None for no such file.
        fetch_files: paths of files to return in the answer.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    code: Text
    language: str
    stdin: Text | None = None
    compile_timeout: float | None = Field(None, ge=0, allow_inf_nan=False)
    run_timeout: float = Field(10.0, gt=0, allow_inf_nan=False)
    memory_mb: int = Field(-1, alias="memory_limit_MB")
    files: dict[str, str | None] = Field(default_factory=dict, max_length=MOST_FILES)
    fetch_files: list[str] = Field(default_factory=list, max_length=MOST_FILES)

    @field_validator("files")
    @classmethod
    def _files_are_files(cls, files: dict[str, str | None]) -> dict[str, str | None]:
        for path, content in files.items():
            check_path(path)
            try:
                b64decode("".join((content or "").split()), validate=True)
            except (binascii.Error, ValueError):
                raise ValueError(f"{path!r:.60} is not base64") from None
        return files

    @field_validator("fetch_files")
    @classmethod
    def _paths_are_inside(cls, paths: list[str]) -> list[str]:
        for path in paths:
            check_path(path)
        return paths


def check_path(path: str) -> None:
    """Raise ValueError if a path leaves the working directory or names no file."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\0" in path:
        raise ValueError(f"{path!r:.60} is not a path inside the working directory")


@dataclass(frozen=True, slots=True)
class SingleRun:
    """A program to run once, as a piece of work for an executor."""

    program: Program
    stdin: bytes
    limits: Limits

    def __call__(self, worker: Worker) -> Execution:
        """Run the program. Raises SandboxError if the sandbox failed."""
        with worker.on(Trial(self.program, [self.stdin], self.limits)) as trial:
            return RetryingWorker(worker).execute(trial, [0], last=True)[0]


@dataclass(frozen=True, slots=True)
class ReadyRequest:
    """A request that is ready to run.

    Attributes:
        mark: marker of the fetched files in the output; empty if the request has no files.
    """

    run: SingleRun
    mark: str

    @classmethod
    def of(cls, request: RunRequest, most_memory: int) -> "ReadyRequest":
        """Prepare a request.

        Args:
            request: the parsed request.
            most_memory: most bytes that a program may use.

        Raises:
            Refusal: 422, the language is not Python.
        """
        if request.language not in PYTHON:
            raise Refusal(422, f"language {request.language!r:.40}: this server runs python only")
        files = {path: content for path, content in request.files.items() if content is not None}
        code, mark = request.code, ""
        if files or request.fetch_files:
            mark = f"<{secrets.token_hex(16)}>"
            code = wrap(code, files, request.fetch_files, mark)
        seconds = min(request.run_timeout, LONGEST_RUN_S)
        memory = request.memory_mb * MEBIBYTE if request.memory_mb > 0 else most_memory
        limits = Limits(
            cpu_s=seconds,
            memory_bytes=min(memory, most_memory),
            output_bytes=MOST_OUTPUT,
            own_wall_s=WALL_FACTOR * seconds,
        )
        stdin = (request.stdin or "").encode("utf-8", "surrogatepass")
        return cls(SingleRun(Program(code), stdin, limits), mark)


def run_answer(execution: Execution, mark: str) -> dict[str, Any]:
    """Return SandboxFusion's answer for a finished run; see `ReadyRequest` for `mark`."""
    stdout, files = unwrap(execution.stdout, mark) if mark else (execution.stdout, {})
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
    return _answer("Success" if result["return_code"] == 0 else "Failed", "", result, files)


def failed_answer(cause: str) -> dict[str, Any]:
    """Return SandboxFusion's answer for a failure of the sandbox."""
    return _answer("SandboxError", cause, None, {})


def _answer(
    status: str, message: str, result: dict[str, Any] | None, files: dict[str, str]
) -> dict[str, Any]:
    return {
        "status": status,
        "message": message,
        "compile_result": None,
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
