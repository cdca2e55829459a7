# ruff: noqa: RUF001 - DeepSeek spells its tokens with a bar of its own, U+FF5C
"""Calls in text: what is read as a call, and what is not."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st
from linear import assert_linear

from harness.models.protocol import (
    AssistantMessage,
    ModelSettings,
    SystemMessage,
    ToolSpec,
    UserMessage,
)
from harness.models.text_tools.calls import MOST_CALLS, PLACEHOLDERS, UNNAMED
from harness.models.text_tools.reader import LONGEST_TEXT, read_calls
from harness.problem import TestCase


def spec(name: str, **properties: str) -> ToolSpec:
    schema = {key: {"type": kind} for key, kind in properties.items()}
    return ToolSpec(
        name=name,
        description=f"It does {name}.",
        parameters={"type": "object", "properties": schema, "required": list(schema)},
    )


TOOLS = (spec("read_problem"), spec("write_solution", code="string"), spec("run_tests"))
CODE_TOOLS = (
    TOOLS[0],
    TOOLS[1].model_copy(
        update={
            "parameters": {
                "type": "object",
                "properties": {"code": {"type": "string", "description": "The Python source."}},
                "required": ["code"],
            }
        }
    ),
    TOOLS[2],
)
CODE = 'print("a\\n", {1: [2]})  # ```\nprint("é")\n'


def calls(text: str, tools: Sequence[ToolSpec] = TOOLS) -> list[tuple[str, Any]]:
    """Each call with its arguments, decoded where they can be."""
    return [(call.name, _decoded(call.arguments)) for call in read_calls(text, tools).calls]


def _decoded(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return f"broken: {text}"


def block(value: Any, tag: str = "json") -> str:
    return f"```{tag}\n{value if isinstance(value, str) else json.dumps(value)}\n```"


READ = {"name": "read_problem", "arguments": {}}
RUN = {"name": "run_tests", "arguments": {}}
WRITE = {"name": "write_solution", "arguments": {"code": CODE}}
WRITTEN = ("write_solution", {"code": CODE})
ARGUMENTS = json.dumps({"code": CODE})


# As models write calls between their special tokens; each with a call of its own or of the server's


def mistral(*each: dict[str, Any]) -> str:
    return f"[TOOL_CALLS]{json.dumps(each)}"


def mistral_v11(call: dict[str, Any], call_id: str = "") -> str:
    return f"[TOOL_CALLS]{call['name']}{call_id}[ARGS]{json.dumps(call['arguments'])}"


def deepseek(*each: dict[str, Any], fenced: bool = False) -> str:
    sep, end = "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"
    written = (
        f"<｜tool▁call▁begin｜>function{sep}{call['name']}\n{block(call['arguments'])}{end}"
        if fenced
        else f"<｜tool▁call▁begin｜>{call['name']}{sep}{json.dumps(call['arguments'])}{end}"
        for call in each
    )
    joined = ("\n" if fenced else "").join(written)
    return f"<｜tool▁calls▁begin｜>{joined}<｜tool▁calls▁end｜>"


def kimi(*each: dict[str, Any]) -> str:
    written = (
        f"<|tool_call_begin|>functions.{call['name']}:{number}<|tool_call_argument_begin|>"
        f"{json.dumps(call['arguments'])}<|tool_call_end|>"
        for number, call in enumerate(each)
    )
    return f"<|tool_calls_section_begin|>{''.join(written)}<|tool_calls_section_end|>"


def glm(call: dict[str, Any], between: str = "\n") -> str:
    pairs = (
        f"<arg_key>{key}</arg_key>{between}<arg_value>{value}</arg_value>{between}"
        for key, value in call["arguments"].items()
    )
    return f"<tool_call>{call['name']}{between}{''.join(pairs)}</tool_call>"


class TestTextWithoutJson:
    """A fenced block tagged with the name of a tool that takes one text."""

    @for_each(
        "text",
        [
            block(CODE.rstrip("\n"), "write_solution"),
            f"Here it is:\n\n~~~ write_solution\n{CODE}~~~\nNow I test it.",
            f"````write_solution python\n{CODE}````",
            f"```write_solution\n{CODE}",
        ],
    )
    def test_the_text_is_the_argument_unchanged(self, text: str) -> None:
        assert calls(text) == [WRITTEN]

    def test_text_without_json_stands_among_other_calls_in_its_order(self) -> None:
        text = "\n".join((block(READ), block(CODE.rstrip("\n"), "write_solution"), block(RUN)))
        assert [name for name, _ in calls(text)] == ["read_problem", "write_solution", "run_tests"]
        assert calls(text)[1] == WRITTEN

    @for_each("tag", ["python", "run_tests", "read_problem", "write", "submit"])
    def test_a_block_of_another_tag_is_none(self, tag: str) -> None:
        assert calls(block("print(1)", tag)) == []

    def test_text_without_json_cut_off_by_the_token_limit_is_broken(self) -> None:
        text = "```write_solution\nprint(1)\nprint("
        (call,) = read_calls(text, TOOLS, cut_off=True).calls
        with pytest.raises(ValueError, match="Unterminated"):
            json.loads(call.arguments)
        whole = f"{text}1)\n```\n"
        (call,) = read_calls(whole, TOOLS, cut_off=True).calls
        assert json.loads(call.arguments) == {"code": "print(1)\nprint(1)\n"}

    def test_only_a_tool_with_one_required_text_is_called_so(self) -> None:
        assert spec("write_solution", code="string").sole_text == "code"
        assert spec("run", code="string", stdin="string").sole_text is None
        assert spec("wait", seconds="number").sole_text is None
        assert spec("run_tests").sole_text is None


class TestCodeBesideACall:
    """Code in a fenced block after the call, not in its JSON."""

    EMPTY = block({"name": "write_solution", "arguments": {}})

    @for_each("arguments", [{}, {"code": ""}, None])
    @for_each("tag", ["python", "", "py"])
    def test_the_block_after_the_call_is_its_code(self, arguments: Any, tag: str) -> None:
        call = block({"name": "write_solution", "arguments": arguments})
        text = f"{call}\n\nThis is it:\n\n{block('print(1)', tag)}\n{block(RUN)}"
        assert calls(text) == [("write_solution", {"code": "print(1)\n"}), ("run_tests", {})]

    def test_code_before_an_empty_call_is_the_last_block(self) -> None:
        text = f"{block('x = 1', 'python')}\n{block('y = 2', 'python')}\n{self.EMPTY}"
        assert calls(text) == [("write_solution", {"code": "y = 2\n"})]

    def test_a_call_that_has_its_code_takes_no_other(self) -> None:
        assert calls(f"{block(WRITE)}\n{block('print(1)', 'python')}") == [WRITTEN]

    def test_without_any_block_the_code_is_missing(self) -> None:
        assert calls(f"{self.EMPTY}\nAnd now?") == [("write_solution", {})]

    def test_a_block_that_the_token_limit_cut_off_is_none(self) -> None:
        text = f"{self.EMPTY}\n```python\nprint(1)\nprint("
        (call,) = read_calls(text, TOOLS, cut_off=True).calls
        assert json.loads(call.arguments) == {}


class TestWaysToWriteACall:
    @for_each(
        "text",
        [
            block(WRITE),
            block(WRITE, "tool_call"),
            block(WRITE, "python"),
            block(WRITE, ""),
            block(WRITE, " json "),
            block(json.dumps(WRITE, indent=2)),
            f"   ```json\n   {json.dumps(WRITE)}\n   ```",
            f"Here it is: ```json\n{json.dumps(WRITE)}\n```",
            f"```json {json.dumps(WRITE)}```",
            f"```json\n{json.dumps(WRITE)}```",
            f"```json\r\n{json.dumps(WRITE)}\r\n```\r\n",
            f"~~~json\n{json.dumps(WRITE)}\n~~~",
            f"````json\n{json.dumps(WRITE)}\n````",
            f"```json\n{json.dumps(WRITE)}",
            f"<tool_call>{json.dumps(WRITE)}</tool_call>",
            f"<tool_call>\n{json.dumps(WRITE)}\n</tool_call>",
            f"<tool_call>\n```json\n{json.dumps(WRITE)}\n```\n</tool_call>",
            f"```\n<tool_call>{json.dumps(WRITE)}</tool_call>\n```",
            f"<tool_call>{json.dumps(WRITE)}",
            f"<function_call>{json.dumps(WRITE)}</function_call>",
            f"<function=write_solution>{json.dumps({'code': CODE})}</function>",
            f"<function=write_solution>\n<parameter=code>\n{CODE}\n</parameter>\n</function>",
            "<tool_call>\n<function=write_solution>\n<parameter=code>\n"
            f"{CODE}\n</parameter>\n</function>\n</tool_call>",
            f"<think>Or {json.dumps(READ)}? <tool_call>{json.dumps(READ)}</think>\n{block(WRITE)}",
            json.dumps(WRITE),
            json.dumps([WRITE]),
            block({"name": "write_solution", "parameters": {"code": CODE}}),
            block({"name": "write_solution", "arguments": json.dumps({"code": CODE})}),
            block({"type": "function", "function": WRITE}),
            block(json.dumps(WRITE)[:-1]),
            block(json.dumps(WRITE)[:-1] + ",}"),
            block(json.dumps(WRITE).replace("}}", ",\n}, }")),
            "<tool_call>" + json.dumps(WRITE)[:-1] + "</tool_call>",
            mistral(WRITE),
            f"[TOOL_CALLS] {json.dumps([WRITE])}\n",
            mistral_v11(WRITE),
            mistral_v11(WRITE, "[CALL_ID]Ab3dE6gH9"),
            f"[TOOL_CALLS]write_solution{ARGUMENTS}",
            deepseek(WRITE),
            deepseek(WRITE, fenced=True),
            deepseek(WRITE).replace("<｜tool▁calls▁begin｜>", ""),
            deepseek(WRITE)[: -len("<｜tool▁call▁end｜><｜tool▁calls▁end｜>")],
            kimi(WRITE),
            kimi(WRITE).replace("functions.", "").replace(":0", ""),
            kimi(WRITE)[: -len("<|tool_call_end|><|tool_calls_section_end|>")],
            f"<think>{kimi(READ)}</think>{kimi(WRITE)}",
            glm(WRITE),
            glm(WRITE, ""),
            glm(WRITE).replace("</tool_call>", ""),
        ],
    )
    def test_each_is_the_same_call(self, text: str) -> None:
        assert calls(text) == [WRITTEN]
        assert read_calls(text, TOOLS).text in {
            *("", "Here it is:"),
            f"<think>Or {json.dumps(READ)}? <tool_call>{json.dumps(READ)}</think>",
            f"<think>{kimi(READ)}</think>",
        }

    def test_real_newlines_within_a_string_are_read(self) -> None:
        text = block('{"name": "write_solution", "arguments": {"code": "a = 1\nprint(a)\n"}}')
        assert calls(text) == [("write_solution", {"code": "a = 1\nprint(a)\n"})]

    @for_each("missing", ["{}", '{"arguments": null}'])
    def test_arguments_may_be_missing_where_the_tool_is_known(self, missing: str) -> None:
        assert calls(block({"name": "run_tests", **json.loads(missing)})) == [("run_tests", {})]

    def test_parameters_are_what_the_schema_says(self) -> None:
        tools = [spec("f", n="integer", text="string", any="integer")]
        body = "<parameter=n>\n5\n</parameter><parameter=text>5</parameter><parameter=any>x"
        text = f"<function=f>{body}</parameter></function>"
        assert calls(text, tools) == [("f", {"n": 5, "text": "5", "any": "x"})]


class TestSeveralCalls:
    @for_each(
        "text",
        [
            f"One.\n{block(READ)}\nTwo.\n{block(WRITE)}\nThree.\n{block(RUN)}",
            "".join(f"<tool_call>{json.dumps(one)}</tool_call>" for one in (READ, WRITE, RUN)),
            "\n".join(f"<tool_call>{json.dumps(one)}" for one in (READ, WRITE, RUN)),
            f"```json\n{json.dumps(READ)}\n{block(WRITE)}{block(RUN)}",
            block([READ, WRITE, RUN]),
            block("\n".join(map(json.dumps, (READ, WRITE, RUN)))),
            f"{block(READ)}<tool_call>{json.dumps(WRITE)}</tool_call>\n{block(RUN, '')}",
            f"```python\n{CODE}\n```\n{block(READ)}\n{block(WRITE)}\n```\n1 2\n```\n{block(RUN)}",
            "<tool_call><function=read_problem></function><function=write_solution>"
            f"<parameter=code>\n{CODE}\n</parameter></function><function=run_tests></tool_call>",
            mistral(READ, WRITE, RUN),
            "".join(map(mistral_v11, (READ, WRITE, RUN))),
            deepseek(READ, WRITE, RUN),
            deepseek(READ, WRITE, RUN, fenced=True),
            kimi(READ, WRITE, RUN),
            "\n".join(map(glm, (READ, WRITE, RUN))),
            glm(READ, "") + glm(WRITE, "") + glm(RUN, ""),
        ],
    )
    def test_several_calls_come_in_order(self, text: str) -> None:
        assert calls(text) == [("read_problem", {}), WRITTEN, ("run_tests", {})]

    def test_text_beside_them_stays_text(self) -> None:
        python = "```python\nx = 1\n```"
        reading = read_calls(
            f"First.\n{block(READ)}\n\nThen.\n{python}\n{block(RUN)}\nLast.", TOOLS
        )
        assert reading.text == f"First.\nThen.\n{python}\nLast."

    @for_each("text", [mistral_v11(RUN), mistral(RUN), deepseek(RUN), kimi(RUN), glm(RUN)])
    def test_text_beside_calls_between_tokens_is_kept(self, text: str) -> None:
        reading = read_calls(f"First.\n{text}\nLast.", TOOLS)
        assert (reading.text, len(reading.calls)) == ("First.\nLast.", 1)

    def test_a_block_that_would_be_too_many_stays_text(self) -> None:
        assert len(calls(block([RUN] * MOST_CALLS))) == MOST_CALLS
        assert calls(block([RUN] * (MOST_CALLS + 1))) == []


class TestNoCall:
    @for_each(
        "text",
        [
            "",
            "I will call run_tests now.",
            f"```python\nTEXT = '<tool_call>{json.dumps(READ)}</tool_call>'\n```",
            "```python\nname = {}\n",
            f"```python\n{CODE}\n",
            block({"a": [1, 2]}),
            block({"name": "Bob", "age": 5}),
            block([1, 2, 3]),
            block("1 2\n3 4", ""),
            "{1, 2}",
            json.dumps({"name": "Bob", "arguments": {}}),
            "Write it between <tool_call> and </tool_call>.",
            "The token is [TOOL_CALLS] or <|tool_call_begin|>, as you like.",
            "[TOOL_CALLS][1, 2]",
            "<｜tool▁call▁begin｜>no name at all<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
            f"```python\n{kimi(RUN)}\n```",
            f"<think>I could write {block(READ)}",
            f"<think>{block(READ)}</think>Well.",
        ],
    )
    def test_the_text_is_left_as_it_is(self, text: str) -> None:
        assert read_calls(text, TOOLS) == (text, ())

    def test_where_a_call_is_not_expected_only_a_known_tools_is_one(self) -> None:
        text = f"{block({'name': 'nope', 'arguments': {}})}\n{block(RUN)}"
        assert [call.name for call in read_calls(text, TOOLS).calls] == ["nope", "run_tests"]
        known = read_calls(text, TOOLS, known_only=True)
        assert [call.name for call in known.calls] == ["run_tests"]
        assert "nope" in known.text


class TestBrokenCalls:
    @for_each("most", range(45, len(json.dumps(WRITE)) - 2, 3))
    @for_each("opening", ["```json\n", "<tool_call>", ""])
    def test_a_call_that_breaks_off_has_broken_arguments(self, opening: str, most: int) -> None:
        (name, arguments), *more = calls(f"{opening}{json.dumps(WRITE)[:most]}")
        assert not more
        assert name == "write_solution"
        assert str(arguments).startswith("broken: {")

    @for_each("most", range(4, len(ARGUMENTS), 7))
    def test_a_call_between_tokens_that_breaks_off_has_broken_arguments(self, most: int) -> None:
        cut = len(ARGUMENTS) - most
        for text in (mistral_v11(WRITE), deepseek(WRITE), kimi(WRITE)):
            begins = text.index(ARGUMENTS)
            (name, arguments), *more = calls(text[: begins + cut])
            assert (name, arguments) == ("write_solution", f"broken: {ARGUMENTS[:cut].strip()}")
            assert not more

    @for_each("end", ["<arg_key>co", "<arg_key>code</arg_key>\n", CODE[:9]])
    def test_a_call_of_pairs_that_breaks_off_has_broken_arguments(self, end: str) -> None:
        whole = glm(WRITE)
        text = whole[: whole.index(end) + len(end)]
        (name, arguments), *more = calls(text)
        assert (name, more) == ("write_solution", [])
        assert str(arguments).startswith("broken: <arg_key>")

    def test_a_parameter_that_breaks_off_is_broken(self) -> None:
        text = "<tool_call>\n<function=write_solution>\n<parameter=code>\nprint("
        assert calls(text) == [("write_solution", "broken: <parameter=code>\nprint(")]

    def test_calls_before_a_broken_one_are_whole(self) -> None:
        text = f"{block(READ)}\n```json\n{json.dumps(WRITE)[:60]}"
        assert [name for name, _ in calls(text)] == ["read_problem", "write_solution"]

    @for_each("body", ["{'name': 5}", '{"code": 1}', '{"'])
    def test_a_tag_with_anything_else_is_a_call_of_no_tool(self, body: str) -> None:
        assert calls(f"<tool_call>{body}</tool_call>") == [(UNNAMED, _decoded(body))]

    def test_a_comma_within_a_string_is_not_mended_away(self) -> None:
        text = block('{"name": "write_solution", "arguments": {"code": "[1,]\\",}",},}')
        assert calls(text) == [("write_solution", {"code": '[1,]",}'})]


MARKUP = st.sampled_from(
    [
        *("```", "```json\n", "\n```\n", "```python\n", "~~~", "<tool_call>", "</tool_call>", "\n"),
        *("<function=run_tests>", "<parameter=code>", "</parameter>", "</function>", "<think>"),
        *("</think>", '{"name": ', '"write_solution"', ', "arguments": ', "{}", "}", "[", ",", '"'),
        *("\\", "\ud800", "1", json.dumps(WRITE), json.dumps(RUN)),
        *("[TOOL_CALLS]", "[ARGS]", "[CALL_ID]", "<｜tool▁call▁begin｜>", "<｜tool▁sep｜>"),
        *("<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"),
        *("functions.", "run_tests", ":0", "<arg_key>", "</arg_key>", "<arg_value>"),
    ]
)


@given(st.lists(MARKUP, max_size=30).map("".join))
def test_no_text_breaks_the_reader(text: str) -> None:
    reading = read_calls(text, TOOLS)
    assert len(reading.calls) <= MOST_CALLS
    if not reading.calls:
        assert reading.text == text
    for call in reading.calls:
        assert call.name
        assert isinstance(call.arguments, str)


@pytest.mark.thorough
@given(st.text(), st.text().filter(lambda code: code.strip() not in PLACEHOLDERS), st.text())
def test_any_code_arrives_as_it_was_written(before: str, code: str, after: str) -> None:
    before, after = (
        text.replace("`", "").replace("~", "").replace("<", "") for text in (before, after)
    )
    call = {"name": "write_solution", "arguments": {"code": code}}
    assert calls(f"{before}\n{block(call)}\n{after}") == [("write_solution", {"code": code})]


SIZE = 1_000_000
AROUND = (
    *("{}", "<tool_call>{}", "```json\n{}", '{{"name": "f", {}', "[TOOL_CALLS]f[ARGS]{}"),
    *("<tool_call>f<arg_key>{}", "<|tool_call_begin|>f<|tool_call_argument_begin|>{}"),
)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "unit",
    [
        *("`", "```", "```\n", "```json\n", "```json\n{", "```json\n<", "~~~a\n", " ", "\n", " \n"),
        *("``` ", "```\t\n```` \n", '```json\n{"a":1}```', '```json\n{"a": 1}\n', "> "),
        *("<tool_call>", "<tool_call>{", "<tool_call></tool_call>", "</tool_call>", "<tool_call>["),
        *('<tool_call>{"name": "', "<function=f>", "<function=f><parameter=a>", "<function=", "<"),
        *("<think>", "</think>", "[", "{", '{"name":', '"', '\\"', ",", ", ]", "[{", '{"a":', "9"),
        *('"name"  :', '"arguments":   ', '{"name": "a", "arguments": {', "x", "</parameter>"),
        *('```json\n["', '"```json\n[" , ', "<tool_call>```\n", "<tool_call>\n<function=f>"),
        *("<function=f></function>", "<parameter=", '{"name":"run_tests"}', "`````json\n```\n"),
        *("[TOOL_CALLS]", "[TOOL_CALLS][{", '[TOOL_CALLS]f[ARGS]{"', "[TOOL_CALLS]f [CALL_ID]a "),
        *(
            "<｜tool▁calls▁begin｜> ",
            "<｜tool▁call▁begin｜>",
            "<｜tool▁call▁end｜> ",
            "<｜tool▁sep｜>",
        ),
        *("<｜tool▁call▁begin｜>f<｜tool▁sep｜>{", "<｜tool▁call▁begin｜>function<｜tool▁sep｜>f "),
        *("<|tool_call_begin|>f:0<|tool_call_argument_begin|>[", "<|tool_call_begin|>f"),
        *("<tool_call>f<arg_key>", "<arg_key>a</arg_key> ", "<arg_key>a</arg_key><arg_value>"),
        *("<tool_call>f ", "<tool_call>f<arg_key>a</arg_key>", "</arg_value>"),
        *(
            '"""',
            "'''",
            '{"code": "',
            "{{",
            "{'a': '",
            "\\'",
            "write_solution(",
            'write_solution("""',
        ),
        *(
            '\nwrite_solution(code="a")\n\n',
            '\n{"name": ',
            '\n{"name": "run_tests"}\n',
            "functools[",
        ),
        *('<invoke name="f">', '<parameter name="a">', "<write_solution>", "to=functions.f{"),
        *("Action: f\nAction Input: ", "<|python_tag|>", "<start_function_call>call:f{a:<escape>"),
        *("<think>", "<longcat_think><tool_call>{", "]<]m[>[<a>", ">>>run_tests\n{", "<think>a "),
        *('<|open|>call tool="f"<|sep|>', '<|open|>argument key="k"<|sep|>', '<|open|>call a="b"'),
        *(
            "<param name='a'><![CDATA[",
            '<invoke name="write_solution"><code>',
            "<|tool_call>call:f{",
        ),
        *("<tools>[", "\nwrite_solution\n{", "/*", "//a\n", "<tool_result", "[[1],", '""" }'),
        '{"name": "write_solution", "arguments": {"code": """\n',
        '```json\n{"name": "write_solution", "arguments": {"code": "a "b" ',
        '<tool_call>{"name": "write_solution", "arguments": {"code": """a""" }',
    ],
)
def test_a_million_hostile_characters_are_read_in_linear_time(unit: str) -> None:
    for around in AROUND:

        def read(size: int, around: str = around) -> None:
            read_calls(around.format(unit * (size // len(unit))), TOOLS)

        size = SIZE if around == "{}" else SIZE // 20
        assert_linear(read, size, soon=5.0 * size / SIZE)


def test_a_text_beyond_all_bounds_is_not_searched() -> None:
    text = f"{'x' * LONGEST_TEXT}\n{block(RUN)}"
    assert read_calls(text, TOOLS) == (text, ())
    assert calls(text[-LONGEST_TEXT:]) == [("run_tests", {})]


OPENING = (SystemMessage(content="Solve it."), UserMessage(content="Begin."))
SETTINGS = ModelSettings()
SILENT = (AssistantMessage(text="Hm."), UserMessage(content="No tool was called.")) * 2
ONE = TestCase(input="", output="1\n", public=True)
