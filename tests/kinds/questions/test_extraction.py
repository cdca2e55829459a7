"""Answers found in what models write: by our rules, and by LiveCodeBench's with their faults."""

import time

import pytest
from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st

from harness.agent.extraction.code import LONGEST_ANSWER
from harness.kinds.questions.extraction import (
    asserted,
    asserted_by_lcb,
    extract_answer,
    extract_lcb_execution,
    extract_lcb_execution_cot,
    extract_lcb_test_output,
)
from harness.kinds.questions.judge import grade_answer
from harness.problem import Kind
from harness.run.plan.problem_kinds import rules_for

OUTPUT, EXECUTION = Kind.TEST_OUTPUT_PREDICTION, Kind.CODE_EXECUTION
NAME = "spiral"

# reply, answer, rule
REPLIES = {
    "tags": ("[ANSWER]5[/ANSWER]", "5", "answer tags"),
    "tags in small letters": ("<answer>\n[1, 2]\n</answer>", "[1, 2]", "answer tags"),
    "an assertion in tags": (
        "[ANSWER]\nassert spiral(x = 3) == 'a==b'\n[/ANSWER]",
        "'a==b'",
        "answer tags",
    ),
    "an equation in tags": ("[ANSWER]spiral(3) == 5[/ANSWER]", "5", "answer tags"),
    "a block in tags": (
        "[ANSWER]\n```python\nassert spiral(3) == [\n  1,\n]\n```\n[/ANSWER]",
        "[\n  1,\n]",
        "answer tags",
    ),
    "a bare block in tags": ("[ANSWER]\n```\n{1: 2}\n```\n[/ANSWER]", "{1: 2}", "answer tags"),
    "tags that the prompt has opened": (
        'assert spiral(3) == "x"\n[/ANSWER]',
        '"x"',
        "answer tags",
    ),
    "tags that are not closed": ("So:\n[ANSWER]\n7", "7", "answer tags, unclosed"),
    "the last of several": ("[ANSWER]5[/ANSWER] No: [ANSWER]6[/ANSWER]", "6", "answer tags"),
    "thoughts before tags": (
        "[THOUGHT]\nassert spiral(2) == 4, I think.\n[/THOUGHT]\n[ANSWER]\n9\n[/ANSWER]",
        "9",
        "answer tags",
    ),
    "what the tags are for": (
        "I put it between [ANSWER] and [/ANSWER].\n[ANSWER]7[/ANSWER]",
        "7",
        "answer tags",
    ),
    "only what the tags are for": (
        "I put it between [ANSWER] and [/ANSWER].\n\nassert spiral(3) == 7",
        "7",
        "assertion",
    ),
    "an expression in tags": ("[ANSWER]2 + 3[/ANSWER]", "2 + 3", "answer tags"),
    "a trick in tags": (
        "It is not that assert spiral(1) == 4.\n[ANSWER]assert spiral(1) == 3 or True[/ANSWER]",
        "assert spiral(1) == 3 or True",
        "answer tags",
    ),
    "an assertion": ("```python\nassert spiral([1], 2) == [[1]]\n```", "[[1]]", "assertion"),
    "of a method": ("assert Solution().spiral(1) == 2", "2", "assertion"),
    "the other way round": ("assert 2 == spiral(1)", "2", "assertion"),
    "with is": ("assert spiral(1) is None", "None", "assertion"),
    "with a message": ("assert spiral(1) == (2), 'must be 2'", "2", "assertion"),
    "in a sentence": ("So we have assert spiral(1) == 'a'.", "'a'", "assertion"),
    "between backticks": ("So `assert spiral('`') == '`'` holds.", "'`'", "assertion"),
    "in brackets": ("(that is, assert spiral(1) == 5)", "5", "assertion"),
    "over lines": ("assert spiral([\n1,\n2\n]) == [\n3,\n4\n]\nDone.", "[\n3,\n4\n]", "assertion"),
    "with a comment": ("assert spiral(1) == 5  # isn't it", "5", "assertion"),
    "the last of several assertions": (
        "As in assert spiral(1) == 1 and\nassert spiral(2) == 4:\nassert spiral(3) == 9",
        "9",
        "assertion",
    ),
    "the question after it": (
        "assert spiral(3) == 9\n(You asked: `assert spiral(3) == ??`)",
        "9",
        "assertion",
    ),
    "the question before it": (
        "You ask:\n```\nassert spiral(3) == # TODO\n```\nIt is:\n```\nassert spiral(3) == 9\n```",
        "9",
        "assertion",
    ),
    "the question with a name in it": (
        "assert spiral(3) == 9\nwhich is assert spiral(3) == expected",
        "9",
        "assertion",
    ),
    "another function's": ("assert other(3) == 1\n```\n9\n```", "9", "last block"),
    "an expression asserted": (
        "assert spiral(1) == 1\nassert spiral(3) == 4 + 5",
        "4 + 5",
        "assertion",
    ),
    "a line that says so": ("Example: assert spiral(1) == 1.\nAnswer: 6", "6", "answer line"),
    "a sentence that says so": ("Hm.\n\nThe final answer is `[1, 2]`.", "[1, 2]", "answer line"),
    "with emphasis": ("**Answer:** -5", "-5", "answer line"),
    "an equation that says so": ("Result: spiral(3) == 6", "6", "answer line"),
    "nothing else": ("[\n  1,\n  2\n]", "[\n  1,\n  2\n]", "whole text"),
    "the last line": ("It walks inward.\n\n[3, 4]", "[3, 4]", "last line"),
    "an equation in the last line": ("It walks.\nspiral(3) == [3]", "[3]", "last line"),
    "a last line after a block": (
        "The input is\n```\n[9, 9]\n```\nand so\n**[3, 4]**",
        "[3, 4]",
        "last line",
    ),
    "a block": (
        "```python\ndef spiral(x):\n    return x\n```\nreturns\n```\n5\n```",
        "5",
        "last block",
    ),
    "the last of the blocks": ("```\n4\n```\n```\n5\n```\nThat is all.", "5", "last block"),
    "an equation in a block": ("```python\nspiral(3) == 5\n```", "5", "last block"),
    "code in the last line": ("So `spiral(3)` returns `6`.", "6", "inline code"),
    "the question and nothing else": ("```\nassert spiral(3) == ??\n```", "", "none"),
    "the program and nothing else": ("```python\ndef spiral(x):\n    return 1\n```", "", "none"),
    "words": ("I cannot say.", "", "none"),
    "nothing": ("", "", "none"),
    "after thoughts": ("<think>[ANSWER]4[/ANSWER]</think>\nAnswer: 5", "5", "answer line"),
    "in thoughts alone": ("<think>[ANSWER]4[/ANSWER]</think>", "4", "answer tags"),
}


@for_each(("reply", "answer", "rule"), REPLIES.values(), ids=REPLIES)
def test_the_rule_that_finds_an_answer_is_named(reply: str, answer: str, rule: str) -> None:
    extraction = extract_answer(EXECUTION, reply, NAME)
    assert (extraction.code, extraction.rule) == (answer, rule)


def test_which_literals_are_answers_depends_on_the_kind() -> None:
    reply = "The value of it is\n[true, null]"
    assert extract_answer(OUTPUT, reply, NAME).code == "[true, null]"
    assert extract_answer(EXECUTION, reply, NAME).code == ""


def test_an_answer_is_read_from_any_assertion_without_a_function_name() -> None:
    assert extract_answer(OUTPUT, "assert f(1) == 2", None).code == "2"


literals = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=12)),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner),
    max_leaves=5,
)
FORMS = (
    "[ANSWER]{}[/ANSWER]",
    "[ANSWER]\nassert spiral(x = 'a == b') == {}\n[/ANSWER]",
    "[THOUGHT]\nFirst 1, then spiral(0) == 2.\n[/THOUGHT]\n[ANSWER]\n{}\n[/ANSWER]",
    "Let me see.\n\n```python\nassert spiral([1, '#']) == {}\n```\nThat follows from the loop.",
    "Hence `assert spiral([1]) == ??`:\nassert spiral([1]) == {}",
    "Answer: {}",
    "So it goes.\n\n{}",
    "So it goes.\n\n```\n{}\n```",
    "{}",
)


@given(literals, st.sampled_from(FORMS))
def test_an_answer_is_found_in_every_form_with_any_value(value: object, form: str) -> None:
    written = repr(value)
    if any(mark in written for mark in ("`", "ANSWER", "answer")):
        return  # which a fence, or a tag, ends at
    extraction = extract_answer(EXECUTION, form.replace("{}", written), NAME)
    assert grade_answer(EXECUTION, extraction.code, written).solved


@given(st.text(alphabet="[]ANSWER/assertspiral(1)='\"`\n#\\ ?,.{}", max_size=80))
def test_every_text_comes_to_an_answer_or_none(text: str) -> None:
    for kind in (OUTPUT, EXECUTION):
        for name, extract in rules_for(kind).extractors.items():
            extraction = extract(text, NAME)
            assert extraction.rule
            if name == "harness":
                assert bool(extraction.code) is (extraction.rule != "none")


HOSTILE = {
    "tags": "[ANSWER]and[/ANSWER]" * 50_000,
    "open assertions": "assert spiral([1," * 60_000,
    "open assertions in tags": ("[ANSWER]" + "assert spiral([1," * 3_500) * 16,
    "many assertions": "assert spiral(1) == ?\n" * 45_000,
    "escaped quotes": "assert '" + "\\'" * 500_000,
    "quotes": 'assert """' + '"' * 500_000,
    "stars": "Answer " + "*" * 60_000 + " is" * 1_000,
    "backticks": "`" * 1_000_000,
    "code": "`a" * 500_000,
    "blocks": "```\n1+1\n" * 100_000,
    "long blocks": ("```\n" + "1," * 30_000 + "x\n```\n") * 16,
    "lines": "\n" * 1_000_000,
    "brackets": "[" * 1_000_000,
}


@pytest.mark.thorough
@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_hostile_answers_are_searched_in_bounded_time(text: str) -> None:
    started = time.process_time()
    assert len(text) <= LONGEST_ANSWER
    extract_answer(OUTPUT, text, NAME)
    assert time.process_time() - started < 15


@for_each("kind", [OUTPUT, EXECUTION])
def test_an_answer_of_more_than_a_megabyte_is_not_searched(kind: Kind) -> None:
    for extract in rules_for(kind).extractors.values():
        extraction = extract("[ANSWER]1[/ANSWER]" + " " * LONGEST_ANSWER, NAME)
        assert (extraction.code, extraction.rule) == ("", "too long")


def test_assertions_come_last_first() -> None:
    text = "assert f(1) == 1\nassert f(2) == 4\nassert f(3) == ??"
    assert list(asserted(text, "f")) == ["4", "1"]
    assert list(asserted(text, "g")) == []


class TestUpstream:
    """LiveCodeBench's own rules."""

    @for_each(
        ("reply", "answer", "rule"),
        [
            ("```python\nassert f(1) == [2]\n```", "[2]", "last assert line"),
            ("assert f(1) == 1\nassert g(2) == 2", "2", "last assert line"),
            ("assert f(1) == 'a == b'", "'a == b'", "last assert line"),
            ("assert f(1) == 2 == 3", "2", "last assert line"),
            ("assert f(1) == 2, 'message'", "2", "last assert line"),
            ("assert f(1) == 3 or True", "assert f(1) == 3 or True", "last assert line"),
            ("assert f(1) == [\n1]", "assert f(1) == [", "last assert line"),
            ("assert f(1) != 3", "assert f(1) != 3", "last assert line"),
            ("assertion is easy", "assertion is easy", "last assert line"),
            ("```\n1\n```\n```python\n 5\n```\n```\n6\n```", "5", "first block"),
            ("```\n1\n```\n```\n2\n```", "1", "first block"),
            ("```python\n# assert\nx = 1\n  assert f(1) == 2\n```", "2", "first block"),
            ("```python\n5", "", "none"),
            ("5", "", "none"),
        ],
    )
    def test_a_test_s_output(self, reply: str, answer: str, rule: str) -> None:
        extraction = extract_lcb_test_output(reply, "f")
        assert (extraction.code, extraction.rule) == (answer, rule)

    @for_each(
        ("reply", "answer"),
        [
            ("[ANSWER]\nassert f(1) == 2\n[/ANSWER]", "2"),
            ("assert f(1) == 2\nThat is all.", "2"),
            ("assert f(1) == [1,\n2]\n[/ANSWER]", "[1,\n2]"),
            ("2\n[/ANSWER]\nmore", "2"),
            ("2", "2"),
            ("\n2", ""),
            ("assert f(1) == 'a==b'\n[/ANSWER]", "'a"),
            ("If x == 3, then assert f(1) == 2", "3, then assert f(1)"),
            ("[ANSWER]\n2\n[/ANSWER]", "[ANSWER]\n2"),
        ],
    )
    def test_lcb_extraction_finds_an_execution_answer(self, reply: str, answer: str) -> None:
        extraction = extract_lcb_execution(reply, "f")
        assert extraction.code == answer
        assert (extraction.rule == "none") is (not answer)

    @for_each(
        ("reply", "answer"),
        [
            ("x == 3 here.\n[/THOUGHT]\n[ANSWER]\nassert f(1) == 2\n[/ANSWER]", "2"),
            ("[ANSWER]\n2\n[/ANSWER]", "2"),
            ("[ANSWER]1[/ANSWER] no [ANSWER]2[/ANSWER]", "1"),
            ("x == 3 here.\nassert f(1) == 2", "3 here."),
        ],
    )
    def test_an_execution_that_is_reasoned_out(self, reply: str, answer: str) -> None:
        assert extract_lcb_execution_cot(reply, "f").code == answer

    @for_each(
        ("prediction", "value"),
        [
            ("assert f(1) == [2]", "[2]"),
            ("  [1,\n 2] ", "[1,\n 2]"),
            ("# assert f(1) == 1\nassert f(2) == 2\nassert f(3) == 3", "2"),
            ("'assert'", "'assert'"),
            ("", ""),
        ],
    )
    def test_the_side_of_a_prediction_that_counts(self, prediction: str, value: str) -> None:
        assert asserted_by_lcb(prediction) == value
