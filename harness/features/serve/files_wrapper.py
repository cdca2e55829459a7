"""Files for a program: written before it runs, and fetched after it has ended.

The sandbox takes only a program and its standard input, so the files are part of the program: a few
lines write them into its working directory, which is then first on its import path. Fetched files
are printed on standard output, between marks that are random for every request. The program could
print such output itself, but only about its own files.
"""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Wrapped:
    """A program with its files.

    Attributes:
        code: program that writes the files and then runs the requested program.
        mark: marker before and after the fetched files in the output.
    """

    code: str
    mark: str


def wrap(code: str, files: Mapping[str, str], fetch: Sequence[str]) -> Wrapped:
    """Wrap a program with its files.

    Args:
        code: the program.
        files: contents in base64, by path relative to the working directory.
        fetch: paths of the files to return after the program has ended.
    """
    mark = f"<{secrets.token_hex(16)}>"
    given = ", ".join(map(repr, (json.dumps(dict(files)), list(fetch), mark, code)))
    return Wrapped(f"{_BEFORE}_harness_start({given})\n", mark)


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
