"""Compiling solutions in a sandbox of their own, and keeping what was compiled.

A worker has one `Builder`. It starts a fork server with the compiler's view of files when the first
program is compiled, and keeps the newest programs open.
"""

import hashlib
import json
import os
import platform
import re
import secrets
import signal
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path

from harness.kinds.cpp.binaries import Binaries
from harness.kinds.cpp.headers import (
    LARGEST,
    SOURCE,
    Headers,
    begins_with_header,
    command_for_header,
)
from harness.kinds.cpp.language import BINARY
from harness.languages.known import language
from harness.languages.language import Compiler, Language, MissingCompilerError
from harness.problem import Codec
from harness.sandbox.execution import Ending, Execution
from harness.sandbox.fork_server_answer import read_answer
from harness.sandbox.fork_server_connection import ForkServer
from harness.sandbox.isolation import Isolation
from harness.sandbox.launch import INSIDE, compilers_view
from harness.sandbox.limits import MEBIBYTE, Limits
from harness.sandbox.program import Program
from harness.sandbox.strongest import start
from harness.sandbox.trial import MemoryFiles, encoded, sealed

COMPILER_LIMITS = Limits(cpu_s=10.0, memory_bytes=2048 * MEBIBYTE, output_bytes=48 * MEBIBYTE)
WALL, LONGEST = 3, 12
"""Multiples of the CPU limit: of wall time without waiting for a core, and of all wall time."""
MARGIN_S = 20.0
HEADER_S = 60.0  # CPU seconds to precompile a header
MESSAGE_BYTES = 6_000  # of a compiler's message
MOST_OPEN = 8
LAUNCHER = INSIDE / "launcher.cpp"
LAUNCHER_FLAGS = "-std=gnu++20 -O2"
KILLED = "{}: fatal error: Killed signal"
"""What GCC says under its name, which is made for each compilation so that no source can say it."""
ENDED_BY_LIMIT = {
    "\n{}: internal compiler error: File size limit exceeded": Ending.OUTPUT_LIMIT,
    "\n{}: internal compiler error: CPU time limit exceeded": Ending.CPU_LIMIT,
    "\ncc1plus: out of memory allocating ": Ending.MEMORY_LIMIT,
    "\nvirtual memory exhausted: ": Ending.MEMORY_LIMIT,
}
"""What GCC says of a pass that a limit ended, after a line's end."""
BUG_REPORT = re.compile(
    r"^compiler: internal compiler error: .*\n?|^Please submit a full bug report.*\n?"
    r"|^See <.*> for instructions\.\n?",
    re.MULTILINE,
)
NO_MEMORY = "terminate called after throwing an instance of 'std::bad_alloc'"


class Builder:
    """Compiles programs in one sandbox.

    Args:
        isolation: isolation of the sandbox.
        binaries: where compiled programs are kept.
        headers: where precompiled headers are kept.
    """

    def __init__(
        self,
        isolation: Isolation,
        binaries: Binaries | None = None,
        headers: Headers | None = None,
    ) -> None:
        self.server: ForkServer | None = None
        self._isolation = isolation
        self._binaries = binaries or Binaries()
        self._headers = headers or Headers()
        self._open: OrderedDict[str, int] = OrderedDict()

    def launcher(self, stopped: Callable[[], bool]) -> int:
        """Return the launcher of compiled programs, as `build` does."""
        program = Program(_launcher_source(), language="cpp", flags=LAUNCHER_FLAGS)
        file = self.build(program, stopped)
        if isinstance(file, Execution):
            raise OSError(f"the launcher of compiled programs cannot be compiled: {file.error}")
        return file

    def build(self, program: Program, stopped: Callable[[], bool]) -> int | Execution:
        """Return a sealed file with a compiled program, or the execution that stands for it.

        Args:
            program: the program.
            stopped: whether the worker was stopped meanwhile.

        Raises:
            OSError, EOFError, ValueError: the sandbox failed, or there is no compiler.
        """
        own = language(program.language)
        if own.compiler is None:
            raise ValueError(f"{own.title} is not compiled")
        try:
            compiler = own.compiler()
        except MissingCompilerError as error:
            raise OSError(str(error)) from error
        flags = program.flags or own.flags
        more = [f"./{name}" for name, _ in program.files if name.endswith(own.endings)]
        alone = compiler.command(flags)
        command = [*alone, *(more if program.links_files else ())]
        texts = _texts(program, own)
        key = _key(texts, compiler, command)
        if key in self._open:
            self._open.move_to_end(key)
            return self._open[key]
        data = self._binaries.find(key)
        if data is None:
            limits = COMPILER_LIMITS
            if program.compile_s is not None:
                limits = replace(limits, cpu_s=program.compile_s)
            name = f"compiler-{secrets.token_hex(8)}"
            named = _under_name(command, name)
            place = self._precompiled(texts, compiler, _under_name(alone, name), stopped)
            quick = named if place is None else [*named[:2], "-I", str(place), *named[2:]]
            execution = self._compile(texts, limits, compiler, quick, stopped)
            refused = execution.result is None and execution.ending is not Ending.CPU_LIMIT
            if refused and quick != named:  # for the messages of the header itself
                execution = self._compile(texts, limits, compiler, named, stopped)
            if execution.result is None:
                return _refused(execution, limits, name)
            data = execution.result
            self._binaries.keep(key, data)
        self._open[key] = sealed(program.language, data)
        if len(self._open) > MOST_OPEN:
            os.close(self._open.popitem(last=False)[1])
        return self._open[key]

    def _precompiled(
        self,
        texts: list[tuple[str, str]],
        compiler: Compiler,
        command: list[str],
        stopped: Callable[[], bool],
    ) -> Path | None:
        """Return the folder of the precompiled header, if the first source begins with it.

        The header is precompiled first where that is worth it, by the command for one source.
        """
        if "clang" in Path(compiler.path).name or not begins_with_header(texts[0][1]):
            return None
        order = command_for_header([command[0], *command[2:]])
        key = _key([("", SOURCE)], compiler, order)
        place = self._headers.find(key)
        if place is None and self._headers.is_worth_it():
            self._precompile(key, (texts[0][0], SOURCE), compiler, command, stopped)
            place = self._headers.find(key)
        return place

    def _precompile(
        self,
        key: str,
        header: tuple[str, str],
        compiler: Compiler,
        command: list[str],
        stopped: Callable[[], bool],
    ) -> None:
        limits = replace(COMPILER_LIMITS, cpu_s=HEADER_S, output_bytes=LARGEST)
        with self._headers.alone() as alone:
            if not alone:
                return
            execution = self._compile(
                [header], limits, compiler, command_for_header(command), stopped
            )
            if execution.result is not None:
                self._headers.keep(key, execution.result)

    def _compile(
        self,
        texts: list[tuple[str, str]],
        limits: Limits,
        compiler: Compiler,
        command: list[str],
        stopped: Callable[[], bool],
    ) -> Execution:
        server = self._started(compiler)
        if stopped():
            raise OSError("the worker was stopped")
        seconds = LONGEST * limits.cpu_s
        order = {
            "do": "compile",
            "command": command,
            "sources": [(name, len(encoded(text))) for name, text in texts],
            "binary": BINARY,
            "limits": {
                "cpu_s": limits.cpu_s,
                "wall_s": WALL * limits.cpu_s,
                "longest_s": seconds,
                "memory_bytes": limits.memory_bytes,
                "output_bytes": limits.output_bytes,
            },
        }
        end = time.monotonic() + seconds + MARGIN_S

        def look() -> None:
            if time.monotonic() > end:
                raise TimeoutError("the compiler's sandbox timed out")

        with _Files(b"".join(encoded(text) for _, text in texts)) as files:
            try:
                server.send(order, files.descriptors)
                answer = server.receive_bytes(look)
                ((execution,),) = read_answer(answer, files.descriptors[1], limits)
            except BaseException:
                self.end()
                raise
        return execution

    def _started(self, compiler: Compiler) -> ForkServer:
        if self.server is not None and self.server.process.poll() is None:
            return self.server
        self.end()
        own = self._headers.make()
        folders = (*compiler.folders, *([own] if own else []))
        self.server, findings = start(self._isolation, compilers_view(folders))
        if self.server is None:
            raise OSError(f"no sandbox for a compiler can be had: {findings.broken}")
        return self.server

    def ended(self, execution: Execution, word: bytes) -> Execution:
        """Return the execution of a compiled program, with the ending that its stderr tells.

        A program that is refused memory aborts. With a word, the program is a function
        (`harness.sandbox.program_builder`).
        """
        aborted = execution.ending is Ending.SIGNAL and execution.code == signal.SIGABRT
        if aborted and NO_MEMORY in execution.stderr:
            execution = execution._replace(ending=Ending.MEMORY_LIMIT, code=0)
        return _returned(execution, word) if word else execution

    def end(self) -> None:
        """End the fork server, and close the programs."""
        server, self.server = self.server, None
        if server is not None:
            server.end()

    def close(self) -> None:
        """End the fork server, and close the programs."""
        self.end()
        while self._open:
            os.close(self._open.popitem()[1])


class _Files(MemoryFiles):
    """Memory files of the sources and of what a compiler writes."""

    def __init__(self, sources: bytes) -> None:
        super().__init__()
        self._add("sources", sources)
        self._add("outputs")

    @property
    def descriptors(self) -> list[int]:
        return self._files


@cache
def _launcher_source() -> str:
    return LAUNCHER.read_text(encoding="utf-8")


def _texts(program: Program, own: Language) -> list[tuple[str, str]]:
    """Return name and text of each file that the compiler finds."""
    code = program.code
    if program.function is not None and own.functions is not None:
        everything = program.signature.result is Codec.EVERYTHING
        before, after = own.functions.around(program.function, everything=everything)
        code = f"{before}{code}{after}"
    return [(own.source, code), *program.files]


def _returned(execution: Execution, word: bytes) -> Execution:
    """Return the execution of a function with its result, which stands between the judge's words.

    The driver of the language writes the word before and after; without them there is no result.
    """
    written, line = execution.result or b"", b"%s\n" % word
    whole = len(written) > 2 * len(word) and written.startswith(line)
    whole = whole and written.endswith(b"\n" + word)
    result = written[len(line) : -len(line)] if whole else None
    return execution._replace(result=result or None)


def _key(texts: list[tuple[str, str]], compiler: Compiler, command: list[str]) -> str:
    facts = [compiler.path, compiler.version, platform.machine(), *command]
    digest = hashlib.sha256(json.dumps(facts).encode())
    (_, code), *files = texts
    digest.update(encoded(code))
    for name, text in files:
        data = encoded(text)
        digest.update(json.dumps([name, len(data)]).encode())
        digest.update(data)
    return digest.hexdigest()


def _under_name(command: list[str], name: str) -> list[str]:
    """Return the path of a compiler, its name for itself, and its arguments.

    GCC finds its files by the folder of its name; Clang is a C++ compiler by its name.
    """
    path, *rest = command
    own = Path(path)
    return [path, path if "clang" in own.name else str(own.with_name(name)), *rest]


def _refused(execution: Execution, most: Limits, name: str) -> Execution:
    """Return the execution of a program that was not compiled, with the reason.

    Args:
        execution: the execution of the compiler.
        most: its limits.
        name: its own name in its messages.

    Raises:
        OSError: the machine may be the cause.
    """
    said = f"\n{execution.stderr}"
    is_killed = f"\n{KILLED.format(name)}" in said
    by_limit = (each for words, each in ENDED_BY_LIMIT.items() if words.format(name) in said)
    ending = next(by_limit, execution.ending)
    text = execution.stderr.replace(name, "compiler").strip()
    limit = {
        Ending.CPU_LIMIT: f"the compiler needs more than {most.cpu_s:g} s of CPU time",
        Ending.MEMORY_LIMIT: f"the compiler needs more than {most.memory_bytes // MEBIBYTE:,} MiB",
        Ending.OUTPUT_LIMIT: f"the compiler writes more than {most.output_bytes // MEBIBYTE} MiB",
    }
    if execution.asleep:
        text = f"the compiler waits for something that does not come\n{text}"
    elif ending in limit:
        text = f"{limit[ending]}\n{BUG_REPORT.sub('', text)}".rstrip()
    elif execution.killed or is_killed or execution.ending is Ending.WALL_LIMIT:
        raise OSError(f"the compiler was ended: {execution.ending}")
    elif not text:
        text = f"the compiler ended without a program: {execution.error or execution.ending}"
    if len(text) > MESSAGE_BYTES:
        text = f"{text[:MESSAGE_BYTES]}\n… more was said …"
    cpu_s, wall_s = execution.cpu_s, execution.wall_s
    return Execution(Ending.CANNOT_COMPILE, error=text, cpu_s=cpu_s, wall_s=wall_s)
