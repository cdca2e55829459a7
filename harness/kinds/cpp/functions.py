"""Functions in C++: starter code, and the driver that calls a solution's function.

The driver, `driver.h`, stands before the solution, and a `main` of a few lines after it. It
reads the arguments, calls the function, and writes the result to a descriptor of its own. So what a
solution prints is not a result, and neither is what it writes there: see `word` of
`harness.sandbox.trial.Trial`.
"""

import re
from functools import cache
from pathlib import Path

from harness.languages.functions import MOST_DEPTH, Function, NoFunctionError, Scalar, ValueType

DRIVER = Path(__file__).parent / "driver.h"
SOURCE = "solution.cpp"
USE = "compiled after `#include <bits/stdc++.h>` and `using namespace std;`, without a `main`,"
NAMES: dict[Scalar, str] = {
    "int": "int",
    "long": "long long",
    "double": "double",
    "string": "string",
    "bool": "bool",
    "char": "char",
}
BY_NAME: dict[str, Scalar] = {name: scalar for scalar, name in NAMES.items()}
_WORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t
char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
constinit continue decltype default delete do double dynamic_cast else enum explicit export
extern false float for friend goto if inline int long main mutable namespace new noexcept not
not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires
return short signed sizeof static static_assert static_cast std struct switch template this
thread_local throw true try typedef typeid typename union unsigned using virtual void volatile
wchar_t while xor xor_eq
"""
KEYWORDS = frozenset(_WORDS.split())
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*", re.ASCII)
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_MOST_STARTER = 1 << 16
_CALL_OF_METHOD = """\
struct harness_call {{
    template <class S, class... A>
    static auto call(S &solution, A &&...a)
        -> decltype(solution.{name}(static_cast<A &&>(a)...)) {{
        return solution.{name}(static_cast<A &&>(a)...);
    }}
    template <class S> static auto method() -> decltype(&S::{name}) {{ return &S::{name}; }}
}};
int main() {{ return harness_driver::run<harness_call, {owner}, {types}>(); }}
"""
_CALL_OF_FUNCTION = """\
struct harness_call {{
    template <class S, class... A>
    static auto call(S &, A &&...a) -> decltype({name}(static_cast<A &&>(a)...)) {{
        return {name}(static_cast<A &&>(a)...);
    }}
}};
int main() {{ return harness_driver::run<harness_call, harness_driver::Nothing, {types}>(); }}
"""
_MAIN_USES = (
    "auto bool char class decltype double int long main return static static_cast struct template"
)
_UNDONE = "".join(f"#undef {word}\n" for word in _MAIN_USES.split())


def starter_of(function: Function) -> str:
    """Return starter code as LeetCode writes it.

    Raises:
        NoFunctionError: its name is a word of the language.
    """
    _check_name(function.name)
    parameters = ", ".join(
        f"{_spelled(kind)}{'& ' if kind.depth else ' '}{_parameter(name)}"
        for name, kind in function.parameters
    )
    result = "void" if function.result is None else _spelled(function.result)
    head = f"{result} {function.name}({parameters}) {{"
    if not function.owner:
        return f"{head}\n    \n}}\n"
    return f"class {function.owner} {{\npublic:\n    {head}\n        \n    }}\n}};\n"


def read_starter(text: str, name: str) -> Function:
    """Return the function that starter code declares; a result of void has the type None.

    Raises:
        NoFunctionError: there is none of that name, or a type is not supported.
    """
    _check_name(name)
    code = _COMMENT.sub(" ", text[:_MOST_STARTER])
    match = re.search(
        rf"(?P<result>[\w:<>&\s]*?[\w>&])\s*\b{re.escape(name)}\s*\((?P<parameters>[^()]*)\)", code
    )
    if match is None:
        raise NoFunctionError(f"its C++ starter code declares no function {name}")
    before = code[: match.end("result")]
    owner = re.findall(r"\b(?:class|struct)\s+(\w+)[^;{]*\{", before)
    declaration = re.split(r"[:;{}]\s*", match["result"].replace("::", "\0"))[-1].replace(
        "\0", "::"
    )
    result = re.sub(r"\b(?:static|inline|virtual|constexpr)\b", " ", declaration).strip()
    parameters = [_declared(each) for each in _split(match["parameters"])]
    kind = None if result == "void" else _type_of(result)
    return Function(name, tuple(parameters), kind, owner[-1] if owner else "")


def around(function: Function, *, everything: bool) -> tuple[str, str]:
    """Return the code before and after a solution that make a program of it.

    Args:
        function: the function.
        everything: whether the result is followed by the arguments after the call.
    """
    _check_name(function.name)
    form = _CALL_OF_METHOD if function.owner else _CALL_OF_FUNCTION
    kinds = [_spelled(kind).replace("vector", "std::vector") for _, kind in function.parameters]
    kinds = [kind.replace("string", "std::string") for kind in kinds]
    rule = "in_place" if function.result is None else "returned"
    rule = "everything" if everything else rule
    types = ", ".join([f"harness_driver::Rule::{rule}", *kinds])
    main = form.format(name=function.name, owner=function.owner, types=types)
    before = f'{_driver()}\n#define main harness_other_main\n#line 1 "{SOURCE}"\n'
    return before, f'\n#line 1 "driver"\n{_UNDONE}{main}'


@cache
def _driver() -> str:
    return DRIVER.read_text(encoding="utf-8")


def _check_name(name: str) -> None:
    if name in KEYWORDS or not _IDENTIFIER.fullmatch(name):
        raise NoFunctionError(f"{name!r:.40} cannot be the name of a C++ function")


def _parameter(name: str) -> str:
    return f"{name}_" if name in KEYWORDS or not _IDENTIFIER.fullmatch(name) else name


def _spelled(kind: ValueType) -> str:
    return "vector<" * kind.depth + NAMES[kind.scalar] + ">" * kind.depth


def _split(parameters: str) -> list[str]:
    """Return parameters, which no comma outside of `<>` has."""
    parts, depth = [""], 0
    for letter in parameters:
        depth += {"<": 1, ">": -1}.get(letter, 0)
        if letter == "," and not depth:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts] if parameters.strip() else []


def _declared(parameter: str) -> tuple[str, ValueType]:
    match = re.fullmatch(r"(.*[\s>&])(\w+)", parameter.partition("=")[0].strip(), re.DOTALL)
    if match is None:
        raise NoFunctionError(f"its C++ starter code has a parameter {parameter!r:.60}")
    return match[2], _type_of(match[1])


def _type_of(text: str) -> ValueType:
    """Return a type by its C++ name, with or without `const`, `&` and `std::`."""
    plain = re.sub(r"\bconst\b|&|\bstd::", " ", text)
    plain, depth = " ".join(plain.split()), 0
    while (inner := re.fullmatch(r"vector ?< ?(.*?) ?>", plain)) and depth < MOST_DEPTH:
        plain, depth = inner[1], depth + 1
    scalar = BY_NAME.get(plain)
    if scalar is None:
        raise NoFunctionError(f"it has a value of the type {' '.join(text.split())!r:.60}")
    return ValueType(scalar, depth)
