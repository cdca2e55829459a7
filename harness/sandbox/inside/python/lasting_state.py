"""Whether a compiled solution can leave state in its process for a later test.

Every test has a fresh namespace. So globals, class attributes, default arguments, attributes and
caches of a solution's own functions end with their test. What outlives it is outside: attributes
of imported modules, classes and functions, files, the environment, settings of the interpreter.

Nothing is run to find out. The names that a program uses, the modules it imports and the attributes
it sets are read from its compiled code, what it sets them on from its text. Only what is known to
leave nothing is harmless. A program that hides what it sets attributes on is not found out.
"""

import opcode
import re
import sys
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FunctionType, ModuleType, NoneType
from typing import Any, NamedTuple

from inside.python.lasting_names import (
    AMBIGUOUS,
    DUNDERS,
    FOREIGN,
    LASTING,
    LIMITED,
    OF_THREADS,
    PLAIN,
    RENEWED,
    SETTERS,
    dunders,
    without_comments,
)
from inside.python.preamble import Preamble
from inside.python.solution_facts import SolutionFacts

# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false
# pyright: reportUnknownVariableType=false

_SETS = bytes(opcode.opmap[name] for name in ("STORE_ATTR", "DELETE_ATTR"))
_IMPORT_NAME, _IMPORT_FROM = opcode.opmap["IMPORT_NAME"], opcode.opmap["IMPORT_FROM"]
_EXTENDED = opcode.opmap["EXTENDED_ARG"]
_STORES = {opcode.opmap[f"STORE_{kind}"]: kind for kind in ("NAME", "GLOBAL", "FAST", "DEREF")}
_SWAP = frozenset(opcode.opmap[name] for name in ("SWAP", "POP_TOP", "EXTENDED_ARG", "CACHE"))
_IMPORT = re.compile(
    r"(?:^|(?<=[;:]))[ \t]*(?:from[ \t]+[\w.]+[ \t]+import\b[ \t]*(?:\([^)\"']*\)|[^\n;\"'#]*)"
    r"|import[ \t]+[^\n;\"'#]*)",
    re.MULTILINE,
)
_CHAIN = re.compile(r"(?!\w)((?:\s*\.\s*[^\W\d]\w*)*)[ \t]*([(\[]?)")
"""The attributes that are asked of a name, and a bracket that follows."""
_OWN_MAP = re.compile(r"\bdef\s+map\b|\bmap\s*[=,]|\bimport\b[^\n]*\bmap\b|\bas\s+map\b")
_OPEN = re.compile(r"\bopen\b(?!\s*\(\s*0\s*[,)])")
_COMPILE = re.compile(r"(?<![.\w])compile\b")
_HEAP, _IMMUTABLE = 1 << 9, 1 << 8  # flags of types: made at run time; attributes are fixed
_CALLABLE = (type, FunctionType, NoneType)


class Import(NamedTuple):
    """An imported name: its module, what is taken from that (`*`; empty: the module), its own."""

    module: str
    taken: str
    name: str


def may_outlive(solution: SolutionFacts, preamble: Preamble) -> bool:
    """Return whether a test of a solution may leave state for a later one."""
    codes = list(_all_codes(solution.code))
    names = {name for code in codes for name in code.co_names}
    asked = {name for code in codes for name in _matched(code.co_consts)}  # by `case` patterns
    if not names.isdisjoint(LASTING) or not dunders(names | asked) <= DUNDERS:
        return True
    imports = [imported for code in codes for imported in _imports(code)]
    if not all(map(_is_known, imports)):
        return True
    text = _readable(solution.text)
    patterns = {"open": _OPEN, "compile": _COMPILE}
    if any(name in names and pattern.search(text) for name, pattern in patterns.items()):
        return True
    if not names.isdisjoint(OF_THREADS) and any(each.module == "threading" for each in imports):
        return True
    sets = {name for code in codes for name in _set_names(code)} - RENEWED
    sets |= names & SETTERS
    if sets and "type" in names:
        return True
    program = SolutionState(text, names, sets, imports, preamble)
    return program.changes_modules() or (bool(sets) and program.changes_objects())


def _all_codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _all_codes(inner)


def _matched(constants: tuple[Any, ...]) -> Iterator[str]:
    for constant in constants:
        if isinstance(constant, tuple):
            yield from (each for each in constant if isinstance(each, str))
        elif isinstance(constant, str):
            yield constant


def _readable(text: str) -> str:
    """Return a text as the compiler reads names, without imports and most comments."""
    return _IMPORT.sub(" ", without_comments(text))


def _set_names(code: CodeType) -> Iterator[str]:
    """Yield the names of the attributes that some code sets or deletes."""
    data = code.co_code
    operations, numbers = data[::2], data[1::2]
    for operation in _SETS:
        at = operations.find(operation)
        while at >= 0:
            yield code.co_names[_number(operations, numbers, at)]
            at = operations.find(operation, at + 1)


def _number(operations: bytes, numbers: bytes, at: int) -> int:
    number, place = numbers[at], 8
    while operations[at - 1] == _EXTENDED:
        at -= 1
        number |= numbers[at] << place
        place += 8
    return number


def _imports(code: CodeType) -> Iterator[Import]:
    """Yield what some code imports."""
    data = code.co_code
    operations, numbers = data[::2], data[1::2]
    at = operations.find(_IMPORT_NAME)
    while at >= 0:
        module = code.co_names[_number(operations, numbers, at)]
        taken, stored = "", False
        for next_ in range(at + 1, len(operations)):
            operation = operations[next_]
            if operation == _IMPORT_FROM:
                taken = code.co_names[_number(operations, numbers, next_)]
            elif operation in _STORES:
                name = _stored(code, _STORES[operation], _number(operations, numbers, next_))
                dotted = module.endswith(f".{taken}") and taken
                yield Import(module, "" if dotted else taken, name)
                stored = True
                if not taken or dotted:
                    break
            elif operation not in _SWAP:
                if not stored:
                    yield Import(module, "*", "*")
                break
        at = operations.find(_IMPORT_NAME, at + 1)


def _stored(code: CodeType, kind: str, number: int) -> str:
    if kind in {"NAME", "GLOBAL"}:
        return code.co_names[number]
    if kind == "FAST":
        return code.co_varnames[number]
    return (*code.co_varnames, *code.co_cellvars, *code.co_freevars)[number]


def _is_known(imported: Import) -> bool:
    """Return whether importing this is known to leave nothing."""
    module, taken, _ = imported
    if module in LIMITED:
        return taken in {"", *LIMITED[module].split()} or (taken == "*" and module == "sys")
    if module in FOREIGN:
        return taken not in FOREIGN[module].split()
    return module in PLAIN and (
        taken in {"", "*"} or _is_harmless(module, taken, harmless_attributes()[module])
    )


class SolutionState(NamedTuple):
    """What is known of a solution.

    Attributes:
        text: its text, without imports and most comments.
        names: names of its globals and of attributes.
        sets: attributes that it sets or deletes.
        imports: what it imports.
        preamble: what comes before it.
    """

    text: str
    names: set[str]
    sets: set[str]
    imports: list[Import]
    preamble: Preamble

    def changes_modules(self) -> bool:
        """Return whether it may change a module, or use what keeps something in one."""
        modules = {each.name: each.module for each in self.imports if not each.taken}
        for name in self.names & self.preamble.imports.keys() - modules.keys():
            thing = self.preamble.imports[name]
            if isinstance(thing, ModuleType) and (name not in AMBIGUOUS or self.sets):
                modules[name] = thing.__name__
        return any(self._changes(name, module) for name, module in modules.items())

    def _changes(self, name: str, module: str) -> bool:
        known = harmless_attributes()[module]
        for chain, after in _uses(self.text, name):
            first, *others = map(str.strip, chain.split(".")[1:] or [""])
            if not first:
                if name not in AMBIGUOUS or (self.sets and self._imports(name)):
                    return True
            elif not _is_harmless(module, first, known) or any(n[:1] == "_" for n in others):
                return True
            elif self.sets and first not in RENEWED:
                if not self.sets.isdisjoint({first, *others}):
                    return True
                thing = getattr(sys.modules.get(module), first, None)
                if after != "(" and not others and _holds_attributes(thing):
                    return True
        return False

    def _imports(self, name: str) -> bool:
        return any(each.name == name for each in self.imports)

    def changes_objects(self) -> bool:
        """Return whether it may set attributes of classes and functions it did not define."""
        beneath = self.preamble.beneath
        things = {name: beneath[name] for name in self.names & beneath.keys()}
        for module, taken, name in self.imports:
            source = sys.modules.get(module)
            if taken == "*":
                star = {} if source is None else vars(source)
                things |= {name: star[name] for name in self.names & star.keys()}
            elif taken:
                things[name] = getattr(source, taken, None)
        return any(
            self._reaches(name, thing) for name, thing in things.items() if _holds_attributes(thing)
        )

    def _reaches(self, name: str, thing: Any) -> bool:
        """Return whether an attribute of an object may be set, by its name or another one."""
        for chain, after in _uses(self.text, name):
            if not self.sets.isdisjoint(map(str.strip, chain.split(".")[1:])):
                return True
            if not chain.strip() and after not in {"(", "["} and isinstance(thing, _CALLABLE):
                return self._is_rebound(name)
        return False

    def _is_rebound(self, name: str) -> bool:
        """Return whether a class or function is used otherwise than to call or derive."""
        uses = len(re.findall(rf"(?<![\w.]){name}\b(?!\s*[(\[.])", self.text))
        derived = rf"@\s*{name}\b(?!\s*[(\[.])|^\s*class\s+\w+\s*\([^)\n]*\b{name}\b(?!\s*[(\[.])"
        return uses > len(re.findall(derived, self.text, re.MULTILINE))


def _uses(text: str, name: str) -> Iterator[tuple[str, str]]:
    """Yield the attributes that are asked of a name, as text, and the bracket that follows.

    A function that is given to `map` counts as called.
    """
    at = text.find(name)
    while at >= 0:
        end = at + len(name)
        before = text[at - 1 : at]
        match = None if before in {".", "_"} or before.isalnum() else _CHAIN.match(text, end)
        if match is not None:
            mapped = text.endswith("map(", 0, at) and not _OWN_MAP.search(text)
            yield match[1], "(" if mapped else match[2]
        at = text.find(name, end)


@lru_cache
def harmless_attributes() -> dict[str, frozenset[str] | None]:
    """Return the harmless attributes of each known module; None if all public ones are."""
    modules: dict[str, frozenset[str] | None] = dict.fromkeys(FOREIGN)
    for name in PLAIN:
        public = getattr(sys.modules.get(name), "__all__", None)
        modules[name] = frozenset(public) if public else None
    return modules | {name: frozenset(names.split()) for name, names in LIMITED.items()}


def _is_harmless(module: str, name: str, known: frozenset[str] | None) -> bool:
    if module in FOREIGN:
        return name[0] != "_" and name not in FOREIGN[module].split()
    return name in known if known is not None else name[0] != "_"


def _holds_attributes(thing: Any) -> bool:
    """Return whether an object of a library can be given attributes; None is an unknown one."""
    if isinstance(thing, type):
        return bool(thing.__flags__ & _HEAP) and not thing.__flags__ & _IMMUTABLE
    if isinstance(thing, ModuleType) or thing in (sys.stdin, sys.stdout, sys.stderr):
        return False  # looked at already, or renewed
    return thing is None or isinstance(thing, FunctionType) or hasattr(thing, "__dict__")
