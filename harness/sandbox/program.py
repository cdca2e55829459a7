"""A program to run in the sandbox: its code and how to call it."""

import marshal
from dataclasses import dataclass, field
from typing import Any, Self

from harness.languages import PYTHON, known
from harness.languages.functions import Function
from harness.languages.starters import function_of
from harness.problem import Problem, ProblemView, Signature


@dataclass(frozen=True, slots=True)
class Program:
    """Judged code and how to call it.

    Attributes:
        code: the source.
        preamble: source with names that the code relies on; runs first, in its namespace.
        entry_point: function or `Solution` method to call; None to run the code as a script.
        signature: codecs of the arguments and the result.
        language: name of its language, see `harness.languages`.
        flags: the compiler's flags; empty for those of the language.
        files: names and texts of the files beside it: headers, and further sources in its language.
        links_files: whether the further sources are compiled too, and are not just there.
        function: types of the entry point, in a language that is compiled.
        compile_s: CPU seconds of all passes of the compiler; None for the usual ones.
    """

    code: str
    preamble: str = ""
    entry_point: str | None = None
    signature: Signature = field(default_factory=Signature)
    language: str = PYTHON
    flags: str = ""
    files: tuple[tuple[str, str], ...] = ()
    links_files: bool = True
    compile_s: float | None = None
    function: Function | None = None

    @property
    def is_compiled(self) -> bool:
        """Whether a compiler makes a program of it."""
        return known.language(self.language).is_compiled

    @classmethod
    def of(
        cls, problem: Problem | ProblemView, code: str, language: str = PYTHON, flags: str = ""
    ) -> Self:
        """Return the program of a problem's solution.

        Raises:
            NoFunctionError: it asks for a function that the language cannot have.
        """
        if known.language(language).is_compiled:  # the preamble is Python
            function = None if problem.entry_point is None else function_of(problem, language)
            return cls(
                *(code, "", problem.entry_point, problem.signature),
                language=language,
                flags=flags,
                files=problem.included,
                function=function,
            )
        return cls(code, problem.preamble, problem.entry_point, problem.signature)


def packed(program: Program, *, apart: bool = False, seeds: bool = False) -> bytes:
    """Return a program in `marshal`'s format, which its process decodes fastest.

    Args:
        program: the program.
        apart: as for `harness.sandbox.trial.Trial`.
        seeds: the same.
    """
    data: dict[str, Any] = {"code": program.code, "entry_point": program.entry_point}
    data["arguments"] = [str(each) for each in program.signature.arguments]
    data["result"] = str(program.signature.result)
    return marshal.dumps(data | {"apart": apart, "seeds": seeds})
