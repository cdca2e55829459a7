"""A solution's first process: compiles the program; each run is a copy of it."""

import linecache
import marshal
import os
import signal
import traceback
from collections.abc import Callable
from types import CodeType
from typing import Any, NoReturn

from inside import messages
from inside.python.compile_python import compile_solution
from inside.python.lasting_state import may_outlive
from inside.python.preamble import Preamble
from inside.python.recursion_depth import forget_frames
from inside.python.solution_facts import SolutionFacts
from inside.runner import Runner
from inside.walls import linux

CALLS_OF_RUNNER = 3  # `Runner.run`, `_run_test` and `exec`


class Template:
    """A process that compiles a program without running it; each run is a copy of it.

    Args:
        births: descriptor on which it reports that it is ready, and the runners it made.
        program: file with `code`, `entry_point`, `arguments`, `result` and `apart` in `marshal`'s
            format.
        preamble: source that comes before the code.
        control: socket to the fork server.
        files: the files named by `FILES`.
        runner: class of the runner.
    """

    def __init__(  # noqa: PLR0917 - one caller
        self,
        births: int,
        program: int,
        preamble: Preamble,
        control: int,
        files: list[int],
        runner: type[Runner],
    ) -> None:
        self.runner = runner
        self.births = births
        data = os.pread(program, os.fstat(program).st_size, 0)
        self.job: dict[str, Any] = marshal.loads(data)  # noqa: S302 - the worker wrote it; it touches less memory than JSON
        os.close(program)
        self.preamble = preamble
        self.control = control
        self.files = files
        self.directory = os.open(".", os.O_PATH | os.O_CLOEXEC)
        self.runs = 0

    def serve(self, orders: int, lock_in: Callable[[], None]) -> None:
        """Compile, then make a runner at each order; the last one is this process itself.

        Args:
            orders: descriptor the orders arrive on.
            lock_in: called in a runner before it runs anything.
        """
        code = self._compile()
        if code is None:
            os.write(self.births, messages.CANNOT_COMPILE)
            return
        solution = SolutionFacts(self.job, code)
        solution.wanted = self.preamble.wanted(solution)
        apart = self.job.get("apart", False) and may_outlive(solution, self.preamble)
        os.write(self.births, messages.READY_APART if apart else messages.READY)
        while order := os.read(orders, 1):
            self.runs += 1
            try:
                sibling = linux.clone_beside() if order == messages.RUN else 0
            except OSError:
                os.write(self.births, messages.FAILED)
                continue
            if sibling == 0:
                self._become_runner(solution, orders, lock_in)

    def _compile(self) -> CodeType | None:
        source = self.job["code"].removeprefix("\ufeff")  # as in a file
        try:
            is_script = self.job["entry_point"] is None
            code = compile_solution(source, messages.FILE_NAME, is_script=is_script)
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError) as error:
            text = "".join(traceback.format_exception_only(error))
            messages.write_report(
                self.files[-1], {"status": "error", "error": messages.shorten(text)}
            )
            return None
        lines = source.splitlines(keepends=True)
        linecache.cache[messages.FILE_NAME] = (len(source), None, lines, messages.FILE_NAME)
        return code

    def _become_runner(
        self, solution: SolutionFacts, orders: int, lock_in: Callable[[], None]
    ) -> NoReturn:
        try:
            linux.prctl(linux.PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getpid() != os.getsid(0):
                os.setsid()
            os.close(orders)
            os.set_blocking(self.control, True)  # an earlier runner may have changed it
            lock_in()
            os.write(self.births, messages.READY + str(os.getpid()).encode())
            os.close(self.births)  # its messages are trusted: no judged code has run yet
            runner = self.runner(solution, self.preamble, self.control, self.files, self.directory)
            forget_frames(CALLS_OF_RUNNER)
            runner.run(messages.go_word(self.runs))
        except BaseException:
            os._exit(messages.RUNNER_FAILED)
        os._exit(0)
