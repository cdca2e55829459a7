"""LiveCodeBench's rows of code execution.

On the hub they are `livecodebench/execution-v2`: a row has a function written for a LeetCode
problem and one call of it, and asks for the call's value (`lcb_runner/benchmarks/code_execution.py`
at https://github.com/LiveCodeBench/LiveCodeBench). Call and value are Python, which is parsed here
and never run.
"""

import ast

from harness.errors import DataError
from harness.kinds.questions.question_rows import question_of
from harness.problem import Kind, Problem, TestCase
from harness.sources.files.content_hash import content_hash
from harness.sources.files.lines import Line
from harness.sources.literals import UnreadableError, parse
from harness.sources.livecodebench import fields

COLUMNS = (
    *("question_id", "contest_id", "contest_date", "difficulty", "function_name"),
    *("code", "input", "output", "id", "problem_id", "numsteps"),
)
MARKS = ("code", "input", "output")
"""Columns that identify a row of code execution."""


def parse_row(line: Line, parsed: fields.Row | None = None) -> Problem:
    """Return the problem of a row of code execution; its test, the answer, is hidden.

    Args:
        line: the row.
        parsed: its parsed content, if known.

    Raises:
        DataError: a column is missing or invalid.
    """
    row, where = fields.columns(line, COLUMNS, parsed), line.where
    name = fields.function_name(row, where)
    code = fields.written(row, "code", where)
    test = TestCase(
        input=_expression(row, "input", where),
        output=_expression(row, "output", where),
        public=False,
    )
    native = fields.number_or_name(row, "id", where)
    return question_of(
        row,
        where,
        test,
        id=f"livecodebench/execution/{native}",
        kind=Kind.CODE_EXECUTION,
        title=name,
        statement="",
        entry_point=name,
        call=test.input,
        code=code,
        aliases=(native,),
        content_hash=content_hash(code, name, test.input, test.output),
    )


def _expression(row: fields.Row, name: str, where: str) -> str:
    expression = fields.written(row, name, where).strip()
    try:
        body = parse(expression).body
    except UnreadableError as error:
        raise DataError(where, name, str(error)) from None
    if not (len(body) == 1 and isinstance(body[0], ast.Expr)):
        raise DataError(where, name, "not one Python expression")
    return expression
