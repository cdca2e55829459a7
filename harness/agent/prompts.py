"""Prompt sets: two Jinja2 templates, `system.j2` and `user.j2`, in a folder per mode and set."""

import hashlib
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from jinja2 import StrictUndefined, Template
from jinja2.sandbox import SandboxedEnvironment

from harness.errors import UsageError
from harness.grading.excerpts import shorten, writable
from harness.models.protocol import Frozen, Message, SystemMessage, UserMessage
from harness.problem import ProblemView

LONGEST_EXAMPLE = 2_000
_PARTS = ("system", "user")


class PromptSet(Frozen):
    """The templates of one set, and the SHA-256 of both."""

    name: str
    system: str
    user: str

    @property
    def hash(self) -> str:
        """Changes whenever a template does."""
        return hashlib.sha256(f"{self.system}\0{self.user}".encode()).hexdigest()

    def render(self, problem: ProblemView, cpu_limit_s: float) -> tuple[Message, ...]:
        """The opening messages.

        Raises:
            UsageError: a template uses a name that does not exist, is not valid Jinja2, or fails.
        """
        values = {"problem": problem, "cpu_limit_s": f"{cpu_limit_s:g}"}
        texts: list[str] = []
        for part in _PARTS:
            try:
                texts.append(_compiled(getattr(self, part)).render(values))
            except Exception as error:
                words = " ".join(str(error).split())
                raise UsageError(f"prompt set {self.name!r}, {part}.j2: {words}") from error
        system, user = (writable(text.strip()) for text in texts)
        return SystemMessage(content=system), UserMessage(content=user)


def load_prompt(name: str, mode: str) -> PromptSet:
    """Find a set by name among the bundled ones, or by the path of a folder.

    A user's folder holds the two templates, or a folder of the mode's name that does.

    Raises:
        UsageError: there is no such set.
    """
    bundled = files("harness") / "prompts" / mode
    known = sorted(entry.name for entry in bundled.iterdir() if entry.is_dir())
    if name in known:
        return _read(bundled / name, name)
    folder = Path(name)
    for candidate in (folder / mode, folder):
        if candidate.is_dir() and all((candidate / f"{part}.j2").is_file() for part in _PARTS):
            return _read(candidate, name)
    where = "has no system.j2 and user.j2" if folder.is_dir() else "is not there"
    raise UsageError(
        f"prompt set {name!r}: no bundled set of {mode} ({', '.join(known)}), "
        f"and as a folder it {where}"
    )


def fallback_prompt(name: str) -> PromptSet:
    """What a set of the agent loop asks with where a model cannot call tools.

    The single-shot set of the same name, or in the same folder; else the bundled default.

    Raises:
        UsageError: it is there and cannot be read.
    """
    mode = "single_shot"
    bundled = name in {entry.name for entry in (files("harness") / "prompts" / mode).iterdir()}
    own = all((Path(name) / mode / f"{part}.j2").is_file() for part in _PARTS)
    return load_prompt(name if bundled or own else "default", mode)


@cache
def _compiled(source: str) -> Template:
    environment = SandboxedEnvironment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
    environment.filters["shorten"] = _shorten
    return environment.from_string(source)


def _shorten(text: str, most: int = LONGEST_EXAMPLE) -> str:
    return shorten(text, most)


def _read(folder: Traversable, name: str) -> PromptSet:
    try:
        system, user = ((folder / f"{part}.j2").read_text("utf-8") for part in _PARTS)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"prompt set {name!r} cannot be read: {error}") from error
    return PromptSet(name=name, system=system, user=user)
