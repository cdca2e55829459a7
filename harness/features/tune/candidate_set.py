"""Candidates as prompt folders, and the check of a proposed template before it is asked.

A proposal may reword a template, and move, repeat or drop its Jinja expressions. It may add none:
it is written by a model, and a template's own loops are not limited.
"""

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath

from jinja2 import Environment, TemplateSyntaxError
from pydantic_core import to_json

from harness.agent.templates.check import check_prompt
from harness.agent.templates.prompt_set import OPENING, find_templates, load_prompt
from harness.agent.templates.set_texts import set_texts, write_texts
from harness.errors import UsageError
from harness.problem import Kind, ProblemView
from harness.sources.benchmarks import load

LONGEST = 20_000
"""Most characters of a proposed template; the start's may be longer."""
MOST_REPEATED = 4
"""Most uses of an expression, for one use in the start."""
CHECKED = 5
"""Most problems of the benchmark that the check adds to its own; all are rendered after it."""
SHOWN_FAULTS = 3
PRINTED, BLOCK = "variable", "block"

Candidate = dict[str, str]
"""The templates that are tuned, by path in the folder."""

TUNED = (*OPENING, "again", "repair", "reminder", "tools")
"""Parts that are prose for the model; the others are mostly structure."""


@dataclass(frozen=True)
class CandidateSet:
    """The start's prompt set, from which candidates are made.

    Attributes:
        name: name of the start's set, or its folder.
        mode: the mode whose templates are tuned.
        texts: all templates of the set by path.
        start: the templates that are tuned.
        folder: where the folders of candidates stand.
        views: the problems that a candidate may be asked.
    """

    name: str
    mode: str
    texts: Mapping[PurePosixPath, str]
    start: Candidate
    folder: Path
    views: Sequence[ProblemView]

    @classmethod
    def of(cls, name: str, mode: str, folder: Path, views: Sequence[ProblemView]) -> "CandidateSet":
        """Read the start's set; the templates of the problems' kind are tuned.

        Raises:
            UsageError: the set does not exist, or has faults.
        """
        kinds = {view.kind for view in views}
        texts = set_texts(name, whole=True)
        start = {
            str(place): texts[place]
            for kind in kinds
            for place in sorted(places_of(texts, kind, find_templates(name, mode, kind)))
        }
        candidate_set = cls(name, mode, texts, start, folder, views)
        if fault := candidate_set.fault(start):
            raise UsageError(f"--prompt {name}: {fault}; see: harness prompts check {name}")
        return candidate_set

    def folder_of(self, candidate: Candidate) -> Path:
        """Return a candidate's prompt folder, which is written if it is not there."""
        folder = self.folder / digest(candidate)
        if not folder.exists():
            self.write(candidate, draft := folder.with_name(f".{folder.name}.draft"))
            draft.rename(folder)
        return folder

    def write(self, candidate: Candidate, folder: Path) -> None:
        """Write a candidate's whole set into a folder. Raises StorageError."""
        tuned = {PurePosixPath(place): text for place, text in candidate.items()}
        write_texts({**self.texts, **tuned}, folder)

    def fault(self, candidate: Candidate) -> str:
        """Return what is wrong with a candidate; empty if it may be asked."""
        for place, text in candidate.items():
            if fault := template_fault(self.start[place], text):
                return f"{place}: {fault}"
        folder = str(self.folder_of(candidate))
        check = check_prompt(folder, [*self._forms, *self.views[:CHECKED]], self.mode)
        faults = [f"{_within(each.file, folder)}: {each.message}" for each in check.faults]
        faults += [f"{_within(each.file, folder)}: {each.message}" for each in check.missing]
        if not faults:
            faults += self._unrendered(folder)
        return "; ".join(faults[:SHOWN_FAULTS])

    @cached_property
    def _forms(self) -> Sequence[ProblemView]:
        return [problem.view() for problem in load("fixture").problems]

    def _unrendered(self, folder: str) -> Iterator[str]:
        """Yield the first problem for which a template fails."""
        prompts = {kind: load_prompt(folder, self.mode, kind) for kind in self._kinds}
        for view in self.views:
            try:
                prompts[view.kind].render(view, 6.0, 10)
            except UsageError as error:
                yield f"{error} (for {view.id})"
                return

    @property
    def _kinds(self) -> set[Kind]:
        return {view.kind for view in self.views}


def places_of(
    texts: Mapping[PurePosixPath, str], kind: Kind, templates: Mapping[str, object]
) -> Iterator[PurePosixPath]:
    """Yield the paths of a mode's templates that are tuned: of the opening, and of the loop."""
    for part in templates:
        name = f"{part}.j2"
        own = PurePosixPath(name if kind is Kind.CODE_GENERATION else f"{kind}/{name}")
        for place in (own, PurePosixPath(name)):
            if part in TUNED and place in texts:
                yield place
                break


def digest(candidate: Candidate) -> str:
    """Return the name of a candidate: a hash of its templates."""
    return hashlib.sha256(to_json(sorted(candidate.items()))).hexdigest()[:12]


def template_fault(start: str, proposed: str) -> str:
    """Return why a proposed template may not be rendered at all; empty if it may."""
    if len(proposed) > max(LONGEST, len(start)):
        return f"it has {len(proposed):,} characters, more than {max(LONGEST, len(start)):,}"
    if not proposed.strip():
        return "it is empty"
    try:
        given, allowed = _code(proposed), _code(start)
    except TemplateSyntaxError as error:
        return f"line {error.lineno}: {error.message}"
    unknown = next((words for kind, words in given if not allowed[kind, words]), None)
    if unknown is not None:
        return f"{unknown[:100]!r} is not in the start's template"
    for (kind, words), number in given.items():
        known = allowed[kind, words]
        if number > known * (MOST_REPEATED if kind == PRINTED else 1):
            return f"{words[:100]!r} stands there {number} times, in the start's {known}"
    return ""


def _code(source: str) -> Counter[tuple[str, str]]:
    """Count the expressions and statements of a template."""
    counts: Counter[tuple[str, str]] = Counter()
    kind, words = "", list[str]()
    for _, part, value in Environment(autoescape=True).lex(source):
        if part.endswith("_begin"):
            kind, words = part.removesuffix("_begin"), []
        elif part.endswith("_end") and kind:
            if kind in {PRINTED, BLOCK, "raw"}:
                counts[kind, " ".join("".join(words).split()) or kind] += 1
            kind = ""
        else:
            words.append(value)
    if kind:
        raise TemplateSyntaxError("an expression does not end", source.count("\n") + 1)
    return counts


def _within(path: str, folder: str) -> str:
    return path.removeprefix(folder).lstrip("/")
