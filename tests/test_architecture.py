"""Imports run one way, features stand alone, and nothing heavy is imported before it is used.

The thread of the mission names nothing of kinds and features, but where `RING_WORDS` says so.

`python tests/test_architecture.py` prints how many modules name each concept outside its home, how
many lines each ring has, and which modules hold several topics.
"""

import ast
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

ORDER = (
    {
        "errors",
        "excerpts",
        "html_text",
        "http_environment",
        "version",
        "text",
        "markdown",
        "cache",
        "closing",
        "frozen",
        "nearest",
        "processor",
        "python_source",
        "stats",
        "value_faults",
        "yaml_text",
    },
    {"figures", "http_server", "judged_by", "registry", "solution_source"},
    {"scoring"},
    {"problem"},
    {"languages"},
    {"plugins"},
    {"models", "sources", "sandbox"},
    {"grading"},
    {"tools"},
    {"agent"},
    {"kinds"},
    {"run"},
    {"terminal", "cli"},
    {"features"},
)
"""The core, lowest first: a part imports those of earlier lines, and itself."""

WITHIN_RUN = (
    {"settings"},
    {"store"},
    {"reporter", "observer", "summary", "plan"},
    {"session"},
    {"engine"},
)
"""The same inside `harness/run`; parts of one line may import each other."""

BETWEEN_FEATURES = {
    ("efficiency", "compare"),
    ("evaluate", "observers"),
    ("experiment", "compare"),
    ("experiment", "observers"),
    ("experiment", "show"),
    ("export", "show"),
    ("grade", "efficiency"),
    ("import_", "grade"),
    ("import_", "show"),
    ("merge", "impossible"),
    ("merge", "show"),
    ("regrade", "grade"),
    ("regrade", "impossible"),
    ("regrade", "show"),
    ("report", "compare"),
    ("report", "efficiency"),
    ("report", "experiment"),
    ("training", "episode"),
    ("training", "grade"),
    ("tune", "compare"),
    ("tune", "experiment"),
    ("tune", "observers"),
    ("verify", "efficiency"),
    ("viewer", "compare"),
    ("viewer", "efficiency"),
    ("viewer", "experiment"),
    ("viewer", "impossible"),
    ("viewer", "report"),
}
"""Which feature imports which."""

EXCEPTIONS: set[tuple[str, str]] = set()
"""Imports that break a rule: to be removed, never to be added to."""

RING_1_FEATURES = {"evaluate", "observers", "compare", "experiment", "show", "info"}
KINDS = ("harness.judged_by", "harness.kinds", "harness.scoring")
"""Modules of ring 2: what only some problems need."""
APART = ("harness.sources.mercury",)
"""Modules of ring 3 that are no folder of `harness/features`."""
DOORS = {"harness", "harness.registry"}
OUTER_WORDS = (
    *("icpc", "codeforces", "testlib", "interactor", "cpp", "scoring", "code_test"),
    *("efficiency", "percentile", "impossible", "ray", "mercury", "calibrate"),
    *("codet", "map_coder", "reflexion", "mcp", "gepa", "tune", "regrade", "viewer", "otel"),
)
RING_WORDS = ROOT / "tests" / "ring_words.txt"
"""Words of outer rings that modules of ring 1 name: may only shrink."""
MODES = (
    *("single_shot", "agentic", "self_repair", "best_of_k", "best_of_k_public"),
    *("codet", "map_coder", "reflexion"),
)
HOMES = {
    "mode": (MODES, ("harness.agent.strategies", "harness.features.published", "harness.registry")),
    "score": (("score",), ("harness.kinds.packages.scores",)),
    "efficiency": (("efficiency",), ("harness.features.efficiency",)),
    "language": (("language",), ("harness.languages", "harness.kinds.cpp")),
}
"""Concept -> words that name it, and where it may be named."""

HEAVY = ("openai", "anthropic", "datasets", "scipy", "numpy", "pandas", "yaml", "pytest", "ray")
CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*")
SMALL = 45
"""Lines of functions and classes that make a topic."""
SHORT = 80
ANNOTATION = re.compile(r"[\w.]+(?:[\[(| ].*)?")
CHECKERS = "harness.kinds.checkers.by_problem."
"""Modules whose functions, each for a problem, are joined by `table.tsv` and not by each other."""


@cache
def _modules() -> dict[str, Path]:
    modules: dict[str, Path] = {}
    for top in ("harness", "tools"):
        for path in sorted((ROOT / top).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            if "__pycache__" not in parts and parts[:2] not in {
                ("harness", "tools"),
                ("harness", "prompts"),
                ("harness", "fixtures"),
            }:
                name = ".".join(("harness", *parts) if top == "tools" else parts)
                modules[name.removesuffix(".__init__")] = path
    return modules


@cache
def _trees() -> dict[str, ast.Module]:
    return {name: ast.parse(path.read_text()) for name, path in _modules().items()}


def _statements(node: ast.AST) -> Iterator[ast.AST]:
    """What a module does anywhere in it, without what is there for type checkers alone."""
    yield node
    for inner in ast.iter_child_nodes(node):
        if isinstance(node, ast.If) and _is_for_checkers(node) and inner in node.body:
            continue
        if isinstance(inner, ast.stmt | ast.excepthandler | ast.match_case):
            yield from _statements(inner)


def _is_for_checkers(node: ast.If) -> bool:
    return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"


@cache
def _imports() -> dict[str, set[str]]:
    """Module -> modules of ours that it imports, anywhere in it."""
    modules = _modules()
    imports: dict[str, set[str]] = {}
    for name, tree in _trees().items():
        used: set[str] = set()
        for node in _statements(tree):
            if isinstance(node, ast.Import):
                used |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                each = {f"{node.module}.{alias.name}" for alias in node.names}
                used |= {full if full in modules else node.module for full in each}
        inner = {f"harness.sandbox.{each}" for each in used if each.split(".")[0] == "inside"}
        imports[name] = {each for each in used | inner if each in modules} - {name}
    return imports


def _part(module: str) -> str:
    return module.split(".")[1]


def _rank(part: str) -> int:
    return next(rank for rank, parts in enumerate(ORDER) if part in parts)


def _arrows() -> list[tuple[str, str]]:
    return [
        (name, used)
        for name, all_used in _imports().items()
        for used in all_used
        if name.count(".") and used.count(".")
    ]


def _wrong_way() -> set[tuple[str, str]]:
    return {
        (name, used)
        for name, used in _arrows()
        if (one := _part(name)) != (other := _part(used))
        and {one, other}.isdisjoint({"__main__"})
        and _rank(one) <= _rank(other)
    }


def _wrong_within_run() -> set[tuple[str, str]]:
    place = {part: rank for rank, parts in enumerate(WITHIN_RUN) for part in parts}
    return {
        (name, used)
        for name, used in _arrows()
        if name.startswith("harness.run.") and used.startswith("harness.run.")
        if place[name.split(".")[2]] < place[used.split(".")[2]]
    }


def _wrong_between_features() -> set[tuple[str, str]]:
    pairs = [
        (name, used)
        for name, used in _arrows()
        if _part(name) == _part(used) == "features" and min(name.count("."), used.count(".")) > 1
    ]
    return {
        (name, used)
        for name, used in pairs
        if (one := name.split(".")[2]) != (other := used.split(".")[2])
        and (one, other) not in BETWEEN_FEATURES
    }


def _cycles() -> list[set[str]]:
    """Modules that lead back to themselves (Tarjan's strongly connected components)."""
    graph = _imports()
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    cycles: list[set[str]] = []

    def visit(name: str) -> None:
        number[name] = lowest[name] = len(number)
        stack.append(name)
        for used in graph[name]:
            if used not in number:
                visit(used)
                lowest[name] = min(lowest[name], lowest[used])
            elif used in stack:
                lowest[name] = min(lowest[name], number[used])
        if lowest[name] == number[name]:
            place = stack.index(name)
            group = set(stack[place:])
            del stack[place:]
            if len(group) > 1:
                cycles.append(group)

    for name in graph:
        if name not in number:
            visit(name)
    return cycles


def test_imports_run_one_way() -> None:
    assert _wrong_way() | _wrong_within_run() | _wrong_between_features() == EXCEPTIONS


def test_no_import_leads_back() -> None:
    assert _cycles() == []


def _constants_below(tree: ast.Module) -> list[str]:
    """Constants after the first function or class, but for those that need one of these."""
    below: set[str] = set()
    late_constants: list[str] = []
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            below.add(node.name)
        elif below:
            names = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
            made = {each.id for each in names if isinstance(each.ctx, ast.Store)}
            constant = isinstance(node, ast.Assign | ast.AnnAssign) and made
            if constant and all(map(CONSTANT.fullmatch, made)) and not _used(names) & below:
                late_constants += sorted(made)
            else:
                below |= made
    return late_constants


def _used(names: list[ast.Name]) -> set[str]:
    return {each.id for each in names if isinstance(each.ctx, ast.Load)}


def test_constants_stand_above_functions_and_classes() -> None:
    below = {name: _constants_below(tree) for name, tree in _trees().items()}
    assert {name: constants for name, constants in below.items() if constants} == {}


def _parts(tree: ast.Module) -> int:
    """How many groups of functions and classes, of at least `SMALL` lines, name none of another.

    Two belong together if one names the other, or both name the same constant of the module.
    """
    tops: dict[str, ast.stmt] = {}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            tops[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            names = [name for name in ast.walk(node) if isinstance(name, ast.Name)]
            tops |= {name.id: node for name in names if isinstance(name.ctx, ast.Store)}
    group = {name: {name} for name in tops}
    for name, node in tops.items():
        used = {word for part in ast.walk(node) for word in _words(part)}
        for other in used & tops.keys():
            together = group[name] | group[other]
            group |= dict.fromkeys(together, together)
    lines: Counter[frozenset[str]] = Counter()
    for name, node in tops.items():
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            first = min(part.lineno for part in [node, *node.decorator_list])
            lines[frozenset(group[name])] += (node.end_lineno or first) - first + 1
    return sum(size >= SMALL for size in lines.values())


def _words(node: ast.AST) -> list[str]:
    """Return the names in a node, also those in an annotation that is a string."""
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and len(node.value) < SHORT:
        return re.findall(r"\w+", node.value) if ANNOTATION.fullmatch(node.value) else []
    return []


def _is_below(module: str, parts: Iterable[str]) -> bool:
    return any(module == part or module.startswith(f"{part}.") for part in parts)


def _ring(module: str) -> int:
    """Return 1 for the thread of the mission, 2 for kinds of problems, 3 for features."""
    if _is_below(module, KINDS):
        return 2
    feature = module.startswith("harness.features.") and module.split(".")[2] not in RING_1_FEATURES
    return 3 if feature or _is_below(module, APART) else 1


@cache
def _tokens() -> dict[str, set[str]]:
    """Module -> words of its names and strings, in lower case, without docstrings and comments."""
    return {name: set(_tokens_of(tree)) for name, tree in _trees().items()}


def _tokens_of(tree: ast.Module) -> Iterator[str]:
    texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
            yield from re.findall(r"\w+", node.value.lower())
        for key in ("id", "attr", "arg", "name", "module", "asname"):
            if isinstance(name := getattr(node, key, None), str):
                yield from re.findall(r"\w+", re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower())


def _names(tokens: Iterable[str], words: Iterable[str]) -> set[str]:
    """Return which of some words stand in tokens, alone or between underscores."""
    text = " ".join(tokens)
    alone = r"(?<![a-z0-9]){}s?(?![a-z0-9])"
    return {word for word in words if word in text and re.search(alone.format(word), text)}


def _ring_words() -> dict[str, list[str]]:
    """Module of ring 1 -> words of rings 2 and 3 in it."""
    named = {
        name: sorted(_names(tokens, OUTER_WORDS))
        for name, tokens in _tokens().items()
        if _ring(name) == 1 and name not in DOORS
    }
    return {name.removeprefix("harness."): words for name, words in named.items() if words}


def test_ring_1_names_nothing_of_the_outer_rings() -> None:
    now = [f"{name}: {' '.join(words)}" for name, words in sorted(_ring_words().items())]
    listed = RING_WORDS.read_text().splitlines()
    more = {each for each in now if each not in listed}
    assert not more, "name these words in their own ring"
    assert now == listed, f"{RING_WORDS.name} may only shrink: take these lines out or shorten them"


def test_a_word_of_an_outer_ring_is_found() -> None:
    source = (
        "class MercuryRows:\n    'of icpc'\n    kind = 'a codet b'  # ray\n    array = rays = 1"
    )
    assert _names(_tokens_of(ast.parse(source)), OUTER_WORDS) == {"mercury", "codet", "ray"}


def _folders() -> list[Path]:
    """The folders of rings 1 and 2, each a package."""
    return [
        path.parent
        for name, path in _modules().items()
        if path.name == "__init__.py" and _ring(name) < 3 and name not in DOORS
    ]


@pytest.mark.parametrize("folder", _folders())
def test_a_folder_says_what_is_inside_and_what_is_not(folder: Path) -> None:
    """In five lines; each name is a module or folder beside the page, or a path from the root."""
    heading, empty, what, inside, outside = (folder / "README.md").read_text().splitlines()
    assert (heading, empty) == (f"# {folder.relative_to(ROOT)}", "")
    assert what.endswith(".")
    assert inside.startswith("- Inside: ")
    assert outside.startswith("- Not inside: ")
    for line, start in ((what, folder), (inside, folder), (outside, ROOT)):
        for name in re.findall(r"`([^`]+)`", line):
            path = start / name
            found = path.is_dir() if name.endswith("/") else path.is_file()
            assert found or path.with_name(f"{path.name}.py").is_file(), name


def _print_homes() -> None:
    """Print modules that name a concept outside its home, lines by ring, and several topics."""
    for concept, (words, homes) in HOMES.items():
        outside = [
            name
            for name, tokens in _tokens().items()
            if _names(tokens, words) and not _is_below(name, homes)
        ]
        print(f"modules that name {concept} outside its home: {len(outside)}")
    words = sum(map(len, _ring_words().values()))
    print(f"modules of ring 1 with words of outer rings: {len(_ring_words())}, {words} words")
    lines = Counter[int]()
    for name, path in _modules().items():
        lines[_ring(name)] += len(path.read_text().splitlines())
    for ring, number in sorted(lines.items()):
        print(f"lines of ring {ring}: {number:,}")
    several = [name for name, tree in _trees().items() if _parts(tree) > 1]
    several = [name for name in several if not name.startswith(CHECKERS)]
    print(
        f"modules with several topics of {SMALL} lines or more: {len(several)}",
        *several,
        sep="\n  ",
    )


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys, runpy\n"
        "for words in ([], ['run'], ['compare'], ['models']):\n"
        "    sys.argv = ['harness', *words, '--help']\n"
        "    try: runpy.run_module('harness', run_name='__main__')\n"
        "    except SystemExit as end: assert not end.code\n"
        f"print([n for n in {HEAVY!r} if n in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert done.stdout.splitlines()[-1] == "[]"


if __name__ == "__main__":
    _print_homes()
