"""What a format writes, the reader gives back byte for byte; what is not a call stays text."""

import json
import random
from typing import Any

import pytest
from for_each import for_each
from generated_calls import FORMATS, TOOLS, odd_text, program

from harness.models.text_tools.reader import read_calls

CALLS = 10_000  # in all formats together; `tests/benchmarks/round_trip.py` takes more


def read(text: str) -> list[tuple[str, Any]]:
    return [(call.name, json.loads(call.arguments)) for call in read_calls(text, TOOLS).calls]


@pytest.mark.thorough
@pytest.mark.parametrize("name", FORMATS)
def test_a_program_comes_back_as_it_was_written(name: str) -> None:
    written = FORMATS[name]
    for number in range(CALLS // len(FORMATS)):
        rng = random.Random(f"{name}/{number}")
        code = odd_text(rng) if written.exact and number % 3 == 0 else program(rng)
        text = "I write it now:\n" * (number % 5 == 0) + written.write(code)
        run = written.run if number % 2 else None
        calls = read(f"{text}\n{run}" if run else text)
        assert calls[0] == ("write_solution", {"code": written.expected(code)})
        assert all(each == ("run_tests", {}) for each in calls[1:])
        assert len(calls) == 2 if run else len(calls) <= 2


@for_each("name", FORMATS)
def test_half_a_call_is_never_a_whole_one(name: str) -> None:
    """Wherever the token limit cuts a message off, no part of its program is stored."""
    rng = random.Random(name)
    for _ in range(4):
        code = program(rng)
        whole = FORMATS[name].expected(code)
        text = FORMATS[name].write(code)
        for end in sorted(rng.sample(range(len(text)), k=min(40, len(text)))):
            for call in read_calls(text[:end], TOOLS, cut_off=True).calls:
                assert call.name in {"write_solution", "unnamed", "run_tests"} or end < len(text)
                arguments = _decoded(call.arguments)
                if isinstance(arguments, dict) and "code" in arguments:
                    assert arguments["code"].strip() == whole.strip()


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


PROSE = (
    "I would call run_tests() next, but write_solution(code) comes first.",
    "Use `write_solution` with `code`, then `run_tests`.",
    'A call looks like {"name": "run_tests", "arguments": {}} in JSON.',
    "The tag <write_solution> holds the code, <tool_call> a call, [TOOL_CALLS] too.",
    "Action: I read the problem again.\nThen I write it.",
    "The function `to=functions.run_tests` is called like this.",
    "call:run_tests{} is how it is written.",
)
BLOCKS = (
    "```python\n{code}\n```",
    '```python\nCALL = {{"name": "run_tests", "arguments": {{}}}}\n{code}\n```',
    "```python\ndef run_tests():\n    pass\n\nrun_tests()\n{code}\n```",
    '```json\n{{"name": "Bob", "age": 5}}\n```',
    '```json\n{{"input": [1, 2], "expected": "3"}}\n```',
    '```\n{{"a": 1, "b": [1, 2]}}\n```',
    '```json\n{{"name": "TOOL", "arguments": {{"ARGUMENT": "VALUE"}}}}\n```',
    '<think>I could call <tool_call>{{"name": "run_tests", "arguments": {{}}}}</tool_call></think>',
    '<tool_result>\n```json\n{{"name": "run_tests", "arguments": {{}}}}\n```\n</tool_result>',
)


def test_text_without_a_call_stays_text() -> None:
    for number in range(500):
        rng = random.Random(number)
        parts = [*rng.choices(PROSE, k=2), *rng.choices(BLOCKS, k=2)]
        rng.shuffle(parts)
        code = "\n".join(line for line in program(rng).splitlines() if "```" not in line)
        text = "\n\n".join(part.replace("{{", "{").replace("}}", "}") for part in parts)
        text = text.replace("{code}", code)
        assert read_calls(text, TOOLS) == (text, ()), text
