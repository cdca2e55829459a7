"""The sandbox of an external agent: its environment, the files it sees, and a probe.

Unlike a judged program, an agent needs the network, its own files and programs, and time. It must
not see the data: hidden tests and reference solutions in caches, problem files and earlier runs. So
it sees the system's programs and libraries, files shown on purpose, and an empty folder in memory.
Data within these folders is hidden.
"""

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from harness.errors import UsageError
from harness.sandbox.launch import DEVICES, FLAGS, INSIDE, interpreter, throwaway_user

SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"),
    *("/etc", "/opt", "/nix", "/snap"),
)
SCRATCH = "/scratch"
ROOM_BYTES = 1 << 30
PROBE_S = 60.0
PASSED_ON = (
    *("PATH", "LANG", "LANGUAGE", "TERM", "TZ", "COLORTERM", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"),
    *("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"),
)
"""Environment variables passed to the agent; others need `--agent-env`."""
_LOOPBACK = "127.0.0.1,localhost"


class RoomError(UsageError):
    """The agent's sandbox cannot be created here, or not with these settings."""


class AgentSandbox(NamedTuple):
    """Files, environment and memory available to an agent.

    Attributes:
        confined: whether the agent runs in a namespace; if not, it sees all files of its user.
        shows: files and folders that it can read, beside the system's.
        hides: files and folders that it must not see, even within those.
        env: its environment variables, except its home.
        memory_bytes: memory limit of each of its processes; None for no limit.
    """

    confined: bool
    shows: tuple[str, ...] = ()
    hides: tuple[str, ...] = ()
    env: Mapping[str, str] | None = None
    memory_bytes: int | None = None

    def configuration(
        self, command: Sequence[str], scratch: str, files: Mapping[str, str], *, probe: bool = False
    ) -> dict[str, Any]:
        """Return the configuration for `inside/walls/agent_namespace.py`.

        Args:
            command: the program and its arguments.
            scratch: its working folder and home.
            files: texts of files to create in that folder, by name.
            probe: only check whether the program could be started.
        """
        return {
            "parent": os.getpid(),
            "confined": self.confined,
            "user": throwaway_user() if self.confined else None,
            "view": self._view(scratch) if self.confined else {"hides": []},
            "command": list(command),
            "scratch": scratch,
            "files": dict(files),
            "env": {"HOME": scratch, "TMPDIR": scratch, **(self.env or {})},
            "memory_bytes": self.memory_bytes,
            "probe": probe,
        }

    def _view(self, scratch: str) -> dict[str, Any]:
        names = os.path.realpath("/etc/resolv.conf")  # often outside `/etc`
        reads, links = _resolved((*filter(os.path.lexists, (*SYSTEM, names)), *self.shows))
        return {
            "reads": reads,
            "links": links,
            "hides": [path for path in self.hides if os.path.lexists(path)],
            "devices": [path for path in DEVICES if os.path.exists(path)],  # noqa: PTH110
            "scratch": scratch,
            "room_bytes": ROOM_BYTES,
        }


def helper(descriptor: int) -> list[str]:
    """Return the command line that creates the sandbox and runs the agent in it."""
    return [interpreter(), *FLAGS, str(INSIDE / "walls" / "agent_namespace.py"), str(descriptor)]


@contextlib.contextmanager
def handed_over(config: Mapping[str, Any]) -> Any:
    """Yield a descriptor with a configuration, kept off the command line."""
    descriptor = os.memfd_create("room")
    try:
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(json.dumps(config).encode("utf-8", "surrogateescape"))
        os.lseek(descriptor, 0, os.SEEK_SET)
        yield descriptor
    finally:
        os.close(descriptor)


def own_data() -> list[str]:
    """Return the folders of the harness itself, which contain the bundled problems."""
    package = Path(__file__).parents[2]
    inner = [package, *(package / name for name in ("fixtures", "prompts", "tools"))]
    places = [path.resolve() for path in inner]
    checkout = places[0].parent
    if (checkout / "pyproject.toml").is_file():
        places += [checkout / name for name in ("fixtures", "tests", ".git")]
    return sorted({str(path) for path in places})


def probe(room: AgentSandbox, command: Sequence[str]) -> None:
    """Check that the sandbox can be created, hides the data and shows the program.

    Raises:
        RoomError: a check failed; the message states which, and what to do.
    """
    config = room.configuration(command, SCRATCH if room.confined else "/", {}, probe=True)
    with handed_over(config) as descriptor:
        done = subprocess.run(  # noqa: S603 - this interpreter and a file of this package
            helper(descriptor),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PROBE_S,
            env={},
            cwd="/",
            pass_fds=[descriptor],
            start_new_session=True,
            check=False,
        )
    try:
        report = json.loads(done.stdout)
    except ValueError:
        words = done.stderr.decode(errors="replace").strip().splitlines()
        report = {"failed": words[-1] if words else f"exit code {done.returncode}"}
    if "failed" in report:
        raise RoomError(
            f"the agent cannot be isolated from hidden tests here: {report['failed']}; give "
            "--set agent_without_namespace=true to run it all the same, which marks the results"
        )
    if report["seen"]:
        raise RoomError(f"the agent could see {report['seen'][0]}, which holds data: not begun")
    if not report["program"]:
        hint = "; show it with --agent-read FOLDER" if room.confined else ""
        where = " where the agent is kept" if room.confined else ""
        raise RoomError(f"--agent-command: there is no program {command[0]}{where}{hint}")


def _resolved(paths: Iterable[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Return real paths, none within another, and the links that lead there."""
    reals: list[Path] = []
    links: list[tuple[str, str]] = []
    for path in map(Path, paths):
        real = path.resolve()
        reals.append(real)
        if path.is_symlink():
            links.append((str(path), str(real)))
    outer = sorted({p for p in reals if not any(parent in reals for parent in p.parents)})
    return [str(p) for p in outer], [
        (link, target)
        for link, target in dict(links).items()
        if not any(parent in outer for parent in Path(link).parents)
    ]


def checked_shows(shows: Iterable[str], hides: Iterable[str]) -> tuple[str, ...]:
    """Return the paths to show to an agent, as absolute paths.

    Raises:
        UsageError: a path does not exist, or lies in hidden data.
    """
    covered = [Path(path) for path in hides]
    made: list[str] = []
    for shown in shows:
        path = Path(shown).expanduser().absolute()
        if not path.exists():
            raise UsageError(f"--agent-read {shown}: there is nothing")
        real = path.resolve()
        within = next((each for each in covered if real == each or each in real.parents), None)
        if within is not None:
            raise UsageError(
                f"--agent-read {shown}: it lies in {within}, which holds data of the harness; an "
                "agent is not shown that"
            )
        made.append(str(path))
    return tuple(made)


def environment_for(environ: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return an agent's environment: no secrets except requested variables.

    Programs are looked for beside the running interpreter first, so that those of its virtual
    environment are found although that is not active.

    Args:
        environ: all environment variables.
        names: names of requested variables.

    Raises:
        UsageError: a requested variable is not set.
    """
    missing = [name for name in names if name not in environ]
    if missing:
        raise UsageError(f"--agent-env {missing[0]}: no such variable is set")
    kept = {*PASSED_ON, *names, *(name for name in environ if name.startswith("LC_"))}
    variables = {name: value for name, value in environ.items() if name in kept}
    own = str(Path(sys.executable).parent)
    variables["PATH"] = os.pathsep.join((own, environ.get("PATH", os.defpath)))
    for name in ("no_proxy", "NO_PROXY"):  # the MCP server is on this machine
        others = environ.get(name, "")
        variables[name] = f"{_LOOPBACK},{others}" if others else _LOOPBACK
    return variables
