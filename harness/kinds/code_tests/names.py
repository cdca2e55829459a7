"""Whose the names in test code are that it uses and does not define itself.

In this order: of the problem's own code, where that defines them whole; of a module that usually
has them (`np`, `isclose`); of the solution, where the problem asks for them. No other name is
bound. Otherwise a solution would define the function that judges it.

Only objects of the solution's classes that the tests make have operators there; see
`inside.calls.standing`. A solution does not decide what is a class: a known solution or the starter
code does, and Python's custom for names else.
"""

import ast
import builtins
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from harness.kinds.code_tests.usual_names import import_of
from harness.python_source import parse_or_none
from harness.sources.signature import defined_names

_DEFINITIONS = ast.FunctionDef | ast.ClassDef
_LIKE_A_CLASS = re.compile(r"_*[A-Z](?:\w*[a-z]\w*)?")
_NUMBERS = re.compile(r"\b(?:inf|nan)\b")
_PLAIN_BASES = frozenset({"object", "ABC", "Generic", "Protocol"})
_SAYS_NOTHING = frozenset({"__init__", "__repr__", "__str__"})
"""Methods that do not judge: objects with these alone stay with the solution, one by one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a problem says about names.

    Attributes:
        defined: names that a known solution or the starter code defines, and whether each is a
            class.
        preamble: source that runs before the solution. If the tests use a function of it, or a
            class with methods, it runs before the tests as well: no solution may replace what
            judges.
        starter: starter code, of which the same holds for what it defines whole.
        statement: what the model is told to define.
        shown: source of the public tests.
    """

    defined: Mapping[str, bool]
    preamble: str = ""
    starter: str = ""
    statement: str = ""
    shown: str = ""

    def asks_for(self, name: str) -> bool:
        """Return whether the problem asks its solution to define a name.

        A class of the reference is asked for: the tests make arguments of it. A function is, where
        the public tests or the statement show it.
        """
        if name in self.defined:
            return self.defined[name] or _has(f"{self.statement}\n{self.shown}", name)
        if _is_like_a_class(name):
            return name == "Solution" or _has(self.statement, name)
        return self.says(name)

    def says(self, name: str) -> bool:
        """Return whether the statement shows a name as code."""
        word = re.escape(name)
        written = rf"[`'\"]{word}\b|\b{word}\(|\b(?:def|class|function|named|called) {word}\b"
        return re.search(written, self.statement) is not None

    def is_own(self, name: str) -> bool:
        """Return whether the solution has a name that a module has as well."""
        return name in defined_names(self.starter) or (name in self.defined and self.says(name))


@dataclass(frozen=True, slots=True)
class Names:
    """Names that test code uses.

    Attributes:
        before: source to run before the tests, which defines some of them.
        shared: classes that it and the solution define; their objects are data.
        asked: names that the solution defines, sorted; without the entry point.
        classes: those of its names that are classes, sorted.
    """

    before: str
    shared: tuple[str, ...]
    asked: tuple[str, ...]
    classes: tuple[str, ...]


def names_of(
    trees: Sequence[ast.AST], setup: str, texts: Iterable[str], entry_point: str, known: Known
) -> Names:
    """Return whose the names of some test code are.

    Args:
        trees: the test code.
        setup: source that runs before it.
        texts: tests that the code has placeholders for: calls with literals.
        entry_point: name of the function or class that it tests.
        known: what the problem says about names.
    """
    setup_names, bound_in_setup = _names_in_setup(setup)
    used = _used(trees) | setup_names | {n for text in texts for n in _NUMBERS.findall(text)}
    whole = f"{known.preamble}\n{whole_definitions(known.starter, entry_point)}".strip()
    definitions = _definitions(whole)
    bound = set(bound_in_setup)
    own = bound | {n.name for tree in trees for n in ast.walk(tree) if isinstance(n, _DEFINITIONS)}
    classes = {each.name for each in definitions if isinstance(each, ast.ClassDef)}
    judging = any(each.name in used - own and _judges(each, classes) for each in definitions)
    shared = classes if judging else classes & bound
    bound.update(*map(_bound, trees), (each.name for each in definitions if judging))
    lines = [whole] if judging else []
    asked: list[str] = []
    for name in sorted(used - bound - {entry_point}):
        line = "" if known.is_own(name) else import_of(name, trees)
        if line:
            lines.insert(0, line)
            bound.add(name)
        elif known.is_own(name) or known.asks_for(name):
            asked.append(name)
    theirs = _class_names(trees, {entry_point, *asked}, known.defined) - shared - bound
    return Names("\n".join(lines), tuple(sorted(shared)), tuple(asked), tuple(sorted(theirs)))


def whole_definitions(code: str, entry_point: str) -> str:
    """Return what starter code defines whole, with its imports and constants.

    Args:
        code: starter code.
        entry_point: name of the function or class that the solution has to define.
    """
    body = _definitions(code)
    stubs = {entry_point, "Solution", *(each.name for each in body if not _is_whole(each))}
    if all(each.name in stubs for each in body):
        return ""
    tree = parse_or_none(code)
    kept = [each for each in tree.body if getattr(each, "name", "") not in stubs] if tree else []
    return ast.unparse(ast.Module(kept, []))


def _definitions(code: str) -> list[ast.FunctionDef | ast.ClassDef]:
    tree = parse_or_none(code) if "def " in code or "class " in code else None
    return [each for each in tree.body if isinstance(each, _DEFINITIONS)] if tree else []


def _is_whole(definition: ast.FunctionDef | ast.ClassDef) -> bool:
    """Return whether no body in a definition is left to be written."""
    functions = [each for each in ast.walk(definition) if isinstance(each, ast.FunctionDef)]
    bodies = [definition.body, *(each.body for each in functions)]
    return all(any(not _is_left_open(each) for each in body) for body in bodies)


def _is_left_open(statement: ast.stmt) -> bool:
    match statement:
        case ast.Pass() | ast.Expr(ast.Constant()):
            return True
        case ast.Raise(ast.Name("NotImplementedError") | ast.Call(ast.Name("NotImplementedError"))):
            return True
        case _:
            return False


def _judges(definition: ast.FunctionDef | ast.ClassDef, classes: set[str]) -> bool:
    """Return whether a verdict can depend on a definition's code, and its objects can be sent."""
    if isinstance(definition, ast.FunctionDef):
        return True
    bases = {ast.unparse(each).partition("[")[0].rpartition(".")[2] for each in definition.bases}
    if bases - classes - _PLAIN_BASES or "slots" in ast.unparse(definition):
        return False
    methods = {each.name for each in definition.body if isinstance(each, ast.FunctionDef)}
    return bool(definition.decorator_list or methods - _SAYS_NOTHING)


@lru_cache(maxsize=16)
def _names_in_setup(setup: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the names that the code before the tests uses and binds."""
    tree = parse_or_none(setup) or ast.Module([], [])
    return frozenset(_used([tree])), frozenset(_bound(tree))


def _used(trees: Iterable[ast.AST]) -> set[str]:
    nodes = (node for tree in trees for node in ast.walk(tree))
    names = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    return {n for n in names - vars(builtins).keys() if not n.startswith("__")}


def _bound(tree: ast.AST) -> set[str]:
    """Return the names that some code binds anywhere."""
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.Import(aliases) | ast.ImportFrom(_, aliases):
                names |= {each.asname or each.name.partition(".")[0] for each in aliases}
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(name):
                names.add(name)
            case ast.ExceptHandler(name=str(name)) | ast.Name(name, ast.Store()):
                names.add(name)
            case _:
                pass
    return names


def _has(text: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def _class_names(
    trees: Iterable[ast.AST], names: set[str], defined: Mapping[str, bool]
) -> set[str]:
    """Return which names, of the solution or of its attributes, are classes."""
    for node in (node for tree in trees for node in ast.walk(tree)):
        match node:
            case ast.Name(name) | ast.Attribute(attr=name):
                names.add(name)
            case ast.ImportFrom("solution", aliases):
                names |= {each.name for each in aliases}
            case _:
                pass
    names -= vars(builtins).keys()
    return {each for each in names if defined.get(each, _is_like_a_class(each))}


def _is_like_a_class(name: str) -> bool:
    """Return whether a name is written as a class's, in Python's custom: `LRUCache`."""
    return _LIKE_A_CLASS.fullmatch(name) is not None
