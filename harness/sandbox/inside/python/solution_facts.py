"""What the text of a solution tells before it runs."""

import re
from types import CodeType
from typing import Any

# Any other access to a stream, a thread or a hook needs an import or a dunder name; modules of the
# preamble have some under a leading underscore. A program that evades this check keeps its own
# streams, threads and settings from one test to the next, as it can keep data in any module.
_WRITES = re.compile(
    r"import|__|frame|\b(?:print|input|open|_?sys|_?os|_?io|builtins|exec|eval|compile|getattr|vars"
    r"|globals|locals|dir|help|breakpoint|exit|quit|copyright|credits|license|_?thread(?:ing)?"
    r"|signal|gc|atexit|modules|f_back|f_globals|f_builtins)\b"
)


_DRAWS = re.compile(
    r"rand|shuffle|choice|sample|seed|uniform|triangular|variate|gauss|getstate|binomial"
)


class SolutionFacts:
    """Facts known about a solution before it runs.

    Attributes:
        code: the compiled source.
        meddles: whether it may change the built-ins. It then gets the real ones, which are
            restored for each test.
        has_nodes: whether arguments or result use the preamble's node classes.
        may_write: whether its text suggests that it can reach a standard stream, a thread or a
            hook of the interpreter. Code that comes with a test always can.
        draws: whether its text suggests that it draws random numbers.
        seeds: whether each process draws random numbers of its own; else all draw the same.
        wanted: the parts of the preamble it needs, set by `Preamble.fill`.
    """

    def __init__(self, job: dict[str, Any], code: CodeType) -> None:
        self.code = code
        self.text: str = job["code"]
        self.entry_point: str | None = job["entry_point"]
        self.arguments: list[str] = job["arguments"]
        self.result: str = job["result"]
        self.meddles = "builtins" in self.text
        self.draws = _DRAWS.search(self.text) is not None
        self.seeds: bool = job.get("seeds", False)
        self.has_nodes = not {*self.arguments, self.result} <= {"json"}
        calls = self.entry_point is not None and self.result not in {"tests", "session"}
        self.may_write = not calls or _WRITES.search(self.text) is not None
        self.wanted: list[CodeType] | None = None
