"""An agent that does what it is told, step by step: `acts.py STEP…`."""

import os
import socket
import subprocess
import sys
import time

from speaking import ask, call, hello, server

KEPT = []

RIGHT = "a, b = map(int, input().split())\nprint(a + b)\n"
WRONG = "print(0)\n"


def act(step: str) -> None:
    word, _, value = step.partition("=")
    match word:
        case "hello":
            hello()
        case "read":
            print(call("read_problem"), flush=True)
        case "wrong" | "right":
            print(call("write_solution", code=WRONG if word == "wrong" else RIGHT), flush=True)
        case "run":
            print(call("run_tests"), flush=True)
        case "submit":
            print(call("submit"), flush=True)
        case "many":
            for _ in range(int(value)):
                call("read_problem")
        case "say":
            print(value, flush=True)
        case "tell":
            print(os.environ.get(value), file=sys.stderr, flush=True)
        case "flood":
            sys.stdout.write("x" * int(value))
            sys.stdout.flush()
        case "garbage":
            for body in (b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'"x"'):
                ask(body)
            ask({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": 3}})
            call("write_solution", code=3)
            call("write_solution", code="\ud800")
            call("nonsense" * 1_000, x=1)
            print("huge", ask(b'"' + b"x" * (3 << 20) + b'"')[0], flush=True)
        case "deaf":  # asks, and never reads what it is told
            there = server()
            host = there["url"].split("/")[2]
            body = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"read_problem"}}'
            head = (
                f"POST /mcp HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n"
                f"Accept: application/json, text/event-stream\r\nContent-Length: {len(body)}\r\n"
                f"Authorization: {there['headers']['Authorization']}\r\n\r\n"
            ).encode()
            for _ in range(int(value)):
                raw = socket.create_connection(host.split(":"))
                raw.sendall((head + body) * 3 + head)  # the last one never comes to its end
                KEPT.append(raw)
        case "leave-behind":  # a process of a session of its own, that outlives its parent
            code = f"import time, pathlib; time.sleep({value}); pathlib.Path('late').touch()"
            subprocess.Popen([sys.executable, "-c", code], start_new_session=True)
        case "use":  # so many MiB, by so many processes
            number, _, size = value.partition("x")
            code = f"x = b'1' * ({size} << 20); import time; time.sleep(60)"
            children = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(int(number))]
            print([child.wait() for child in children], flush=True)
        case "sleep":
            time.sleep(float(value))
        case "exit":
            sys.exit(int(value))
        case _:
            raise ValueError(step)


for each in sys.argv[1:]:
    act(each)
