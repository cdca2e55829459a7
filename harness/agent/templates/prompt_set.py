"""Prompt sets: Jinja2 templates in a folder per mode and set.

Under `prompts/`, and in a user's own folder, where MODE may be omitted:

    MODE/SET/system.j2, user.j2         code generation
    MODE/SET/KIND/system.j2, user.j2    another kind of problem
    MODE/SET/cpp/system.j2, user.j2     code generation in another language than Python
    self_repair/SET/repair.j2           message after a failure, beside single shot's two
    codet/SET/tests.j2                  request for tests; other modes' parts: `OWN_PARTS`

Modes without a folder use the sets of single shot.
"""

import difflib
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

from pydantic import AfterValidator

from harness.agent.strategies import CODET, MAP_CODER, REFLEXION
from harness.agent.templates.template import (
    LONGEST_TEMPLATE,
    TemplateFaultError,
    description,
    render,
    variables,
)
from harness.errors import UsageError
from harness.languages import PYTHON
from harness.languages.known import LANGUAGES
from harness.languages.known import language as known_language
from harness.models.protocol import Frozen, SystemMessage, UserMessage
from harness.problem import Kind, ProblemView
from harness.text import writable
from harness.tools.further_tests import further_tests

SINGLE_SHOT = "single_shot"
OPENING = ("system", "user")
OWN_PARTS: Mapping[str, tuple[str, ...]] = {
    "agentic": (),
    SINGLE_SHOT: (),
    "self_repair": ("repair",),
    CODET: ("tests",),
    REFLEXION: ("tests", "reflect", "revise"),
    MAP_CODER: ("recall", "plan", "rate", "code", "debug"),
}
"""The modes with their own sets, and their templates besides the opening."""
_EVERYWHERE = frozenset({"problem", "further_tests", "cpu_limit_s", "max_turns"})
_WITH_OPENING = _EVERYWHERE | {"opening"}
NAMES: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(OPENING, _EVERYWHERE),
    "repair": _EVERYWHERE | {"code", "feedback", "round"},
    "tests": _WITH_OPENING,
    "reflect": _WITH_OPENING | {"code", "feedback"},
    "revise": _WITH_OPENING | {"code", "feedback", "reflections"},
    "recall": _WITH_OPENING | {"plans"},
    "plan": _WITH_OPENING | {"example", "algorithm"},
    "rate": _WITH_OPENING | {"plan"},
    "code": _WITH_OPENING | {"plan", "algorithm"},
    "debug": _WITH_OPENING | {"plan", "algorithm", "code", "feedback"},
}
"""The names available in each template."""

VARIANTS = (
    *((kind, PYTHON) for kind in Kind),
    *((Kind.CODE_GENERATION, name) for name in LANGUAGES if name != PYTHON),
)
"""What a set has templates for: kinds of problems in Python, and code in other languages."""

Templates = Mapping[str, Traversable]
"""Files of a set by part; empty if a part is missing."""

_BUNDLED = files("harness") / "prompts"

Parts = Annotated[
    Mapping[str, str], AfterValidator(lambda parts: MappingProxyType[str, str](dict(parts)))
]


class PromptSet(Frozen):
    """The templates of one set for one mode and one kind of problem.

    Attributes:
        name: name of the set, or path of its folder.
        parts: templates by name, `system` and `user` first.
    """

    name: str
    parts: Parts

    @cached_property
    def hash(self) -> str:
        """SHA-256 of all templates; changes with each of them."""
        opening = [self.parts[name] for name in OPENING]
        others = [item for pair in self.parts.items() if pair[0] not in OPENING for item in pair]
        return hashlib.sha256("\0".join(opening + others).encode()).hexdigest()

    @property
    def description(self) -> str:
        """The description in the set's first line; empty if there is none."""
        others = [text for name, text in self.parts.items() if name not in OPENING]
        descriptions = [description(text) for text in (*others, self.parts["system"])]
        return next((description for description in descriptions if description), "")

    def shared_system(self, max_turns: int | None) -> str | None:
        """Return the system prompt if it is the same for all problems; None if it is not.

        Args:
            max_turns: largest number of answers of the model; None without a limit.

        Raises:
            UsageError: as in `render`.
        """
        with suppress(TemplateFaultError):  # one that is not valid is reported by `render_part`
            if not variables(self.parts["system"], "system.j2") <= {"max_turns"}:
                return None
        return self.render_part("system", max_turns=max_turns)

    def render(
        self, problem: ProblemView, cpu_limit_s: float, max_turns: int | None = 1
    ) -> tuple[SystemMessage, UserMessage]:
        """Return the opening messages.

        Args:
            problem: the problem to solve.
            cpu_limit_s: CPU seconds of a test.
            max_turns: largest number of answers of the model; None without a limit.

        Raises:
            UsageError: a template uses an unknown name, is not valid Jinja2, fails, or exceeds a
                limit.
        """
        system, user = (
            self.render_part(part, problem=problem, cpu_limit_s=cpu_limit_s, max_turns=max_turns)
            for part in OPENING
        )
        return SystemMessage(content=system), UserMessage(content=user)

    def render_part(self, part: str, **values: Any) -> str:
        """Render one template.

        Args:
            part: name of the template, such as `repair`.
            values: values of the names in `NAMES`; `cpu_limit_s` is a number, and `further_tests`
                is derived from the problem.

        Raises:
            UsageError: as in `render`, or the template does not exist.
        """
        if part not in self.parts:
            raise UsageError(f"prompt set {self.name!r} has no {part}.j2")
        if isinstance(values.get("cpu_limit_s"), int | float):
            values["cpu_limit_s"] = f"{values['cpu_limit_s']:g}"
        source = self.parts[part]
        if "further_tests" in source and isinstance(problem := values.get("problem"), ProblemView):
            values["further_tests"] = [test for _, test in further_tests(problem)]
        try:
            return writable(render(source, f"{part}.j2", values))
        except TemplateFaultError as fault:
            line = "" if fault.line is None else f", line {fault.line}"
            where = f"prompt set {self.name!r}, {part}.j2{line}"
            raise UsageError(f"{where}: {fault.message}") from fault


def load_prompt(
    name: str, mode: str, kind: Kind = Kind.CODE_GENERATION, language: str = PYTHON
) -> PromptSet:
    """Load a bundled set by name, or a user's own by the path of its folder.

    Raises:
        UsageError: the set does not exist, or has nothing for this mode, kind and language.
    """
    return read_set(name, find_templates(name, mode, kind, language))


def read_set(name: str, templates: Templates) -> PromptSet:
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
    return PromptSet(name=name, parts=parts)


def fallback_prompt(
    name: str, kind: Kind = Kind.CODE_GENERATION, language: str = PYTHON
) -> PromptSet:
    """Return the prompt used by the agent loop if a model cannot call tools.

    The single-shot set of the same name, or in the same folder; else the bundled default.

    Raises:
        UsageError: the set exists but cannot be read.
    """
    if bundled_name(name):
        there = name in bundled_names(SINGLE_SHOT, kind, language)
    else:
        there = bool(_first([_part_for(Path(name) / SINGLE_SHOT, kind, language)], OPENING))
    return load_prompt(name if there else "default", SINGLE_SHOT, kind, language)


def bundled_name(name: str) -> bool:
    """Whether a name is that of a bundled set, of any mode; it is then not a folder."""
    return any(entry.name == name for mode in OWN_PARTS for entry in _folders(_BUNDLED / mode))


def bundled_names(
    mode: str, kind: Kind = Kind.CODE_GENERATION, language: str = PYTHON
) -> list[str]:
    """Return the names of the bundled sets for a mode, kind and language."""
    names = sorted({entry.name for home in homes(mode) for entry in _folders(_BUNDLED / home)})
    return [name for name in names if _bundled_templates(name, mode, kind, language)]


def find_templates(
    name: str, mode: str, kind: Kind = Kind.CODE_GENERATION, language: str = PYTHON
) -> Templates:
    """Return the files of a set, by part.

    Raises:
        UsageError: as in `load_prompt`.
    """
    is_bundled = bundled_name(name)
    own = own_places(name, mode, kind, language)
    bundled = _bundled_templates(name, mode, kind, language)
    templates = bundled if is_bundled else _complete(own, own, mode)
    if templates:
        return templates
    known = ", ".join(bundled_names(mode, kind, language)) or "none"
    what = kind.replace("_", " ")
    if language != PYTHON:
        what = f"{what} in {known_language(language).title}"
    if is_bundled:
        raise UsageError(
            f"prompt set {name!r} has nothing for {what} in mode {mode}; these have: {known}"
        )
    if Path(name).is_dir():
        files = " and ".join(f"{part}.j2" for part in (*OPENING, *OWN_PARTS.get(mode, ())))
        inner = "" if language == PYTHON else f" (in {language}/)"
        raise UsageError(f"prompt set {name!r}: the folder has no {files} for {what}{inner}")
    near = difflib.get_close_matches(name, bundled_names(mode, kind, language), n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"for {what} in mode {mode} there are: {known}"
    raise UsageError(f"no prompt set or folder {name!r}; {hint}")


def shown_path(file: Traversable) -> str:
    """Return a template's path; a bundled one's is where the package is installed."""
    return str(file)


def own_places(name: str, mode: str, kind: Kind, language: str = PYTHON) -> list[Traversable]:
    """Return the places in a user's folder where templates may be, likeliest first."""
    folder = Path(name)
    places = (*(folder / home for home in homes(mode)), folder)
    return [_part_for(place, kind, language) for place in places]


def _bundled_templates(name: str, mode: str, kind: Kind, language: str) -> Templates:
    places = [_part_for(_BUNDLED / home / name, kind, language) for home in homes(mode)]
    return _complete(places, places[:1], mode)


def homes(mode: str) -> tuple[str, ...]:
    """Return the folders of a mode's templates: its own, and single shot's as a fallback."""
    if mode in {"agentic", SINGLE_SHOT}:
        return (mode,)
    return (mode, SINGLE_SHOT)


def _complete(opening: list[Traversable], own: list[Traversable], mode: str) -> Templates:
    """Return the opening, from one place, and the mode's other parts; or nothing."""
    parts = [_first(opening, OPENING), *(_first(own, (each,)) for each in OWN_PARTS.get(mode, ()))]
    return {name: file for part in parts for name, file in part.items()} if all(parts) else {}


def _first(places: Iterable[Traversable], parts: Sequence[str]) -> Templates:
    """Return the templates of the first place that has all of them."""
    for place in places:
        files = {part: place / f"{part}.j2" for part in parts}
        if place.is_dir() and all(file.is_file() for file in files.values()):
            return files
    return {}


def _part_for(place: Traversable, kind: Kind, language: str) -> Traversable:
    """Return the folder of a set's templates for a kind of problem and a language."""
    if kind is not Kind.CODE_GENERATION:
        return place / kind
    return place if language == PYTHON else place / language


def _folders(place: Traversable) -> list[Traversable]:
    return [entry for entry in place.iterdir() if entry.is_dir()] if place.is_dir() else []
