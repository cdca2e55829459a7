"""The program on a terminal, and the screen of the terminal."""

import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from imported import Command
from program import environment, the_one_imported

FRAME_ENDS = "\x1b[J"
_TOKEN = re.compile(r"\x1b\[([?0-9;]*)([A-Za-z])|\x1b[^\[]|\r|\n|[^\x1b\r\n]+")


@dataclass
class Screen:
    """A terminal's screen, for the escape codes that the program uses."""

    columns: int
    lines: int
    wrapped: int = 0
    _x: int = 0
    _y: int = 0
    _cells: list[list[str]] = field(default_factory=list)
    _rest: str = ""

    def __post_init__(self) -> None:
        self._cells = [[" "] * self.columns for _ in range(self.lines)]

    def feed(self, text: str) -> None:
        text = self._rest + text
        torn = re.search(r"\x1b(\[[?0-9;]*)?$", text)
        self._rest = torn.group() if torn else ""
        for token in _TOKEN.finditer(text[: torn.start()] if torn else text):
            self._do(token)

    def text(self) -> str:
        return "\n".join("".join(line).rstrip() for line in self._cells)

    def _do(self, token: re.Match[str]) -> None:
        whole, number, kind = token.group(), token.group(1), token.group(2)
        count = int(number) if number and number.isdigit() else 0
        match kind:
            case None if whole == "\r":
                self._x = 0
            case None if whole == "\n":
                self._line_feed()
            case None if whole[0] != "\x1b":
                self._write(whole)
            case "A":
                self._y = max(0, self._y - max(1, count))
            case "H":
                self._x = self._y = 0
            case "J":
                first = 0 if count == 2 else self._y
                for line in range(first, self.lines):
                    start = self._x if line == self._y and count != 2 else 0
                    self._cells[line][start:] = [" "] * (self.columns - start)
            case "K":
                self._cells[self._y][0 if count == 2 else self._x :] = [" "] * (
                    self.columns - (0 if count == 2 else self._x)
                )
            case _:
                pass

    def _write(self, text: str) -> None:
        for letter in text:
            if self._x >= self.columns:
                self._x, self.wrapped = 0, self.wrapped + 1
                self._line_feed()
            self._cells[self._y][self._x] = letter
            self._x += 1

    def _line_feed(self) -> None:
        self._y += 1
        if self._y == self.lines:
            self._cells = [*self._cells[1:], [" "] * self.columns]
            self._y -= 1


@dataclass
class Session:
    """Output of a command on a terminal.

    Attributes:
        code: exit code.
        frames: the screen after each frame, with seconds since the start.
        end: the screen at the end.
        raw: the complete output.
        wrapped: number of lines longer than the terminal's.
    """

    code: int
    frames: list[tuple[float, str]]
    end: str
    raw: str
    wrapped: int


def on_terminal(
    folder: Path,
    *arguments: str | Path,
    columns: int = 100,
    lines: int = 30,
    resize: tuple[Callable[[str], bool], int, int] | None = None,
    interrupt: Callable[[str], bool] | None = None,
    **env: str,
) -> Session:
    """Run the program on a new terminal.

    Args:
        folder: working directory.
        arguments: arguments of the command.
        columns, lines: size of the terminal.
        resize: condition on the screen, and the new columns and lines when it holds.
        interrupt: condition on the screen for an interrupt.
        env: more environment variables.
    """
    master, slave = pty.openpty()
    _resize(slave, columns, lines)
    given = list(map(str, arguments))
    surroundings = environment(**{"TERM": "xterm-256color", **env})
    command, files = Command(str(folder), given, surroundings), [slave, slave, slave]
    process, ending = the_one_imported().fork(command, files, session=True)
    os.close(slave)
    screen, decoder = Screen(columns, lines), codecs.getincrementaldecoder("utf-8")()
    began, frames, raw, wrapped = time.monotonic(), [], "", 0
    while (piece := _read(master)) is not None:
        text = decoder.decode(piece)
        raw += text
        for part in re.split(r"(?<=\x1b\[J)", text):
            if "\x1b[2J" in part and (screen.columns, screen.lines) != (columns, lines):
                wrapped += screen.wrapped
                screen = Screen(columns, lines)
            screen.feed(part)
            if part.endswith(FRAME_ENDS):
                frames.append((time.monotonic() - began, screen.text()))
        if resize is not None and resize[0](screen.text()):
            columns, lines = resize[1:]
            _resize(master, columns, lines)
            resize = None
        if interrupt is not None and interrupt(screen.text()):
            os.killpg(process, signal.SIGINT)
            interrupt = None
    os.close(master)
    with ending:
        ending.settimeout(60)
        code = int(ending.recv(64))
    return Session(code, frames, screen.text(), raw, wrapped + screen.wrapped)


def _read(master: int) -> bytes | None:
    if not select.select([master], [], [], 120)[0]:
        raise TimeoutError("nothing was written for two minutes")
    try:
        return os.read(master, 1 << 16) or None
    except OSError:  # the other end is closed
        return None


def _resize(file: int, columns: int, lines: int) -> None:
    fcntl.ioctl(file, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
