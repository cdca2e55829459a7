"""How much memory judging takes on the trusted side: bounds that hold whatever is printed."""

import tracemalloc
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness import excerpts
from harness.excerpts import count_characters, decode_head, shorten, shorten_bytes
from harness.grading import rules
from harness.grading.judge import judge
from harness.grading.rules import RULES
from harness.grading.rules.comparison_rule import LARGE
from harness.grading.rules.difference import bounds
from harness.grading.task import Task
from harness.grading.verdict import Difference, Grade, Verdict
from harness.problem import TestCase
from harness.sandbox.limits import Limits
from harness.sandbox.program import Program
from harness.sandbox.worker import Worker

MEGABYTE = 1_000_000
ESCAPE = "surrogateescape"
Measure = Callable[[Program, Sequence[tuple[str, str]]], tuple[Grade, float]]

# Pieces of outputs at which a decoder or a comparison could go wrong when it starts half-way.
BITS = (
    *(b"a", b"12", b"1.0", b"\n", b" ", b"\r", b"\x1c"),
    *(each.encode() for each in ("é", "\u2003", "\x85", "\U0001f600")),
    *(b"\x85", b"\xf0", b"\xf0\x9f", b"\x80", b"\x80" * 9, b"\xff"),
)
data = st.lists(st.sampled_from(BITS), max_size=30).map(b"".join)


@pytest.fixture
def measure(worker: Worker) -> Measure:
    """Judge, and how many megabytes Python took at most meanwhile, above what it had."""

    def run(program: Program, tests: Sequence[tuple[str, str]]) -> tuple[Grade, float]:
        cases = [TestCase(input=given, output=wanted, public=False) for given, wanted in tests]
        worker.run(Program("print(1)"), [b""], Limits(cpu_s=3.0))
        tracemalloc.start()
        try:
            grade = judge(worker, Task(program, cases, Limits(cpu_s=3.0)))
            return grade, tracemalloc.get_traced_memory()[1] / MEGABYTE
        finally:
            tracemalloc.stop()

    return run


def test_an_emoji_in_a_large_output_does_not_make_it_four_times_as_large(measure: Measure) -> None:
    program = Program("print('\\U0001f600' + 'a' * 20_000_000)")
    grade, peak = measure(program, [("", "1")])
    assert grade.verdict is Verdict.WRONG_ANSWER
    assert "20,000,004 bytes printed, too many to be right" in str(grade.tests[0].difference)
    assert grade.tests[0].got.startswith("\U0001f600aaa")
    assert "20000001" in grade.tests[0].got or "characters left out" in grade.tests[0].got
    assert peak < 30


def test_the_same_where_as_much_could_be_right(measure: Measure) -> None:
    program = Program("for _ in range(200_000): print('\\U0001f600' + 'a' * 99)")
    grade, peak = measure(program, [("", "\U0001f600aaa\n" * 140_000)])
    assert grade.verdict is Verdict.WRONG_ANSWER
    difference = grade.tests[0].difference
    assert difference is not None
    assert difference.where == "line 1, column 5 (140000 lines expected, 200000 printed)"
    assert peak < 35


def test_large_outputs_are_not_all_held_at_once(measure: Measure) -> None:
    program = Program("print(('1' * 99 + '\\n') * int(input()))")
    tests = [("60000", ("1" * 99 + "\n") * 60_000)] * 12
    grade, peak = measure(program, tests)
    assert grade.verdict is Verdict.ACCEPTED
    assert peak < 45  # of 72 that were printed


def test_large_inputs_are_not_all_encoded_at_once(measure: Measure) -> None:
    grade, peak = measure(Program("print(len(input()))"), [("1" * 4_000_000, "4000000")] * 10)
    assert grade.verdict is Verdict.ACCEPTED
    assert peak < 15


def test_a_large_result_is_not_made_a_value(measure: Measure) -> None:
    program = Program("def f(): return ['a' * 20_000_000]", entry_point="f")
    grade, peak = measure(program, [("", "[1]")])
    assert grade.verdict is Verdict.WRONG_ANSWER
    assert peak < 35


def test_a_result_of_far_more_values_than_expected_is_not_made_one() -> None:
    expected, got = f'["{"a" * 2_000_000}"]', "[" + "{}," * 4_000_000 + "{}]"
    tracemalloc.start()
    difference = RULES["lcb"].compare_value(expected, got.encode())
    peak = tracemalloc.get_traced_memory()[1] / MEGABYTE
    tracemalloc.stop()
    assert difference is not None
    assert difference.where == "size"
    assert peak < 40


@pytest.mark.parametrize("rule", ["lcb", "equality", "tokens", "apps_legacy"])
@given(expected=data, got=data)
def test_an_output_compares_as_bytes_as_it_does_as_text(
    rule: str, expected: bytes, got: bytes
) -> None:
    wanted = expected.decode("utf-8", "replace")
    printed = RULES[rule].printed
    assert printed is not None
    assert printed(wanted, got) == RULES[rule].output(wanted, got.decode("utf-8", ESCAPE))
    same = wanted.encode()
    assert printed(wanted, same) == RULES[rule].output(wanted, wanted)


@given(got=data)
def test_space_around_an_output_is_what_it_is_around_its_text(got: bytes) -> None:
    start, end = bounds(got)
    assert got[start:end].decode("utf-8", ESCAPE) == got.decode("utf-8", ESCAPE).strip()


@given(got=data, most=st.integers(0, 40))
def test_a_head_is_that_of_the_text(got: bytes, most: int) -> None:
    assert decode_head(got, most, ESCAPE) == got.decode("utf-8", ESCAPE)[:most]


@given(bits=st.lists(st.sampled_from(BITS), min_size=1, max_size=12), most=st.integers(40, 90))
def test_an_excerpt_is_that_of_the_text(bits: list[bytes], most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(excerpts, "_PIECE", 1_001)
        patch.setattr(excerpts, "_LARGE", 1_000)
        got = b"".join(bits) * (300_000 // len(b"".join(bits)))
        text = got.decode("utf-8", ESCAPE)
        assert count_characters(got, ESCAPE) == len(text)
        if len(text) > 70_000:  # a shorter one may be an excerpt itself
            assert shorten_bytes(got, most, ESCAPE) == shorten(text, most)


def test_a_rule_of_a_plug_in_has_all_of_an_output() -> None:
    def same_end(expected: str, got: str) -> Difference | None:
        right = got.endswith(expected)
        return None if right else Difference(where="its end", expected=expected, got=got[-9:])

    rule = rules.ComparisonRule(same_end, same_end)
    assert rule.compare_output("end", b"x" * (LARGE + 4 * MEGABYTE) + b"end") is None
    assert rule.compare_value("end", b"x" * (LARGE + 4 * MEGABYTE) + b"end") is None
