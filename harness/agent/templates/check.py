"""Check of a prompt set: compile every template and render it for many problems."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any, NamedTuple

from jinja2 import nodes
from jinja2.meta import find_undeclared_variables
from pydantic import BaseModel

from harness.agent.strategies.modes import LOOP
from harness.agent.templates import prompt_set
from harness.agent.templates.examples import Example, examples
from harness.agent.templates.problem_facts import missing_facts
from harness.agent.templates.template import TemplateFaultError, parse, render
from harness.errors import UsageError
from harness.languages import known
from harness.languages.functions import NoFunctionError
from harness.languages.starters import starter_in
from harness.problem import Codec, Kind, ProblemView, Signature, TestCase

CPU_S = 6.0
BOTH = ("system", "user", "repair", "check", "wrong_test")
"""Templates that say something else with native tools."""
Variant = tuple[Kind, str]
"""A kind of problem and a language, as in `prompt_set.VARIANTS`."""


class Fault(NamedTuple):
    """An error in a template.

    Attributes:
        file: path of the template.
        line: line number; None if unknown.
        message: description of the error.
    """

    file: str
    line: int | None
    message: str

    def __str__(self) -> str:
        where = self.file if self.line is None else f"{self.file}:{self.line}"
        return f"{where}: {self.message}"


class Checked(NamedTuple):
    """Result of a check.

    Attributes:
        files: the templates that were checked.
        forms: number of different problems they were rendered for.
        faults: errors without duplicates, by file and line.
        missing: facts needed for solving that the set omits, in the same order.
        notes: omitted facts that are not needed for solving.
    """

    files: tuple[str, ...]
    forms: int
    faults: tuple[Fault, ...]
    missing: tuple[Fault, ...] = ()
    notes: tuple[Fault, ...] = ()


def check_prompt(name: str, problems: Sequence[ProblemView], mode: str | None = None) -> Checked:
    """Find all errors in a prompt set.

    Args:
        name: a bundled set, or a folder.
        problems: problems to render it for; variations of them are added.
        mode: the mode to check; None for the templates of all modes.

    Raises:
        UsageError: the set does not exist, or has no opening.
    """
    templates: dict[str, tuple[Traversable, str, Variant]] = {}
    openings: dict[Variant, prompt_set.Templates] = {}
    faults: list[Fault] = []
    refusals: list[UsageError] = []
    for variant in prompt_set.VARIANTS:
        for each in (mode,) if mode else (LOOP.name, *prompt_set.own_parts()):
            try:
                by_part = prompt_set.find_templates(name, each, *variant)
            except UsageError as error:
                refusals.append(error)
                continue
            for part, file in by_part.items():
                if part in prompt_set.NAMES:
                    templates.setdefault(str(file), (file, part, variant))
            openings[variant] = by_part
    if not prompt_set.bundled_name(name):
        faults += _strays(name, set(templates))
    if not templates and not faults:
        raise refusals[0]
    every = list(_forms(problems))
    forms = {variant: [*_forms_of(every, *variant)] for variant in prompt_set.VARIANTS}
    for file, part, variant in templates.values():
        faults += _faults(name, file, part, variant, forms[variant])
    unsaid = [*_unsaid(name, openings, forms)]
    rendered = sum(len(forms[each]) for each in {variant for _, _, variant in templates.values()})
    missing = _ordered(fault for needed, fault in unsaid if needed)
    notes = _ordered(fault for needed, fault in unsaid if not needed)
    return Checked(tuple(sorted(templates)), rendered, _ordered(faults), missing, notes)


def _forms_of(forms: Iterable[ProblemView], kind: Kind, language: str) -> Iterator[ProblemView]:
    """Yield the forms of problems that templates of a set are for."""
    for form in forms:
        own = _in_language(form, language)
        if own is not None and own.kind is kind:
            yield own


def _in_language(form: ProblemView, language: str) -> ProblemView | None:
    """Return a form with its starter code in a language; None for one that does not take it."""
    if form.entry_point is None or form.call or not known.language(language).mark:
        return form
    try:
        return form.model_copy(update={"starter_code": starter_in(form, language)})
    except NoFunctionError:
        return None


def _ordered(faults: Iterable[Fault]) -> tuple[Fault, ...]:
    return tuple(sorted(set(faults), key=lambda each: (each.file, each.line or 0, each.message)))


def _unsaid(
    name: str,
    openings: Mapping[Variant, prompt_set.Templates],
    forms: Mapping[Variant, Sequence[ProblemView]],
) -> Iterator[tuple[bool, Fault]]:
    """Yield each fact the openings omit once, with the first problem affected."""
    for variant, templates in openings.items():
        names: set[str] = set()
        path = str(templates["user"])
        prompt = prompt_set.read_set(name, templates, *variant)
        for form in forms[variant]:
            try:
                messages = prompt.render(form, CPU_S)
            except UsageError:
                continue  # this error is reported with its location
            text = "\n".join(message.content for message in messages)
            for fact in missing_facts(text, form):
                if fact.description not in names:
                    names.add(fact.description)
                    yield fact.needed, Fault(path, None, f"{fact.description} (for {form.id})")


def _strays(name: str, used: set[str]) -> Iterator[Fault]:
    """Yield unused templates in the set's folders: misspelt, or half of a pair."""
    folder = Path(name)
    places = [
        Path(str(prompt_set.variant_folder(folder, *variant)), inner)
        for variant in prompt_set.VARIANTS
        for inner in ("", *prompt_set.own_parts())
    ]
    for place in dict.fromkeys(places):
        present = {file.stem: str(file) for file in sorted(place.glob("*.j2"))}
        for part, file in present.items():
            if file in used:
                continue
            missing = {"system": "user", "user": "system"}.get(part)
            near = get_close_matches(part, prompt_set.NAMES, n=1)
            if part not in prompt_set.NAMES and near:
                yield Fault(file, None, f"no template has this name; did you mean {near[0]}.j2?")
            elif missing and missing not in present:
                yield Fault(file, None, f"there is no {missing}.j2 beside it, so it is never read")


def _faults(
    name: str, file: Traversable, part: str, variant: Variant, forms: Iterable[ProblemView]
) -> Iterator[Fault]:
    path = str(file)
    try:
        prompt = prompt_set.read_set(name, {part: file}, *variant)
        source = prompt.parts[part]
        tree = parse(source, path)
    except UsageError as error:
        yield Fault(path, None, str(error))
        return
    except TemplateFaultError as fault:
        yield Fault(path, fault.line, fault.message)
        return
    undefined = dict(_undefined(tree, part))
    yield from (Fault(path, line, message) for line, message in undefined.items())
    known: set[tuple[int | None, str]] = set()
    for form in forms:
        for example in _occasions(part, form):
            try:
                if render(source, path, {**prompt.always, **example.values}):
                    continue
                line, message = None, "it renders to an empty text"
            except TemplateFaultError as fault:
                line, message = fault.line, fault.message
            if line not in undefined and (line, message) not in known:
                known.add((line, message))
                of = f"{form.id}, {example.title}" if example.title else form.id
                yield Fault(path, line, f"{message} (for {of})")


def _occasions(part: str, form: ProblemView) -> Iterator[Example]:
    """Yield the values with which a template may be rendered for a problem, with few of others."""
    yield from examples(part, form)
    if part in BOTH:
        yield from examples(part, form, ("read_problem", "write_solution", "run_tests"))


def _undefined(tree: nodes.Template, part: str) -> Iterator[tuple[int, str]]:
    """Yield undefined names and unknown fields of problems and tests, by line.

    Rendering finds only the first one for each problem, and none in a branch that no problem
    takes.
    """
    names = [*tree.find_all(nodes.Name)]
    bound = {each.name for each in names if each.ctx != "load"}
    asked = [*_asked(tree)]
    known = (
        prompt_set.NAMES[part]
        | bound
        | {each.name for each in asked if isinstance(each, nodes.Name)}
    )
    unknown = find_undeclared_variables(tree) - known
    there_are = ", ".join(sorted(prompt_set.NAMES[part]))
    for each in names:
        if each.name in unknown:
            yield each.lineno, f"{each.name!r} is undefined; there are {there_are}"
    models = _models(tree, bound)
    for each in tree.find_all(nodes.Getattr):
        model = _model(each.node, models)
        if model and each.attr not in model.model_fields and each not in asked:
            fields = get_close_matches(each.attr, model.model_fields, n=1)
            near = f"; did you mean {fields[0]!r}?" if fields else ""
            yield each.lineno, f"{model.__name__} has no {each.attr!r}{near}"


def _asked(tree: nodes.Template) -> Iterator[nodes.Node]:
    """Yield nodes that a template tests for being defined, or defaults."""
    for each in tree.find_all((nodes.Test, nodes.Filter)):
        asks = {"defined", "undefined"} if isinstance(each, nodes.Test) else {"default", "d"}
        if each.name in asks and each.node is not None:
            yield each.node


def _models(tree: nodes.Template, bound: set[str]) -> dict[str, type[BaseModel]]:
    """Return the models of known names: the problem, and tests in loops over them."""
    models: dict[str, type[BaseModel]] = {} if "problem" in bound else {"problem": ProblemView}
    stores = Counter(each.name for each in tree.find_all(nodes.Name) if each.ctx != "load")
    for loop in tree.find_all(nodes.For):
        match loop:
            case nodes.For(
                target=nodes.Name(name=name),
                iter=nodes.Getattr(node=nodes.Name(name="problem"), attr="public_tests")
                | nodes.Name(name="further_tests"),
            ) if stores[name] == 1:
                models[name] = TestCase
            case _:
                pass
    return models


def _model(node: nodes.Node, models: Mapping[str, type[BaseModel]]) -> type[BaseModel] | None:
    match node:
        case nodes.Name(name=name):
            return models.get(name)
        case nodes.Getattr(node=nodes.Name(name="problem"), attr="signature"):
            return Signature
        case _:
            return None


def _forms(problems: Sequence[ProblemView]) -> Iterator[ProblemView]:
    """Yield the problems, and variations of the first script and function.

    The variations cover cases that data sets lack.
    """
    yield from problems
    code = [each for each in problems if not each.call]
    bare: dict[str, Any] = {
        "difficulty": None,
        "platform": "",
        "tags": (),
        "release_date": None,
        "public_tests": (),
    }
    for program in [each for each in code if each.entry_point is None][:1]:
        yield _varied(program, "a program without difficulty, platform, date and tests", bare)
        unworded = {"statement": "Add the two numbers.", "public_tests": ()}
        yield _varied(program, "a program whose statement says nothing of input", unworded)
        yield _varied(program, "a program that talks with the judge", {"judge": "dialogue"})
    for function in [each for each in code if each.entry_point is not None][:1]:
        alone = f"def {function.entry_point}(a, b):\n    "
        method = f"class Solution:\n    def {function.entry_point}(self, a, b):\n        "
        call = {"call": f"{function.entry_point}(1, 2)", "public_tests": ()}
        in_place = Signature(result=Codec.FIRST_ARGUMENT)
        of_program = {
            "statement": "",
            "starter_code": "",
            "code": "def f(a, b):\n    return a + b\n",
        }
        for what, change in (
            ("a function without difficulty, platform, date and tests", bare),
            ("a function without starter code", {"starter_code": ""}),
            ("a function that stands alone", {"starter_code": alone}),
            ("a method of a class", {"starter_code": method}),
            ("a function that works in place", {"signature": in_place}),
            ("a test output prediction", {"kind": Kind.TEST_OUTPUT_PREDICTION, **call}),
            ("a code execution", {"kind": Kind.CODE_EXECUTION, **call, **of_program}),
        ):
            yield _varied(function, what, change)


def _varied(problem: ProblemView, what: str, change: Mapping[str, Any]) -> ProblemView:
    return problem.model_copy(update={"id": what, **change})
