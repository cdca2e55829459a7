"""`harness serve` in a process of its own, for programs that ask it."""

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

from harness.closing import Closing

PROGRAM = str(Path(sys.executable).with_name("harness"))
LISTENS = re.compile(r"listens at http://([\d.]+:\d+)")
VARIABLE = "HARNESS_SERVE_TOKEN"


class Serving(Closing):
    """The server, listening; it ends with the block.

    Args:
        flags: of the command.
        token: what clients have to show; empty: none.
    """

    def __init__(self, *flags: str, token: str = "") -> None:
        self.process = subprocess.Popen(
            [PROGRAM, "serve", "--port", "0", *flags],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, VARIABLE: token},
        )
        assert self.process.stderr is not None
        self.said: list[str] = []
        for line in self.process.stderr:
            self.said.append(line)
            if match := LISTENS.search(line):
                self.place = match[1]
                return
        raise RuntimeError("".join(self.said))

    def address(self, token: str = "") -> str:
        """Where it listens, with the token in it."""
        return f"http://any:{token}@{self.place}" if token else f"http://{self.place}"

    def ask(self, path: str, body: Any = None) -> Any:
        """What it answers to JSON."""
        data = None if body is None else json.dumps(body).encode()
        with urllib.request.urlopen(f"{self.address()}{path}", data) as answer:
            return json.loads(answer.read())

    def close(self) -> None:
        """End it as a user does."""
        self.process.send_signal(signal.SIGINT)
        self.process.wait(60)
        assert self.process.stderr is not None
        self.process.stderr.close()
