"""What nobody is below: a bare fork, in C and in Python, and what everybody does: a spawn a test.

`floors.py spawn SUITES NAME` measures one `python3 -I -S` a test; `c_fork` and `python_fork` give
the commands that measure the forks.
"""

import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import workload
from cost import Cost, FailedError, timed

from harness.grading.rules import RULES

PYTHON = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
"""The interpreter itself: a version manager's stand-in for it costs 100 ms a start."""

C_FORKS = 3_000
PYTHON_FORKS = 400

_C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double cpu_s(int who) {
    struct rusage used;
    getrusage(who, &used);
    return used.ru_utime.tv_sec + used.ru_stime.tv_sec
        + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

int main(int count, char **arguments) {
    struct timespec begin, end;
    int forks = atoi(arguments[1]);
    double cpu = cpu_s(RUSAGE_SELF) + cpu_s(RUSAGE_CHILDREN);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < forks; i++) {
        pid_t child = fork();
        if (child == 0) _exit(0);
        waitpid(child, NULL, 0);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    cpu = cpu_s(RUSAGE_SELF) + cpu_s(RUSAGE_CHILDREN) - cpu;
    printf("{\"tests\": %d, \"wall_s\": %f, \"cpu_s\": %f}\n", forks,
        end.tv_sec - begin.tv_sec + (end.tv_nsec - begin.tv_nsec) / 1e9, cpu);
    return 0;
}
"""

_PYTHON = """
import os as o, resource as r, time as t
def cpu_s():
    used = [r.getrusage(who) for who in (r.RUSAGE_SELF, r.RUSAGE_CHILDREN)]
    return sum(each.ru_utime + each.ru_stime for each in used)
cpu, wall = cpu_s(), t.perf_counter()
for _ in range(FORKS):
    child = o.fork()
    if child == 0:
        o._exit(0)
    o.waitpid(child, 0)
wall, cpu = t.perf_counter() - wall, cpu_s() - cpu
print('{"tests": %d, "wall_s": %f, "cpu_s": %f}' % (FORKS, wall, cpu))
"""


def c_fork(folder: Path) -> list[str]:
    """Compile the C floor into a folder.

    Raises:
        FailedError: there is no compiler.
    """
    compiler = shutil.which("gcc") or shutil.which("cc")
    if compiler is None:
        raise FailedError("no C compiler (gcc, cc)")
    source, program = folder / "fork.c", folder / "fork"
    source.write_text(_C)
    subprocess.run([compiler, "-O2", "-o", str(program), str(source)], check=True)
    return [str(program), str(C_FORKS)]


def python_fork(preamble: str = "") -> list[str]:
    """A small interpreter that forks; one with a preamble's imports loaded."""
    return [PYTHON, "-I", "-S", "-c", preamble + _PYTHON.replace("FORKS", str(PYTHON_FORKS))]


def spawn(program: Path, given: str, wanted: str) -> None:
    """Run one test in an interpreter of its own.

    Raises:
        FailedError: it is not accepted.
    """
    command = [PYTHON, "-I", "-S", str(program)]
    done = subprocess.run(command, input=given.encode(), capture_output=True, check=False)
    if done.returncode or RULES["lcb"].output(wanted, done.stdout.decode()):
        raise FailedError(f"{program.stem} is not accepted: {done.stderr.decode()[-300:]}")


def script(row: workload.Row, folder: Path) -> Path:
    """A row's program as a file, its preamble first."""
    path = folder / (row.id.replace("/", "-") + ".py")
    path.write_text(f"{row.preamble}\n{row.code}")
    return path


def main(suites: str, name: str, most: str) -> Cost:
    """Measure a spawn a test, on so many tests taken here and there."""
    rows = workload.read(Path(suites))[name]
    with tempfile.TemporaryDirectory() as made:
        pairs = [(script(row, Path(made)), test) for row in rows for test in row.tests]
        chosen = random.Random(0).sample(pairs, min(int(most), len(pairs)))

        def work() -> None:
            for program, (given, wanted) in chosen:
                spawn(program, given, wanted)

        return timed(len(chosen), work)


if __name__ == "__main__":
    try:
        main(*sys.argv[1:]).tell()
    except FailedError as failure:
        sys.exit(str(failure))
