"""`POST /run_code` in C++: the program, and the files beside it.

The files are there for the compiler and for the program. Of those that the program leaves, plain
files of its working directory can be fetched.
"""

from base64 import b64decode, b64encode
from collections.abc import Collection
from pathlib import PurePosixPath

from harness.errors import UsageError
from harness.features.serve.requests import Refusal
from harness.features.serve.run_request import LONGEST_COMPILE_S, RunRequest
from harness.features.serve.single_run import SingleRun
from harness.kinds.cpp import language as cpp
from harness.run.plan.languages import check_compiler
from harness.sandbox.execution import Execution
from harness.sandbox.limits import MEBIBYTE
from harness.sandbox.program import Program
from harness.sandbox.test_folder import TestFolder, unpack_kept

NAMES = frozenset({cpp.LANGUAGE.name, "c++"})
FILES_BYTES = 16 * MEBIBYTE
MOST_PATH, MOST_NAME = 1_000, 200  # bytes
HERE = "."


def compiled_run(request: RunRequest, most_memory: int, flags: str) -> SingleRun:
    """Prepare a request in C++.

    Args:
        request: the parsed request.
        most_memory: most bytes that a program may use.
        flags: the compiler's flags; empty for the usual ones.

    Raises:
        Refusal: 422, there is no compiler, or a file cannot be placed or fetched.
    """
    try:
        check_compiler(cpp.LANGUAGE, flags)
    except UsageError as error:
        raise Refusal(422, str(error)) from None
    compile_s = request.compile_timeout
    if compile_s == 0:
        raise Refusal(422, "compile_timeout: must be greater than 0 for a C++ program")
    files = _placed(request)
    for path in request.fetch_files:
        if len(PurePosixPath(path).parts) > 1:
            what = "of a C++ program, files of the working directory itself can be fetched"
            raise Refusal(422, f"fetch_files: {path!r:.60}: {what}")
    program = Program(
        request.code,
        language=cpp.LANGUAGE.name,
        flags=flags,
        files=tuple(
            (path, text) for path, data in files.items() if (text := _text(data)) is not None
        ),
        links_files=False,
        compile_s=None if compile_s is None else min(compile_s, LONGEST_COMPILE_S),
    )
    limits = request.limits(most_memory)
    if not files and not request.fetch_files:
        return SingleRun(program, request.input, limits)
    folder = TestFolder(("solution",), request.input, files, HERE if request.fetch_files else "")
    return SingleRun(program, folder.packed(), limits, has_folder=True)


def fetched(execution: Execution, paths: Collection[str]) -> dict[str, str]:
    """Return the files that a program left, in base64 by the path that was asked for."""
    if not paths:
        return {}
    try:
        kept = unpack_kept(execution.result or execution.partial)
    except ValueError:
        return {}
    names = {path: str(PurePosixPath(path)) for path in paths}
    return {path: b64encode(kept[name]).decode() for path, name in names.items() if name in kept}


def _placed(request: RunRequest) -> dict[str, bytes]:
    """Return the files by path, all of which can be made. Raises Refusal."""
    files: dict[str, bytes] = {}
    for path, content in request.given_files.items():
        name = str(PurePosixPath(path))
        if name in files or not _is_name(name):
            raise Refusal(422, f"files: {path!r:.60} is given twice, too long, or not UTF-8")
        files[name] = b64decode("".join(content.split()))
    if sum(map(len, files.values())) > FILES_BYTES:
        raise Refusal(422, f"files: at most {FILES_BYTES // MEBIBYTE} MiB for a C++ program")
    folders = {str(each) for name in files for each in PurePosixPath(name).parents}
    own = {cpp.SOURCE, cpp.BINARY}
    if taken := sorted((folders | own) & files.keys()) or sorted(own & folders):
        raise Refusal(422, f"files: {taken[0]!r:.60} cannot be a file beside the others")
    return files


def _is_name(path: str) -> bool:
    """Whether a file can be made at a path."""
    try:
        parts = [part.encode() for part in path.split("/")]
    except UnicodeEncodeError:
        return False
    return sum(map(len, parts)) <= MOST_PATH and max(map(len, parts)) <= MOST_NAME


def _text(data: bytes) -> str | None:
    """Return a file that a source can include; None for one that is not text."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None
