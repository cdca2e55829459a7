"""Calls as real models wrote them, and unlucky texts around them."""

import json
from pathlib import Path
from typing import Any

from for_each import for_each
from generated_calls import TOOLS
from recorded_answers import counted

from harness.models.text_tools.arguments import without_fence
from harness.models.text_tools.reader import read_calls
from harness.python_source import parse_or_none

FORMATS = json.loads(Path(__file__).with_name("tool_formats.json").read_text())
FORMS = {form["format"]: form["text"] for form in FORMATS["forms"]}
"""One message a format of current models: `write_solution` with the same code, then `run_tests`."""
THOUGHT_ONLY = "call in think only"
CALL = {"name": "write_solution", "arguments": {"code": "print(1)"}}
WRITTEN = ("write_solution", {"code": "print(1)"})
RUN = ("run_tests", {})


def read(text: str, *, cut_off: bool = False) -> list[tuple[str, Any]]:
    return [
        (call.name, _decoded(call.arguments))
        for call in read_calls(text, TOOLS, cut_off=cut_off).calls
    ]


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def fence(value: Any, tag: str = "json") -> str:
    return f"```{tag}\n{value if isinstance(value, str) else json.dumps(value)}\n```"


def test_every_text_of_a_real_model_is_read(test_data: Path) -> None:
    texts = json.loads((test_data / "real_model" / "tool_call_texts.json").read_text())
    assert len(texts) == 86
    for each in texts:
        calls = read(each["text"])
        if each["format"] == THOUGHT_ONLY:
            assert calls == []
            continue
        name, arguments = calls[0]
        assert (name, [*arguments]) == ("write_solution", ["code"]), each["format"]
        assert parse_or_none(without_fence(arguments["code"])) is not None, each["format"]
        assert calls[1:] in ([], [RUN]), each["format"]
        thought = each["format"] == "think then call"
        assert bool(calls[1:]) is ("run_tests" in each["text"] and not thought), each["format"]


@for_each("text", FORMS.values())
def test_the_formats_of_current_models_are_read(text: str) -> None:
    assert read(text) == [("write_solution", {"code": FORMATS["code"]}), RUN]
    known = read_calls(text, TOOLS, known_only=True)
    assert [call.name for call in known.calls] == ["write_solution", "run_tests"]
    assert FORMATS["code"].splitlines()[0] not in known.text


@for_each("text", FORMS.values())
def test_a_message_that_was_cut_off_hands_in_no_half_program(text: str) -> None:
    for end in range(1, len(text), 3):
        for name, arguments in read(text[:end], cut_off=True):
            whole = arguments in (None, {}) or arguments["code"].strip() == FORMATS["code"].strip()
            assert name == "run_tests" or whole, text[:end]


class TestVariantsOfTheFormats:
    CODE = "a = [1]\nprint(a[0] < 2, ']]>')"

    @for_each(
        "text",
        [
            "<xy:tool_call>\n<xy:invoke name='write_solution'>\n<xy:parameter name='code'>{}"
            "</xy:parameter></xy:invoke></xy:tool_call>",
            ']<]other[>[<tool_call>]<]other[>[<invoke name="write_solution">]<]other[>[<code>{}'
            "]<]other[>[</code>]<]other[>[</invoke>]<]other[>[</tool_call>",
            '<function name="write_solution"><param name="code"><![CDATA[{}]]></param></function>',
            "<tool_call:abc>write_solution<arg_key:abc>code</arg_key:abc>\n"
            "<arg_value:abc>{}</arg_value:abc></tool_call:abc>",
            '<|open|>call index="3" tool="functions.write_solution:0" type="x"<|sep|>\n'
            '<|open|>argument type="string" key="code"<|sep|>{}<|close|>argument<|sep|>'
            "<|close|>call<|sep|>",
        ],
    )
    def test_the_marks_of_other_makers_are_no_part_of_the_program(self, text: str) -> None:
        code = self.CODE
        if "CDATA" in text:
            code = code.replace("]]>", "]]]]><![CDATA[>")
        assert read(text.replace("{}", code)) == [("write_solution", {"code": self.CODE})]

    @for_each(
        "text",
        [
            '<|tool_call>call:write_solution{code:<|"|>print(1)',
            '<|open|>call tool="write_solution"<|sep|><|open|>argument key="code"<|sep|>print(1)',
            '<function name="write_solution"><param name="code"><![CDATA[print(1)',
        ],
    )
    def test_a_call_that_breaks_off_is_a_broken_one(self, text: str) -> None:
        assert read(text) == [("write_solution", None)]

    def test_a_prompt_of_python_is_no_call(self) -> None:
        text = ">>> run_tests\n{'a': 1}\n>>>other_tool\n{}"
        assert read_calls(text, TOOLS) == (text, ())


class TestBlocksWithinBlocks:
    @for_each("marks", ["```", "~~~~", "````"])
    @for_each("tag", ["python", "py", "text"])
    def test_the_inner_one_is_the_program(self, marks: str, tag: str) -> None:
        code = 'def f():\n    """An example:\n\n    ```\n    1\n    ```\n    """\n'
        text = f"{marks}write_solution\n```{tag}\n{code}```\n{marks}\n```run_tests\n```"
        assert read(text) == [("write_solution", {"code": code}), RUN]

    def test_the_outer_one_may_lack_its_end(self) -> None:
        text = "```write_solution\n```python\nprint(1)\n```\nNow I run it.\n```run_tests\n```"
        assert read(text) == [("write_solution", {"code": "print(1)\n"}), RUN]

    def test_an_empty_block_is_no_outer_one(self) -> None:
        text = "```write_solution\n```\n```python\nprint(1)\n```\nDone."
        assert read(text) == [("write_solution", {"code": "print(1)\n"})]


class TestThoughtsThatNothingCloses:
    CALLS = f"<tool_call>\n{json.dumps(CALL)}\n</tool_call>\n<tool_call>run_tests</tool_call>"

    @for_each("opening", ["<think>", "<longcat_think>", "<|channel>thought\n"])
    def test_calls_at_their_end_are_meant(self, opening: str) -> None:
        text = f"{opening}\nOne of {fence(CALL)} and <tool_call>no</tool_call>.\n{self.CALLS}\n"
        assert read(text) == [WRITTEN, RUN]
        assert read_calls(text, TOOLS).text.startswith(opening.strip())

    @for_each(
        "text",
        [
            f"<think>{CALLS} would be a call.",
            f"<think>{CALLS[:-30]}",
            f"<think>{fence(CALL)}",
            '<think>I <tool_call>{"name": "other", "arguments": {}}</tool_call>',
            '<think><tool_call>{"name": "write_solution", "arguments": {}}</tool_call>',
            f"<tool_result>{CALLS}",
        ],
        ids=["words after", "broken off", "a fence", "unknown", "without its code", "made up"],
    )
    def test_other_calls_are_only_thought_of(self, text: str) -> None:
        assert read(text) == []

    def test_none_is_taken_where_the_message_was_cut_off(self) -> None:
        assert read(f"<think>{self.CALLS}", cut_off=True) == []


def test_every_solution_of_the_recorded_runs_is_read(test_data: Path) -> None:
    counts = counted(test_data / "real_model" / "qwen2.5-coder-1.5b.tar.gz")
    for run, calls in (("f-agentic", 57), ("h3", 47)):
        assert [counts[run, what] for what in ("calls", "read", "Python")] == [calls] * 3


class TestUnescapedCode:
    DOCSTRING = 'def f(n):\n    """Doc, "quoted": x."""\n    return "}"'

    @for_each(
        "written",
        [
            DOCSTRING.replace("\n", "\\n"),
            DOCSTRING,
            DOCSTRING.replace("\n    return", "\\n    return"),
        ],
        ids=["escaped newlines", "real newlines", "both"],
    )
    @for_each("around", ["```json\n{}\n```", "<tool_call>{}</tool_call>", "{}"])
    def test_a_docstring_in_a_string_is_stored(self, written: str, around: str) -> None:
        call = f'{{"name": "write_solution", "arguments": {{"code": "{written}"}}}}'
        assert read(around.replace("{}", call)) == [("write_solution", {"code": self.DOCSTRING})]

    def test_a_docstrings_quotes_may_end_the_text_as_well(self) -> None:
        code = 'def f():\n    """Doc.\n    """'
        call = f'{{"name": "write_solution", "arguments": {{"code": """\n{code}\n}}}}'
        assert read(fence(call)) == [("write_solution", {"code": f"\n{code}"})]

    def test_arguments_after_it_are_kept(self) -> None:
        call = (
            '{"name": "write_solution", "arguments": {"code": "print("a")", "language": "python"}}'
        )
        expected = {"language": "python", "code": 'print("a")'}
        assert read(fence(call)) == [("write_solution", expected)]

    def test_json_that_ends_within_the_code_is_not_taken_for_the_call(self) -> None:
        text = '[TOOL_CALLS]write_solution[ARGS]{"code": "print("}")"}'
        assert read(text) == [("write_solution", {"code": 'print("}")'})]

    def test_code_that_does_not_parse_is_stored_all_the_same(self) -> None:
        call = '{"name": "write_solution", "arguments": {"code": "print("a" b)"}}'
        assert read(fence(call)) == [("write_solution", {"code": 'print("a" b)'})]

    def test_a_string_that_the_fence_ends_is_stored_if_it_is_python(self) -> None:
        code = "import sys\nfor line in sys.stdin:\n    print('a', \"b\")\n"
        call = f'{{"name": "write_solution", "arguments": {{"code": "{code}'
        assert read(f"```json\n{call}```") == [("write_solution", {"code": code})]

    @for_each("after", ["", "\n```"], ids=["open", "no Python"])
    def test_a_string_that_nothing_ends_is_not_stored(self, after: str) -> None:
        code = "print(1)\nprint(2" + ("" if after else ")")
        call = f'{{"name": "write_solution", "arguments": {{"code": "{code}'
        assert read(f"```json\n{call}{after}") == [("write_solution", None)]


class TestUnluckyTexts:
    def test_an_example_before_the_real_call(self) -> None:
        example = fence({"name": "TOOL", "arguments": {"ARGUMENT": "VALUE"}})
        dots = fence({"name": "write_solution", "arguments": {"code": "..."}})
        assert read(f"Like this:\n{example}\n{dots}\nNow:\n{fence(CALL)}") == [WRITTEN]

    def test_two_formats_in_one_message(self) -> None:
        text = f"{fence(CALL)}\n<tool_call>\n<function=run_tests>\n</function>\n</tool_call>"
        assert read(text) == [WRITTEN, RUN]

    def test_a_result_that_the_model_made_up_is_passed_over(self) -> None:
        inner = fence({"name": "read_problem", "arguments": {}})
        text = f"{fence(CALL)}\n<tool_result>\n{inner}\n</tool_result>\n{fence('', 'run_tests')}"
        assert read(text) == [WRITTEN, RUN]

    @for_each(
        "thought",
        [
            "<think>{}</think>",
            "<thinking>{}</thinking>",
            "<scratch_pad>{}</scratch_pad>",
            "{}</think>",
        ],
    )
    def test_a_call_in_a_thought_is_none(self, thought: str) -> None:
        inner = "<tool_call>{'name': 'read_problem'}</tool_call>"
        assert read(f"{thought.replace('{}', inner)}\n{fence(CALL)}") == [WRITTEN]

    @for_each(
        "name",
        ["functions.write_solution", "write_solution<|channel|>commentary", "Write-Solution"],
    )
    def test_a_name_with_more_around_it(self, name: str) -> None:
        assert read(fence({**CALL, "name": name})) == [WRITTEN]

    def test_a_broken_call_does_not_hide_the_next(self) -> None:
        broken = '{"name": "write_solution", "arguments": {"code": "print("a")"}}'
        text = f'```json\n{broken}\n{{"name": "run_tests", "arguments": {{}}}}\n```'
        assert read(text) == [("write_solution", {"code": 'print("a")'}), RUN]

    def test_the_fence_around_code_is_taken_off_once_and_only_whole(self) -> None:
        assert without_fence("```python\nprint(1)\n```") == "print(1)\n"
        assert without_fence("~~~\nx\n~~~\n") == "x\n"
        inside = 's = """\n```\n"""'
        assert without_fence(inside) == inside
        two = "```python\nx\n```\ntext\n```python\ny\n```"
        assert without_fence(two) == two

    def test_nothing_is_repaired_where_the_message_was_cut_off(self) -> None:
        text = '```json\n{"name": "write_solution", "arguments": {"code": "x = {"a": "b"'
        assert read(text, cut_off=True) == [("write_solution", None)]
