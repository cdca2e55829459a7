"""Prompt sets: Jinja2 templates in a folder per set, all that a model is sent.

Under `prompts/`, or in a user's own folder:

    SET/system.j2, user.j2         the opening of every mode
    SET/PART.j2                    further texts: `PARTS` names them
    SET/MODE/PART.j2               texts of one mode alone: `Mode.own_parts`
    SET/KIND/…, SET/cpp/…          the same for another kind of problem, or another language

A set has an opening; of the other texts, it has those that it changes. The rest is `default`'s.
"""

import difflib
import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache, cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple

from pydantic import AfterValidator

from harness.agent.strategies.modes import built_in_modes, mode_named
from harness.agent.templates.template import (
    LONGEST_TEMPLATE,
    TemplateFaultError,
    description,
    render,
    variables,
)
from harness.errors import UsageError
from harness.frozen import Frozen
from harness.languages import PYTHON
from harness.languages.known import LANGUAGES
from harness.languages.known import language as known_language
from harness.models.protocol import SystemMessage, UserMessage
from harness.problem import Kind, ProblemView
from harness.text import writable
from harness.tools.further_tests import further_tests

DEFAULT = "default"
OPENING = ("system", "user")
_OF_TESTS = ("report",)
_LOOP = ("again", "repair", "check", "own_tests", "manual", "result", "problem", "describe")
PARTS = (*_OF_TESTS, *_LOOP, "tools", "reminder", "wrong_test")
"""The templates besides the opening that belong to no single mode."""

_ALWAYS = frozenset({"kind", "language", "tag"})
_PROBLEM = _ALWAYS | {"problem", "cpu_limit_s"}
_EVERYWHERE = _PROBLEM | {"further_tests", "max_turns"}
_OPENED = _EVERYWHERE | {"opening"}
NAMES: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(OPENING, _EVERYWHERE | {"tools"}),
    "tools": _ALWAYS | {"max_turns", "tools"},
    "wrong_test": _ALWAYS | {"tools"},
    "describe": _ALWAYS | {"tool", "argument"},
    "manual": _ALWAYS | {"calls"},
    "problem": _PROBLEM | {"flags", "memory", "use", "starter", "in_statement", "shown", "left"},
    "report": _PROBLEM
    | {"verdict", "passed", "total", "score", "error", "full", "others", "passed_numbers"}
    | {"not_run", "talks", "memory"},
    "own_tests": _ALWAYS | {"compile_error", "passed", "total", "failed"},
    "result": _ALWAYS
    | {"event", "number", "lines", "tests", "function", "passed", "total", "report", "longest"}
    | {"ending", "code", "seconds", "stdout", "stderr", "error", "json", "name", "known", "tool"}
    | {"example", "result", "names", "limit", "turns", "tokens", "dollars"},
    "again": _PROBLEM
    | {"report", "solved", "results", "same", "passed", "total", "cut_off", "filtered"},
    "repair": _OPENED | {"code", "feedback", "round", "tools", "new"},
    "check": _OPENED | {"code", "report", "tools"},
    "reminder": _ALWAYS
    | {"cut_off", "filtered", "new_code", "handed_in", "tests", "passed", "total", "turns"},
    "tests": _OPENED,
    "reflect": _OPENED | {"code", "feedback", "new"},
    "revise": _OPENED | {"code", "feedback", "reflections", "new"},
    "recall": _OPENED | {"plans"},
    "plan": _OPENED | {"example", "algorithm"},
    "rate": _OPENED | {"plan"},
    "code": _OPENED | {"plan", "algorithm"},
    "debug": _OPENED | {"plan", "algorithm", "code", "feedback", "new"},
}
"""The names available in each template; in `result`, some for each `event`."""

VARIANTS = (
    *((kind, PYTHON) for kind in Kind),
    *((Kind.CODE_GENERATION, name) for name, own in LANGUAGES.items() if own.mark),
)
"""What a set has templates for: kinds of problems in Python, and code in other languages."""

Templates = Mapping[str, Traversable]
"""Files of a set by part."""

_BUNDLED = files("harness") / "prompts"

Parts = Annotated[
    Mapping[str, str], AfterValidator(lambda parts: MappingProxyType[str, str](dict(parts)))
]


class Told(NamedTuple):
    """The tools that a model is told of.

    Attributes:
        native: names of those that it is given natively.
        in_text: those that it may call in text, as `manual.j2` lists them: name, description,
            arguments.
    """

    native: tuple[str, ...] = ()
    in_text: tuple[Mapping[str, Any], ...] = ()


class PromptSet(Frozen):
    """The templates of one set for one mode, one kind of problem and one language.

    Attributes:
        name: name of the set, or path of its folder.
        parts: templates by name, `system` and `user` first.
        kind, language: what the templates are for.
    """

    name: str
    parts: Parts
    kind: Kind = Kind.CODE_GENERATION
    language: str = PYTHON

    @cached_property
    def hash(self) -> str:
        """SHA-256 of all templates; changes with each of them."""
        opening = [self.parts[name] for name in OPENING]
        others = [item for pair in self.parts.items() if pair[0] not in OPENING for item in pair]
        return hashlib.sha256("\0".join(opening + others).encode()).hexdigest()

    @property
    def description(self) -> str:
        """The description in the set's first line; empty if there is none."""
        return description(self.parts["system"])

    @cached_property
    def always(self) -> Mapping[str, str]:
        """The values of every template: kind, language, tag of fences."""
        own = known_language(self.language)
        return {"kind": self.kind.value, "language": own.title, "tag": own.fences[0]}

    def shared_system(self, max_turns: int | None, told: "Told | None" = None) -> str | None:
        """Return the system message if it is the same for all problems; None if it is not.

        Args:
            max_turns: largest number of answers of the model; None without a limit.
            told: the tools that the model is told of.

        Raises:
            UsageError: as in `render`.
        """
        with suppress(TemplateFaultError):  # one that is not valid is reported by `render_part`
            known = {*_ALWAYS, "max_turns", "tools"}
            if not variables(self.parts["system"], "system.j2") <= known:
                return None
        return self._system(told or Told(), max_turns=max_turns)

    @property
    def advice(self) -> str:
        """What the result of `run_tests` says after the report on failed tests; empty if nothing.

        Raises:
            UsageError: as in `render`.
        """
        if "result" not in self.parts:
            return ""
        text = self.render_part("result", event="failed", report="REPORT", function="")
        return text.partition("REPORT")[2]

    def _system(self, told: "Told", **values: Any) -> str:
        parts = [self.render_part("system", tools=told.native, **values)]
        if told.native:
            turns = values["max_turns"]
            parts.append(self.render_part("tools", tools=told.native, max_turns=turns))
        elif told.in_text:
            parts.append(self.render_part("manual", calls=told.in_text))
        return "\n\n".join(filter(None, parts))

    def render(
        self,
        problem: ProblemView,
        cpu_limit_s: float,
        max_turns: int | None = 1,
        told: "Told | None" = None,
    ) -> tuple[SystemMessage, UserMessage]:
        """Return the opening messages.

        Args:
            problem: the problem to solve.
            cpu_limit_s: CPU seconds of a test.
            max_turns: largest number of answers of the model; None without a limit.
            told: the tools that the model is told of; default: none.

        Raises:
            UsageError: a template uses an unknown name, is not valid Jinja2, fails, or exceeds a
                limit.
        """
        values = {"problem": problem, "cpu_limit_s": cpu_limit_s, "max_turns": max_turns}
        told = told or Told()
        system = self._system(told, **values)
        user = self.render_part("user", tools=told.native, **values)
        return SystemMessage(content=system), UserMessage(content=user)

    def render_part(self, part: str, **values: Any) -> str:
        """Render one template.

        Args:
            part: name of the template, such as `repair`.
            values: values of the names in `NAMES`; `cpu_limit_s` is a number, `further_tests` is
                derived from the problem, and those of `always` are the set's.

        Raises:
            UsageError: as in `render`, or the template does not exist.
        """
        if part not in self.parts:
            raise UsageError(f"prompt set {self.name!r} has no {part}.j2")
        if isinstance(values.get("cpu_limit_s"), int | float):
            values["cpu_limit_s"] = f"{values['cpu_limit_s']:g}"
        source = self.parts[part]
        if isinstance(problem := values.get("problem"), ProblemView) and "further_tests" in source:
            values["further_tests"] = [test for _, test in further_tests(problem)]
        try:
            return writable(render(source, f"{part}.j2", {**self.always, **values}))
        except TemplateFaultError as fault:
            line = "" if fault.line is None else f", line {fault.line}"
            where = f"prompt set {self.name!r}, {part}.j2{line}"
            raise UsageError(f"{where}: {fault.message}") from fault


def parts_of(mode: str) -> tuple[str, ...]:
    """Return the templates of a mode besides the opening."""
    own = mode_named(mode)
    return (*(PARTS if own.parts is None else own.parts), *own.own_parts)


@cache
def own_parts() -> Mapping[str, tuple[str, ...]]:
    """Return the templates of one built-in mode alone, by the mode whose folder they are in."""
    return {mode.name: mode.own_parts for mode in built_in_modes() if mode.own_parts}


def load_prompt(
    name: str, mode: str, kind: Kind = Kind.CODE_GENERATION, language: str = PYTHON
) -> PromptSet:
    """Load a bundled set by name, or a user's own by the path of its folder.

    Raises:
        UsageError: the set does not exist, or has nothing for this kind and language.
    """
    return read_set(name, find_templates(name, mode, kind, language), kind, language)


def read_set(
    name: str,
    templates: Templates,
    kind: Kind = Kind.CODE_GENERATION,
    language: str = PYTHON,
) -> PromptSet:
    """Read the files of a set.

    Raises:
        UsageError: a file cannot be read.
    """
    parts: dict[str, str] = {}
    for part, file in templates.items():
        try:
            with file.open("r", encoding="utf-8") as opened:
                parts[part] = opened.read(LONGEST_TEMPLATE + 1)  # one too many is refused later
        except (OSError, UnicodeDecodeError) as error:
            raise UsageError(f"prompt set {name!r}, {part}.j2 cannot be read: {error}") from error
    return PromptSet(name=name, parts=parts, kind=kind, language=language)


def with_wrong_test(prompt: PromptSet) -> PromptSet:
    """Return the prompt set with how to report a wrong test at the end of its system message."""
    system = f"{prompt.parts['system'].rstrip()}\n\n{prompt.parts['wrong_test']}"
    return prompt.model_copy(update={"parts": MappingProxyType({**prompt.parts, "system": system})})


def bundled_name(name: str) -> bool:
    """Whether a name is that of a bundled set; it is then not a folder."""
    return any(entry.name == name for entry in _folders(_BUNDLED))


def bundled_names(kind: Kind = Kind.CODE_GENERATION, language: str = PYTHON) -> list[str]:
    """Return the names of the bundled sets for a kind and language."""
    names = sorted(entry.name for entry in _folders(_BUNDLED))
    return [name for name in names if _opening(_BUNDLED / name, kind, language)]


def find_templates(
    name: str, mode: str, kind: Kind = Kind.CODE_GENERATION, language: str = PYTHON
) -> Templates:
    """Return the files of a set by part: its own, and those of `default` that it does not have.

    A mode of the user's own gets all further files of the set's folder as well.

    Raises:
        UsageError: as in `load_prompt`.
    """
    folder = set_folder(name)
    opening = _opening(folder, kind, language)
    if not opening:
        raise UsageError(_missing(name, kind, language))
    templates, own = dict(opening), mode_named(mode)
    for part in parts_of(mode):
        inner = mode if part in own.own_parts else ""
        for place in _places((folder, _BUNDLED / DEFAULT), inner, kind, language):
            if (file := place / f"{part}.j2").is_file():
                templates[part] = file
                break
    if not own.built_in:
        more = (each for each in folder.iterdir() if each.name.endswith(".j2"))
        for file in sorted(more, key=lambda each: each.name):
            templates.setdefault(file.name.removesuffix(".j2"), file)
    return templates


def set_folder(name: str) -> Traversable:
    """Return the folder of a set, which need not exist."""
    return _BUNDLED / name if bundled_name(name) else Path(name)


def variant_folder(folder: Traversable, kind: Kind, language: str = PYTHON) -> Traversable:
    """Return the folder of a set's templates for a kind of problem and a language."""
    if kind is not Kind.CODE_GENERATION:
        return folder / kind
    mark = known_language(language).mark
    return folder / mark if mark else folder


def _places(
    folders: Iterable[Traversable], inner: str, kind: Kind, language: str
) -> Iterator[Traversable]:
    """Yield the folders in which a template may be, the likeliest first."""
    for folder in folders:
        for place in dict.fromkeys((variant_folder(folder, kind, language), folder)):
            yield place / inner if inner else place


def _opening(folder: Traversable, kind: Kind, language: str) -> Templates:
    """Return the templates of the opening; none where one is missing."""
    place = variant_folder(folder, kind, language)
    found = {part: place / f"{part}.j2" for part in OPENING}
    return found if all(file.is_file() for file in found.values()) else {}


def _missing(name: str, kind: Kind, language: str) -> str:
    """Describe a set that has no opening for a kind and language, or does not exist."""
    names = bundled_names(kind, language)
    known = ", ".join(names) or "none"
    what = kind.replace("_", " ")
    own = known_language(language)
    if own.mark:
        what = f"{what} in {own.title}"
    if bundled_name(name):
        return f"prompt set {name!r} has nothing for {what}; these have: {known}"
    if Path(name).is_dir():
        inner = f" (in {own.mark}/)" if own.mark else ""
        return f"prompt set {name!r}: the folder has no system.j2 and user.j2 for {what}{inner}"
    near = difflib.get_close_matches(name, names, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"for {what} there are: {known}"
    return f"no prompt set or folder {name!r}; {hint}"


def _folders(place: Traversable) -> list[Traversable]:
    return [entry for entry in place.iterdir() if entry.is_dir()] if place.is_dir() else []
