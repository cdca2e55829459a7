"""Checkers of rows that are programs of their own, and the points that they may give."""

import re

from harness.errors import DataError
from harness.judged_by import Checker, CheckerProgram
from harness.kinds.code_tests.calls import CHECK_CLOSE, HELPERS
from harness.kinds.cpp.compilers import require_compiler
from harness.kinds.cpp.testlib import testlib_beside
from harness.languages.known import language
from harness.scoring import Scoring, TestGroup
from harness.sources.files.content_hash import content_hash
from harness.sources.files.row_checks import valid_python
from harness.sources.jsonl_row import RowChecker

FIELD = "checker"
TAKEN = ("test.in", "test.out", "test.ans", "feedback", "solution.cpp")
"""Names that the judge uses itself."""
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}", re.ASCII)
NAME_RULE = "a name has up to 100 letters, digits, _, . and -, and begins with none of . and -"
BYTE_ORDER_MARK = "\ufeff"
WITHIN_TOLERANCE = Checker(kind="check", code=f"{HELPERS}\n{CHECK_CLOSE}", takes_flags=True)
"""Checker of results that may be off by the tolerance that each test has as its flag."""
_EXITS = re.compile(r"exit|Exit")


class RowProgram:
    """A row's checker that is a program.

    Args:
        row: the checker as the row has it.
        where: place of the row, for errors.

    Raises:
        DataError: there is no compiler or no testlib.h for it, or it is not Python, or the name of
            a file is not allowed.
    """

    def __init__(self, row: RowChecker, where: str) -> None:
        self._program = _program_of(row, where)

    @property
    def checker(self) -> Checker:
        """The problem's checker."""
        return Checker(kind="program", program=self._program)

    def scoring(self, public: int, hidden: int) -> Scoring | None:
        """Return how tests give points: the hidden ones up to as many each, the public ones none.

        Args:
            public: number of public tests, which give points where no test is hidden.
            hidden: number of hidden tests.
        """
        points = self._program.most
        if points is None or not public + hidden:
            return None
        counted = tuple(range(public if hidden else 0, public + hidden))
        group = TestGroup(parts=counted, accept_score=points, own_scores="optional")
        parts: tuple[TestGroup, ...] = (group,)
        if hidden and public:
            shown = TestGroup(parts=tuple(range(public)), accept_score=0, own_scores="ignored")
            parts = (shown, group)
        root = TestGroup(parts=parts, last_only=True, verdict_of="always")
        return Scoring(root=root, maximum=points * len(counted), tests=public + hidden)

    def hash_of(self, digest: str) -> str:
        """Return a row's content hash, combined with that of its checker."""
        own = self._program
        shape = f"{own.protocol} {own.language} {own.interactive} {own.most}"
        texts = (each for file in sorted(own.files) for each in file)
        return content_hash(digest, shape, own.source, *texts)


def _program_of(row: RowChecker, where: str) -> CheckerProgram:
    code = row.code.removeprefix(BYTE_ORDER_MARK)
    if not code.strip():
        raise DataError(where, f"{FIELD}.code", "empty")
    files = tuple((name, text.removeprefix(BYTE_ORDER_MARK)) for name, text in row.files.items())
    for name, _ in files:
        if name in TAKEN or not NAME.fullmatch(name):
            what = f"{name!r:.60}: {NAME_RULE}, and none of {', '.join(TAKEN)}"
            raise DataError(where, f"{FIELD}.files", what)
    if not language(row.language).is_compiled:
        valid_python(code, f"{FIELD}.code", where)
        if not _EXITS.search(code):
            what = "it never calls exit: its verdict is its exit code"
            raise DataError(where, f"{FIELD}.code", what)
        for name, text in files:
            if name.endswith(".py"):
                valid_python(text, f"{FIELD}.files.{name}", where)
    else:
        require_compiler(row.language, where, FIELD)
        texts = (code, *(text for _, text in files))
        files += testlib_beside(texts, row.files, where, FIELD)
    return CheckerProgram(
        protocol=row.protocol,
        source=code,
        files=files,
        language=row.language,
        interactive=row.interactive,
        partial="wrong" if row.points is None else "counts",
        most=row.points,
    )
