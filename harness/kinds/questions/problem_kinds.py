"""Both kinds of value questions: tools, extraction, judge."""

from functools import partial

from harness.agent.problem_kind import AnswerJudge, ProblemKind
from harness.kinds.questions.extraction import (
    extract_answer,
    extract_lcb_execution,
    extract_lcb_execution_cot,
    extract_lcb_test_output,
)
from harness.kinds.questions.judge import check_answerable, judge_answer
from harness.kinds.questions.write_answer import WriteAnswer
from harness.problem import Kind
from harness.tools.read_problem import ReadProblem

_TOOLS = ReadProblem(), WriteAnswer()
_JUDGE = AnswerJudge(grade=judge_answer, check=check_answerable)

TEST_OUTPUT = ProblemKind(
    Kind.TEST_OUTPUT_PREDICTION,
    _TOOLS,
    {
        "harness": partial(extract_answer, Kind.TEST_OUTPUT_PREDICTION),
        "lcb": extract_lcb_test_output,
    },
    judge=_JUDGE,
)
CODE_EXECUTION = ProblemKind(
    Kind.CODE_EXECUTION,
    _TOOLS,
    {
        "harness": partial(extract_answer, Kind.CODE_EXECUTION),
        "lcb": extract_lcb_execution,
        "lcb-cot": extract_lcb_execution_cot,
    },
    judge=_JUDGE,
    given_away="the answer to a code execution problem is what its program returns",
)
