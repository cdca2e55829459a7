"""Names through which a solution may leave state for a later test, and a quick look for them.

`inside.python.lasting_state` looks closely. It does so in a fresh process, where that costs more
than a short test. So the judge asks for it only where `may_need_a_look` finds something in the
text.
"""

import importlib
import re
import unicodedata
from functools import lru_cache

PLAIN = frozenset(
    (
        *("array", "bisect", "cmath", "collections", "collections.abc", "copy", "enum"),
        *("dataclasses", "datetime", "fractions", "functools", "heapq", "itertools", "json"),
        *("math", "numbers", "operator", "pprint", "queue", "random", "re", "statistics"),
        *("string", "textwrap", "typing", "__future__"),
    )
)
"""Modules that keep nothing but new values of their attributes; `random` is reset by the runner."""
LIMITED = {
    "abc": "ABC ABCMeta abstractmethod",
    "decimal": "Decimal ROUND_HALF_UP ROUND_HALF_EVEN ROUND_FLOOR ROUND_DOWN ROUND_UP",
    "io": "BytesIO StringIO IOBase TextIOWrapper BufferedReader SEEK_SET SEEK_END",
    "os": "read write fstat linesep SEEK_SET",
    "sys": "stdin stdout stderr setrecursionlimit getrecursionlimit maxsize exit argv float_info "
    "hexversion version version_info platform set_int_max_str_digits",
    "threading": "Thread stack_size Lock RLock",
    "time": "time perf_counter monotonic sleep time_ns perf_counter_ns monotonic_ns",
}
"""Modules of which only these attributes leave nothing."""
FOREIGN = {
    "numpy": "random seterr seterrcall setbufsize set_printoptions errstate lib core testing save "
    "savez savetxt memmap fromfile load ctypeslib empty ndarray",
    "sortedcontainers": "sortedlist sorteddict sortedset",
}
"""Packages that are not imported here, with attributes that may keep something."""
OF_THREADS = frozenset({"name", "getName", "ident"})
"""Attributes of threads that count them."""
AMBIGUOUS = frozenset({"string", "copy", "operator", "queue", "array", "bisect"})
"""Modules of preambles whose names programs give to variables of their own."""
RENEWED = frozenset({"stdin", "stdout", "stderr"})  # attributes of `sys` that a test may set
LASTING = frozenset(
    (
        *("exec", "eval", "globals", "locals", "vars", "setattr", "delattr", "builtins", "chdir"),
        *("breakpoint", "environ", "putenv", "umask", "getcontext", "setcontext", "localcontext"),
        *("modules", "meta_path", "path_hooks", "path_importer_cache", "intern", "getrefcount"),
        *("getallocatedblocks", "settrace", "setprofile", "addaudithook", "setswitchinterval"),
        *("setdlopenflags", "displayhook", "excepthook", "unraisablehook", "call_tracing"),
        *("register", "process_time", "process_time_ns", "thread_time", "thread_time_ns", "mro"),
        *("getrusage", "current_thread", "get_ident", "native_id", "fdopen", "singledispatch"),
        *("getattr", "attrgetter", "methodcaller", "Formatter", "overload", "get_overloads"),
        *("tb_frame", "cr_frame", "ag_frame", "f_locals", "gi_frame", "f_back", "f_globals"),
        *("f_builtins", "warnoptions", "orig_argv", "purge"),
    )
)
"""Names that reach, or measure, what outlives a test, whatever they are called on."""
SETTERS = frozenset(
    (
        *("dataclass", "total_ordering", "final", "no_type_check", "runtime_checkable", "wraps"),
        *("update_wrapper", "update_abstractmethods"),
    )
)
"""Functions that set attributes of what they are called on."""
DUNDERS = frozenset(
    f"__{name}__"
    for name in (
        *("name", "main", "init", "new", "slots", "call", "hash", "repr", "str", "bool", "int"),
        *("lt", "le", "gt", "ge", "eq", "ne", "len", "getitem", "setitem", "delitem", "contains"),
        *("iter", "next", "reversed", "missing", "add", "radd", "iadd", "sub", "rsub", "isub"),
        *("mul", "rmul", "imul", "matmul", "truediv", "rtruediv", "floordiv", "mod", "pow", "neg"),
        *("and", "or", "xor", "lshift", "rshift", "invert", "abs", "float", "index", "enter"),
        *("exit", "post_init", "getattr", "format", "round", "floor", "ceil", "future", "module"),
        *("qualname", "doc", "annotations", "author", "classcell", "static_attributes"),
        *("firstlineno", "class_getitem", "debug"),
    )
)
"""Dunder names that programs and compilers use for the program's own objects."""

_COMMENT = re.compile(r"^([^\"'#\n]*)#[^\"'\n]*$", re.MULTILINE)
_IMPORTED = re.compile(r"\b(?:from|import)\s+([\w. ]+(?:,[\w. ]+)*)")
# It begins at a word or a point only, so that its time is linear in the length of the text.
_ATTRIBUTE = re.compile(r"(?:(?<!\w)(?=\w)|(?=\.))(\w*+)\s*+\.\s*([^\W\d]\w*)(?=\s*([(\[.]?))")
_BARE = re.compile(
    rf"[=(,\[]\s*(?:{'|'.join(sorted({*PLAIN, 'sys'} - AMBIGUOUS))})[ \t]*(?:[\n,;)\]]|$)"
)
_WORD = re.compile(r"\w+")
_KNOWN = (PLAIN - {"random"}) | {"random", "sys", "numpy", "sortedcontainers"}
_SYS = frozenset(LIMITED["sys"].split())
_SEARCHED = LASTING | SETTERS | {"open", "compile", "threading", "dispatch_table"}
_ONLY_READ = frozenset(
    (
        *("readline", "inf", "pi", "e", "maxsize", "ascii_lowercase", "ascii_uppercase", "stdin"),
        *("digits", "nan", "loads", "read", "append", "or_", "xor", "and_", "add", "mul", "gcd"),
    )
)
"""Attributes that programs often ask for without a call, and that nothing is learned from."""
_INNER = frozenset({"sys", "copyreg", "dispatch_table", "threading", "time", "types", "inspect"})
"""Names in plain modules that lead elsewhere."""


def may_need_a_look(text: str) -> bool:
    """Return whether a program may leave state for a later test, by a quick look at its text."""
    if not text.isascii():
        return True
    text = without_comments(text)
    words = set(_WORD.findall(text))
    if not words.isdisjoint(_SEARCHED) or not dunders(words) <= DUNDERS:
        return True
    if ("import" in words and not _imported(text) <= _KNOWN) or _BARE.search(text):
        return True
    return any(_is_remarkable(*use) for use in set(_ATTRIBUTE.findall(text)))


def _is_remarkable(root: str, name: str, after: str) -> bool:
    """Return whether asking a name for an attribute may set it, or reach into a module."""
    inner = name not in _SYS if root == "sys" else root in PLAIN and not _is_public(root, name)
    return inner or (not after and name not in _ONLY_READ)


@lru_cache(maxsize=1024)
def _is_public(module: str, name: str) -> bool:
    public = getattr(importlib.import_module(module), "__all__", None)
    return name[0] != "_" if public is None else name in public


def _imported(text: str) -> set[str]:
    """Return the modules that are imported, and what an import may have taken for one."""
    bound: set[str] = set()
    for names in _IMPORTED.findall(text):
        modules, _, taken = names.partition(" import ")
        bound |= {part.split()[0] for part in modules.split(",") if part.strip()}
        bound |= {part for part in modules.split(",") if " as " in part and "numpy" not in part}
        bound |= _INNER.intersection(_WORD.findall(taken)) - _SYS
    return bound


def without_comments(text: str) -> str:
    """Return a text as the compiler reads names, without comments where there are no quotes."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return _COMMENT.sub(r"\1", text.replace("\\\n", " "))


def dunders(names: set[str]) -> set[str]:
    """Return those with two underscores at both ends."""
    return {name for name in names if name[:2] == "__" == name[-2:] and name.strip("_")}
