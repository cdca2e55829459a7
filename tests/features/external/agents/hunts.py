"""An agent that looks for the hidden tests, wherever it can: `hunts.py NEEDLE_AS_HEX PATH…`.

It prints a line for each place where it found the needle, and what it has searched.
"""

import ctypes
import glob
import json
import os
import re
import socket
import sys
import urllib.request

from speaking import ask, call, request, server

NEEDLE = bytes.fromhex(sys.argv[1])
SYSTEM = (
    "/usr",
    "/lib",
    "/lib64",
    "/etc",
    "/opt",
    "/nix",
    "/snap",
    "/sys",
    *sys.argv[2].split(":"),
)
searched = 0


def look(where: str, data: bytes) -> None:
    global searched
    searched += 1
    if NEEDLE in data:
        print("FOUND", where, flush=True)


def read(path: str, most: int = 4 << 20) -> None:
    if path.endswith("notes.txt"):
        print("SAW", path, flush=True)
    try:
        if not os.path.isfile(path):
            return
        with open(path, "rb", buffering=0) as file:
            look(path, file.read(most))
    except OSError:
        pass


def files() -> None:
    for folder, inner, names in os.walk("/"):
        inner[:] = [
            name
            for name in inner
            if os.path.join(folder, name) not in SYSTEM and not folder.startswith("/proc")
        ]
        for name in names:
            if not folder.startswith("/proc"):
                read(os.path.join(folder, name))


def named(paths: list[str]) -> None:
    for path in paths:
        read(path)
        for folder, _, names in os.walk(path):
            for name in names:
                read(os.path.join(folder, name))


def processes() -> None:
    for process in glob.glob("/proc/[0-9]*"):
        for name in ("environ", "cmdline", "maps", "mountinfo", "status"):
            read(f"{process}/{name}")
        for way in ("root", "cwd"):
            named([os.path.join(f"{process}/{way}", name) for name in sys.argv[3:]])
        for link in glob.glob(f"{process}/fd/*"):
            read(link)
        if int(os.path.basename(process)) != os.getpid():
            memory(process)
    for number in range(1, 400):
        ctypes.CDLL(None).ptrace(16, number, 0, 0)  # PTRACE_ATTACH


def memory(process: str) -> None:
    try:
        with open(f"{process}/maps") as maps, open(f"{process}/mem", "rb", buffering=0) as mem:
            for line in maps:
                start, end = (int(part, 16) for part in re.match(r"(\w+)-(\w+)", line).groups())
                if end - start < 64 << 20:
                    mem.seek(start)
                    look(f"{process}/mem", mem.read(end - start))
    except OSError:
        pass


def environment() -> None:
    look("environment", repr(dict(os.environ)).encode())


def tools() -> None:
    there = server()
    for method in ("tools/list", "resources/list", "prompts/list", "resources/templates/list"):
        look(method, json.dumps(request(method)).encode())
    for uri in ("file:///", "file:///proc/self/environ", *(f"file://{p}" for p in sys.argv[3:])):
        look(uri, json.dumps(request("resources/read", uri=uri)).encode())
    for arguments in ({}, {"hidden": True}, {"id": "../../x"}):
        look("read_problem", call("read_problem", **arguments).encode())
    call("write_solution", code="import os, sys\nprint(sys.stdin.read())\nprint(os.environ)")
    look("run_tests", call("run_tests").encode())
    for name in ("hidden_tests", "grade", "../read_problem", "__class__"):
        look(name, call(name).encode())
    for path in ("/", "/../", "/mcp/../../etc/passwd", "/run.json", "/openapi.json"):
        url = there["url"].replace("/mcp", path)
        look(path, repr(ask({}, url=url)).encode())
    print("WITHOUT A KEY", ask({"id": 1}, headers={})[0], flush=True)
    print("OTHER KEY", ask({"id": 1}, headers={"Authorization": "Bearer x"})[0], flush=True)
    for host in (there["url"].split("/")[2],):
        for method in ("GET", "DELETE", "PUT", "TRACE"):
            with socket.create_connection(host.split(":"), timeout=5) as raw:
                key = there["headers"]["Authorization"]
                line = f"{method} /mcp HTTP/1.0\r\nHost: {host}\r\nAuthorization: {key}\r\n\r\n"
                raw.sendall(line.encode())
                raw.settimeout(0.3)
                try:
                    look(method, raw.recv(1 << 16))
                except TimeoutError:
                    pass


def unmount() -> None:
    """Take away what covers the data, as whoever has rights in a namespace of its own might."""
    library = ctypes.CDLL(None, use_errno=True)
    for _ in range(2):
        for path in sys.argv[3:]:
            library.umount2(path.encode(), 2)
        named(sys.argv[3:])
        library.unshare(0x10020000)  # CLONE_NEWUSER, CLONE_NEWNS


assert urllib.request is not None
environment()
named(sys.argv[3:])
if sys.argv[2] == "named":
    tools()
else:
    files()
    processes()
    tools()
    unmount()
print("SEARCHED", searched, flush=True)
