"""LiveCodeBench's rows of test output prediction.

On the hub they are `livecodebench/test_generation`: a row has a LeetCode problem and one test of
it, and asks for a right solution's result for the test's input. Upstream's reader is the reference
for the meaning of a row (https://github.com/LiveCodeBench/LiveCodeBench,
`lcb_runner/benchmarks/test_output_prediction.py` and, for how a call is put to the model,
`lcb_runner/prompts/test_output_prediction.py`).
"""

import json
import re

from harness.errors import DataError
from harness.kinds.questions.question_rows import question_of
from harness.problem import Kind, Problem, TestCase
from harness.sources.files.content_hash import content_hash
from harness.sources.files.lines import Line
from harness.sources.files.row_checks import check_function_test, text_column
from harness.sources.livecodebench import fields
from harness.sources.signature import signature_of

COLUMNS = (
    *("question_title", "question_content", "question_id", "contest_id", "contest_date"),
    *("difficulty", "test", "starter_code", "function_name", "test_id"),
)
MARKS = ("test", "test_id", "function_name")
"""Columns that identify a row of test output prediction."""

_WORDS = {
    "true": "True",
    "false": "False",
    "null": "None",
    "NaN": 'float("nan")',
    "Infinity": 'float("inf")',
}
_STRING_OR_WORD = re.compile(r'"(?:[^"\\]|\\.)*"|[A-Za-z]+')


def parse_row(line: Line, parsed: fields.Row | None = None) -> Problem:
    """Return the problem of a row of test output prediction; its test, the answer, is hidden.

    Args:
        line: the row.
        parsed: its parsed content, if known.

    Raises:
        DataError: a column is missing or invalid.
    """
    row, where = fields.columns(line, COLUMNS, parsed), line.where
    name = fields.function_name(row, where)
    statement = fields.written(row, "question_content", where)
    starter = text_column(row, "starter_code", where)
    native = "_".join(fields.number_or_name(row, key, where) for key in ("question_id", "test_id"))
    test = _predicted_test(row, where)
    return question_of(
        row,
        where,
        test,
        id=f"livecodebench/test_generation/{native}",
        kind=Kind.TEST_OUTPUT_PREDICTION,
        title=text_column(row, "question_title", where),
        statement=statement,
        starter_code=starter,
        entry_point=name,
        signature=signature_of(starter, name),
        call=call_of(name, test.input),
        aliases=(native,),
        content_hash=content_hash(statement, starter, name, test.input, test.output),
    )


def call_of(name: str, arguments: str) -> str:
    """Return the call of a function, as Python.

    Upstream joins the lines by commas and leaves `true` and `null` as in JSON, which is not Python:
    the expression would have no value.

    Args:
        name: name of the function.
        arguments: one JSON value per line, as in tests.
    """
    lines = (_STRING_OR_WORD.sub(_as_python, line.strip()) for line in arguments.split("\n"))
    return f"{name}({', '.join(line for line in lines if line)})"


def _as_python(token: re.Match[str]) -> str:
    word = token[0]
    if word[0] != '"':
        return _WORDS.get(word, word)
    foreign = r"\/" in word or r"\u" in word  # escapes that differ in Python
    return repr(json.loads(word)) if foreign else word


def _predicted_test(row: fields.Row, where: str) -> TestCase:
    match fields.json_list(text_column(row, "test", where).encode(), "test", where):
        case [{"input": str(given), "output": str(expected)}]:
            check_function_test(given, expected, where, "test")
            return TestCase(input=given, output=expected, public=False)
        case [_]:
            raise DataError(where, "test", "input and output must be there, as strings")
        case many:
            raise DataError(where, "test", f"one test is wanted, not {len(many)}")
