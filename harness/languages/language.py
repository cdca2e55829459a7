"""What the judge, the prompts and the readers of solutions know of a language."""

from collections.abc import Callable
from typing import NamedTuple, Protocol

from harness.languages import PYTHON
from harness.languages.functions import Function


class Compiler(NamedTuple):
    """A compiler of this machine.

    Attributes:
        path: its real path.
        version: first line of what it says of itself.
        folders: folders it needs to read, besides the system's libraries.
        command: function from flags to the command, which reads `source` and writes `binary`.
    """

    path: str
    version: str
    folders: tuple[str, ...]
    command: Callable[[str], list[str]]


class FunctionForm(NamedTuple):
    """How a language writes functions that the judge calls. All raise NoFunctionError.

    Attributes:
        starter_of: writes the starter code of a function.
        read_starter: reads the function of a name that starter code declares.
        around: returns the code before and after a solution that make a program of it.
        use: what is done with a solution before its function is called, after "your code is".
        example: a solution of `example_function`, to try the compiler's flags.
    """

    starter_of: Callable[[Function], str]
    read_starter: Callable[[str, str], Function]
    around: "Around"
    use: str
    example: str
    example_function: Function


class Around(Protocol):
    """Returns the code before and after a solution that calls its function."""

    def __call__(self, function: Function, *, everything: bool) -> tuple[str, str]: ...  # noqa: D102


class Language(NamedTuple):
    """A language that solutions can be written in.

    Attributes:
        name: its name in settings, data and results.
        title: its name in prose.
        endings: endings of its files.
        fences: names after a Markdown fence, in lower case.
        flags: default flags of the compiler; empty where there is none.
        source: name of a solution's file.
        example: a short program, to try the compiler's flags.
        sound: a program that prints a word backwards, with `{nonce}` in a comment, to try a sandbox
            with; empty where there is no compiler.
        placeholder: a comment that stands for a solution, for examples of calls.
        functions: how functions are called; None where the runner calls them itself, or never.
        is_source: whether a text is, or may be, a whole source in it.
        compiler: finds the compiler; None for a language without one. Raises MissingCompilerError.
        marks: texts that a whole program has; empty where they are not looked for.
        bare: returns the part of a text without fences that may be source.
        lacks_body: whether a function of a name in some code has no body yet, as in starter code.
    """

    name: str
    title: str
    endings: tuple[str, ...]
    fences: tuple[str, ...]
    is_source: Callable[[str], bool]
    flags: str = ""
    source: str = ""
    example: str = ""
    sound: str = ""
    placeholder: str = ""
    functions: FunctionForm | None = None
    compiler: Callable[[], Compiler] | None = None
    marks: tuple[str, ...] = ()
    bare: Callable[[str], str] = str.strip
    lacks_body: Callable[[str, str], bool] = lambda code, name: False  # noqa: ARG005

    @property
    def is_compiled(self) -> bool:
        """Whether a compiler makes a program of a solution, which each test starts anew."""
        return self.compiler is not None

    def is_program(self, code: str) -> bool:
        """Whether a code has all marks of a whole program."""
        return all(mark in code for mark in self.marks)

    @property
    def mark(self) -> str:
        """Its name where it has to be said: empty for Python, which goes without saying."""
        return "" if self.name == PYTHON else self.name


class MissingCompilerError(Exception):
    """A language cannot be compiled here; the message says what to install."""
