# ruff: noqa: RUF001 - DeepSeek spells its tokens with a bar of its own, U+FF5C
"""Tools in text: what is read as a call, what is not, and what goes back to the model."""

import json
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from linear import assert_linear

from harness.models.protocol import (
    AssistantMessage,
    Message,
    ModelSettings,
    ModelStop,
    ModelTurn,
    RetryObserver,
    SystemMessage,
    ToolCall,
    ToolMessage,
    ToolSpec,
    UserMessage,
)
from harness.models.text_tools.calls import MOST_CALLS, PLACEHOLDERS, UNNAMED, sole_text
from harness.models.text_tools.instructions import (
    ALONE,
    TextTools,
    in_text,
    said_in_text,
    with_calls,
    with_tools,
)
from harness.models.text_tools.reader import LONGEST_TEXT, CodeAlone, read_calls
from harness.models.text_tools.wording import (
    MANUAL,
    REMINDER,
    manual,
    right_call,
)
from harness.problem import ProblemView, Signature, TestCase


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

    @pytest.mark.parametrize(
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

    @pytest.mark.parametrize("tag", ["python", "run_tests", "read_problem", "write", "submit"])
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
        assert sole_text(spec("write_solution", code="string")) == "code"
        assert sole_text(spec("run", code="string", stdin="string")) is None
        assert sole_text(spec("wait", seconds="number")) is None
        assert sole_text(spec("run_tests")) is None

    def test_the_manual_shows_a_call_that_is_read(self) -> None:
        introduction = manual(TOOLS).partition("The tools")[0]
        shown = right_call(TOOLS[1], in_text=True)
        assert shown in introduction
        for text in (introduction, shown):  # the example of TOOL is none
            written = text.replace("# your complete solution", "print(1)")
            tool_calls = read_calls(written, TOOLS).calls
            assert tool_calls[0].name == "write_solution"
            assert json.loads(tool_calls[0].arguments) == {"code": "print(1)\n"}

    @pytest.mark.parametrize("tools", [TOOLS, CODE_TOOLS])
    def test_no_example_holds_a_solution(self, tools: tuple[ToolSpec, ...]) -> None:
        for text in (manual(tools), right_call(tools[1], in_text=True)):
            tool_calls = read_calls(text, tools, alone=CodeAlone()).calls
            assert not any("code" in json.loads(call.arguments) for call in tool_calls)

    def test_code_is_asked_for_in_words_since_small_models_copy_examples(self) -> None:
        for text in (manual(CODE_TOOLS), right_call(CODE_TOOLS[1], in_text=True)):
            assert "write the whole code in one fenced python block" in text
            assert "```python" not in text

    def test_code_is_not_spoken_of_where_no_tool_takes_any(self) -> None:
        assert "code" not in manual(TOOLS[:1])

    def test_no_schema_asks_in_json_for_what_stands_in_a_block(self) -> None:
        two = (*TOOLS, spec("note", text="string"), spec("run_code", code="string", stdin="string"))
        listed = manual(two).partition("The tools:")[2].strip().splitlines()
        assert [line.partition(":")[0] for line in listed] == [f"- {tool.name}" for tool in two]
        by_name = dict(zip((tool.name for tool in two), listed, strict=True))
        assert by_name["write_solution"].endswith("`code` is the fenced block after the call.")
        assert by_name["read_problem"].endswith("No arguments.")
        assert '"text"' in by_name["note"]  # only the first tool of one text is shown that way
        assert '"stdin"' in by_name["run_code"]
        alone = manual(CODE_TOOLS).partition("The tools:")[2].strip().splitlines()
        assert alone[1].endswith("Called by a fenced python block, not by JSON.")


class TestCodeBesideACall:
    """Code in a fenced block after the call, not in its JSON."""

    EMPTY = block({"name": "write_solution", "arguments": {}})

    @pytest.mark.parametrize("arguments", [{}, {"code": ""}, None])
    @pytest.mark.parametrize("tag", ["python", "", "py"])
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


class TestCodeWithoutItsCall:
    """A block of code alone."""

    PLAN = f"I reverse it.\n\n{block('print(1)', 'python')}"

    def handed_in(self, text: str, alone: CodeAlone = ALONE) -> str:
        """Return the code of the one call that hands in code."""
        tool_calls = read_calls(text, CODE_TOOLS, alone=alone).calls
        (call,) = [each for each in tool_calls if each.name == "write_solution"]
        return json.loads(call.arguments)["code"]

    def test_it_is_a_call_before_those_that_follow_it(self) -> None:
        calls = read_calls(f"{self.PLAN}\n{block(RUN)}", CODE_TOOLS, alone=CodeAlone())
        assert [call.name for call in calls.calls] == ["write_solution", "run_tests"]
        assert json.loads(calls.calls[0].arguments) == {"code": "print(1)\n"}
        assert calls.text == "I reverse it."

    @pytest.mark.parametrize(
        "end",
        [
            '# Call it\nwrite_solution("""\ndef f():\n    """One."""\n    return 1\n""")\n',
            'print(write_solution("""\ndef f(): return 1"""))\n',
            "result = write_solution(code)\nprint(result)\n",
        ],
    )
    @pytest.mark.parametrize("test", ["", "\nrun_tests()"])
    def test_code_that_ends_by_handing_itself_in_is_the_code_above(
        self, end: str, test: str
    ) -> None:
        text = block(f'def f():\n    """One."""\n    return 1\n\n{end}{test}', "python")
        code = 'def f():\n    """One."""\n    return 1\n'
        assert self.handed_in(text, CodeAlone(entry_point="f")) == code
        own = "def write_solution(n):\n    return n\n\nwrite_solution(3)\n"
        assert self.handed_in(block(own.rstrip(), "python")) == own

    @pytest.mark.parametrize(
        "end", ["run_tests()", "\n# Test it\nrun_tests()\n", "print(run_tests())"]
    )
    def test_a_call_of_a_tool_that_ends_the_code_is_no_code(self, end: str) -> None:
        text = block(f"def f():\n    return 1\n{end}", "python")
        for prefix in ("", f"{TestCodeBesideACall.EMPTY}\n"):
            tool_calls = read_calls(prefix + text, CODE_TOOLS, alone=CodeAlone()).calls
            assert [call.name for call in tool_calls] == ["write_solution", "run_tests"]
            assert "run_tests" not in json.loads(tool_calls[0].arguments)["code"]
        once = read_calls(f"{text}\n{block(RUN)}", CODE_TOOLS, alone=CodeAlone()).calls
        assert [call.name for call in once] == ["write_solution", "run_tests"]

    @pytest.mark.parametrize(
        "code",
        [
            "def run_tests():\n    pass\nrun_tests()",
            "run_tests = print\nrun_tests()",
            "solve()",
            "if __name__ == '__main__':\n    run_tests()",
        ],
    )
    def test_calls_of_its_own_functions_stay_code(self, code: str) -> None:
        assert self.handed_in(block(code, "python")) == code + "\n"

    @pytest.mark.parametrize("wrap", [TextTools, lambda model: with_tools(model, "auto")])
    async def test_a_problem_without_public_tests_has_none_to_run(self, wrap: Any) -> None:
        problem = ProblemView(
            id="made/one",
            source="made",
            title="One",
            statement="Print 1.",
            platform="made",
            difficulty=None,
            release_date=None,
            starter_code="",
            entry_point=None,
            signature=Signature(),
            preamble="",
            public_tests=(),
        )
        called: list[list[str]] = []
        for view in (problem, problem.model_copy(update={"public_tests": (ONE,)})):
            model = Said(self.PLAN)
            asked = (*OPENING, *SILENT)  # native calls did not work
            turn = await wrap(model).for_sample(view, 0).generate(asked, CODE_TOOLS, SETTINGS)
            called.append([call.name for call in turn.tool_calls])
            assert ("runs it at once" in str(model.asked[-1])) == bool(view.public_tests)
        assert called == [["write_solution"], ["write_solution", "run_tests"]]

    def test_the_last_of_several_blocks_is_taken(self) -> None:
        text = f"{self.PLAN}\nBetter:\n{block('print(2)', 'python')}"
        assert self.handed_in(text) == "print(2)\n"

    def test_examples_of_use_after_it_are_none(self) -> None:
        use, function = block("print(f())", "python"), block("def f(): pass", "python")
        alone = CodeAlone(entry_point="f")
        assert self.handed_in(f"{function}\n{use}", alone) == "def f(): pass\n"
        assert self.handed_in(f"{function}\n{use}\n{self.PLAN}", alone) == "def f(): pass\n"
        assert self.handed_in(f"{self.PLAN}\n{use}", alone) == "print(f())\n"

    def test_the_block_of_a_script_that_reads_input_counts(self) -> None:
        part, whole = block("def f(): pass", "python"), block("print(input())", "python")
        assert self.handed_in(f"{part}\n{whole}\n{block('f()', 'python')}") == "print(input())\n"

    @pytest.mark.parametrize("code", ["# Test it\nrun_tests()", "\n\n# so:\nprint(run_tests())\n"])
    def test_a_call_below_a_comment_is_no_solution(self, code: str) -> None:
        tool_calls = read_calls(block(code, "python"), CODE_TOOLS, alone=CodeAlone()).calls
        assert [call.name for call in tool_calls] == ["run_tests"]

    def test_tests_of_a_block_are_run_once(self) -> None:
        for text in (self.PLAN, f"{self.PLAN}\n{block(RUN)}"):
            tool_calls = read_calls(text, CODE_TOOLS, alone=CodeAlone()).calls
            assert [call.name for call in tool_calls] == ["write_solution", "run_tests"]
        (call,) = read_calls(self.PLAN, CODE_TOOLS[:2], alone=CodeAlone()).calls  # no such tool
        assert call.name == "write_solution"
        assert "run_tests runs it at once" in manual(CODE_TOOLS)
        assert "runs it at once" not in manual(CODE_TOOLS[:2])

    def test_the_example_of_the_manual_repeated_after_it_is_left_out(self) -> None:
        example = block("# your complete solution", "python")
        assert self.handed_in(f"{self.PLAN}\n{example}") == "print(1)\n"
        assert not read_calls(example, CODE_TOOLS, alone=CodeAlone()).calls

    @pytest.mark.parametrize(
        "text",
        [
            f"{block(RUN)}\n{block('print(1)', 'python')}",
            f"{block('print(1)', 'text')}\n{block(RUN)}",
            f"{block('print(1)', '')}\n{block(RUN)}",
        ],
        ids=["after a call", "of another tag", "without a tag"],
    )
    def test_other_blocks_stay_text(self, text: str) -> None:
        tool_calls = read_calls(text, CODE_TOOLS, alone=CodeAlone()).calls
        assert [call.name for call in tool_calls] == ["run_tests"]

    def test_a_call_of_its_own_goes_before_it(self) -> None:
        text = f"{block('print(1)', 'python')}\n{block(WRITE)}"
        (call,) = read_calls(text, CODE_TOOLS, alone=CodeAlone()).calls
        assert json.loads(call.arguments) == WRITTEN[1]

    def test_a_block_that_the_token_limit_cut_off_is_none(self) -> None:
        text = "```python\nprint(1)\nprint("
        assert not read_calls(text, CODE_TOOLS, alone=CodeAlone(), cut_off=True).calls

    async def test_it_is_a_call_where_the_tools_are_described_in_text(self) -> None:
        turn = ModelTurn(text=self.PLAN)
        stored = ToolMessage(call_id="a", name="write_solution", content="Saved.")
        for messages in (OPENING, (*OPENING, stored)):
            assert with_calls(turn, messages, CODE_TOOLS).tool_calls[0].name == "write_solution"
        assert not with_calls(turn, OPENING, CODE_TOOLS, marked=False).tool_calls


class TestWaysToWriteACall:
    @pytest.mark.parametrize(
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

    @pytest.mark.parametrize("missing", ["{}", '{"arguments": null}'])
    def test_arguments_may_be_missing_where_the_tool_is_known(self, missing: str) -> None:
        assert calls(block({"name": "run_tests", **json.loads(missing)})) == [("run_tests", {})]

    def test_parameters_are_what_the_schema_says(self) -> None:
        tools = [spec("f", n="integer", text="string", any="integer")]
        body = "<parameter=n>\n5\n</parameter><parameter=text>5</parameter><parameter=any>x"
        text = f"<function=f>{body}</parameter></function>"
        assert calls(text, tools) == [("f", {"n": 5, "text": "5", "any": "x"})]


class TestSeveralCalls:
    @pytest.mark.parametrize(
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

    @pytest.mark.parametrize(
        "text", [mistral_v11(RUN), mistral(RUN), deepseek(RUN), kimi(RUN), glm(RUN)]
    )
    def test_text_beside_calls_between_tokens_is_kept(self, text: str) -> None:
        reading = read_calls(f"First.\n{text}\nLast.", TOOLS)
        assert (reading.text, len(reading.calls)) == ("First.\nLast.", 1)

    def test_a_block_that_would_be_too_many_stays_text(self) -> None:
        assert len(calls(block([RUN] * MOST_CALLS))) == MOST_CALLS
        assert calls(block([RUN] * (MOST_CALLS + 1))) == []


class TestNoCall:
    @pytest.mark.parametrize(
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
    @pytest.mark.parametrize("most", range(45, len(json.dumps(WRITE)) - 2, 3))
    @pytest.mark.parametrize("opening", ["```json\n", "<tool_call>", ""])
    def test_a_call_that_breaks_off_has_broken_arguments(self, opening: str, most: int) -> None:
        (name, arguments), *more = calls(f"{opening}{json.dumps(WRITE)[:most]}")
        assert not more
        assert name == "write_solution"
        assert str(arguments).startswith("broken: {")

    @pytest.mark.parametrize("most", range(4, len(ARGUMENTS), 7))
    def test_a_call_between_tokens_that_breaks_off_has_broken_arguments(self, most: int) -> None:
        cut = len(ARGUMENTS) - most
        for text in (mistral_v11(WRITE), deepseek(WRITE), kimi(WRITE)):
            begins = text.index(ARGUMENTS)
            (name, arguments), *more = calls(text[: begins + cut])
            assert (name, arguments) == ("write_solution", f"broken: {ARGUMENTS[:cut].strip()}")
            assert not more

    @pytest.mark.parametrize("end", ["<arg_key>co", "<arg_key>code</arg_key>\n", CODE[:9]])
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

    @pytest.mark.parametrize("body", ["{'name': 5}", '{"code": 1}', '{"'])
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


class Said:
    """A model that says one thing, and keeps what it was asked."""

    name = "said"

    def __init__(self, text: str, **turn: Any) -> None:
        self._turn = ModelTurn(text=text, **{"stop": ModelStop(reason="end_turn"), **turn})
        self.asked: list[tuple[list[Message], tuple[ToolSpec, ...]]] = []

    def for_sample(self, problem: ProblemView, index: int) -> "Said":
        del problem, index
        return self

    async def generate(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec],
        settings: ModelSettings,
        on_retry: RetryObserver | None = None,
    ) -> ModelTurn:
        del settings, on_retry
        self.asked.append((list(messages), tuple(tools)))
        return self._turn

    async def close(self) -> None:
        pass


OPENING = (SystemMessage(content="Solve it."), UserMessage(content="Begin."))
SETTINGS = ModelSettings()
SILENT = (AssistantMessage(text="Hm."), UserMessage(content="No tool was called.")) * 2
ONE = TestCase(input="", output="1\n", public=True)


class TestWhatTheModelIsSent:
    async def test_tools_stand_in_the_system_message_and_nowhere_else(self) -> None:
        model = Said(block(READ))
        await TextTools(model).generate(OPENING, TOOLS, SETTINGS)
        (messages, tools) = model.asked[0]
        assert tools == ()
        assert [message.role for message in messages] == ["system", "user"]
        text = messages[0].content if isinstance(messages[0], SystemMessage) else ""
        assert text.startswith("Solve it.\n\n" + MANUAL)
        for tool in TOOLS:
            assert f"- {tool.name}: {tool.description} " in text

    async def test_requests_without_tools_are_passed_on_as_they_are(self) -> None:
        model = Said(block(READ))
        turn = await TextTools(model).generate(OPENING, (), SETTINGS)
        assert model.asked == [(list(OPENING), ())]
        assert (turn.text, turn.tool_calls, turn.reasoning) == (block(READ), (), ())

    def test_a_system_message_is_added_for_tools_in_text(self) -> None:
        first, second = in_text(OPENING[1:], TOOLS)
        assert isinstance(first, SystemMessage)
        assert second == OPENING[1]

    def test_a_message_that_asks_for_a_solution_ends_with_a_call_written_right(self) -> None:
        asks = UserMessage(content="Plan it. Then call write_solution.")
        _, message = in_text((OPENING[0], asks), TOOLS)
        assert isinstance(message, UserMessage)
        assert message.content.startswith(asks.content)
        assert message.content.rstrip().endswith(right_call(TOOLS[1], in_text=True))
        *_, message = in_text((OPENING[0], asks), CODE_TOOLS)
        assert isinstance(message, UserMessage)
        assert message.content.endswith("\n\n" + right_call(CODE_TOOLS[1], in_text=True))
        _, untold = in_text((OPENING[0], asks), TOOLS[:1])  # no tool of that name
        assert untold == asks

    def test_after_a_solution_is_stored_the_call_that_tests_it_is_shown(self) -> None:
        call = ToolCall(id="a", name="write_solution", arguments=ARGUMENTS)
        wrote = AssistantMessage(tool_calls=(call,))
        stored = ToolMessage(call_id="a", name="write_solution", content="Saved. Call run_tests.")
        asks = UserMessage(content="Hand it in with write_solution, then call run_tests.")
        test, write = (right_call(tool, in_text=True) for tool in (TOOLS[2], TOOLS[1]))
        for after in ((stored,), (stored, asks)):
            message = in_text((*OPENING, wrote, *after), TOOLS)[-1]
            assert isinstance(message, UserMessage)
            assert message.content.endswith(f"\n\n{test}")
        failed = ToolMessage(call_id="b", name="run_tests", content="Call write_solution again.")
        for after in ((stored, failed), (stored.model_copy(update={"is_error": True}), asks)):
            message = in_text((*OPENING, wrote, *after), TOOLS)[-1]
            assert isinstance(message, UserMessage)
            assert message.content.rstrip().endswith(write)

    def test_results_are_one_message_and_say_whose_they_are(self) -> None:
        asked = AssistantMessage(tool_calls=(ToolCall(id="a", name="run_tests", arguments="{}"),))
        results = (
            ToolMessage(call_id="a", name="run_tests", content="Good."),
            ToolMessage(call_id="b", name='x" y="', content="Bad.", is_error=True),
        )
        *_, call_message, results_message = in_text(
            (*OPENING, asked, *results, UserMessage(content="Go on.")), TOOLS
        )
        assert call_message == AssistantMessage(text=block(RUN))
        assert results_message == UserMessage(
            content='<tool_result id="a" name="run_tests">\nGood.\n</tool_result>\n\n'
            '<tool_result id="b" name="x\\" y=\\"" error="true">\nBad.\n</tool_result>\n\nGo on.'
        )

    def test_a_nudge_says_how_a_call_is_written(self) -> None:
        nudged = (
            *OPENING,
            AssistantMessage(text="Hm."),
            UserMessage(content="No tool was called."),
        )
        assert in_text(nudged, TOOLS)[-1] == UserMessage(
            content=f"No tool was called.\n\n{REMINDER}"
        )

    def test_a_nudge_to_write_code_shows_no_call_in_json(self) -> None:
        nudge = UserMessage(content="Hand it in with write_solution.")
        message = in_text((*OPENING, AssistantMessage(text="Hm."), nudge), CODE_TOOLS)[-1]
        call = right_call(CODE_TOOLS[1], in_text=True)
        assert message == UserMessage(content=f"{nudge.content}\n\n{call}")

    async def test_the_model_s_own_words_go_back_byte_for_byte(self) -> None:
        text = f"  Well.\n{block(WRITE)}\n\n and {block(RUN)} \n"
        turn = await TextTools(Said(text)).generate(OPENING, TOOLS, SETTINGS)
        assert turn.text == "Well.\nand"
        assert in_text((*OPENING, turn.message()), TOOLS)[-1] == AssistantMessage(text=text)

    async def test_what_else_it_thought_goes_back_too_and_our_mark_does_not(self) -> None:
        thought = {"field": "reasoning_content", "value": "Hm."}
        turn = await TextTools(Said(block(RUN), reasoning=(thought,))).generate(
            OPENING, TOOLS, SETTINGS
        )
        assert said_in_text(turn)
        sent = in_text((*OPENING, turn.message()), TOOLS)[-1]
        assert sent == AssistantMessage(text=block(RUN), reasoning=(thought,))

    async def test_each_request_begins_as_the_one_before(self) -> None:
        messages: list[Message] = list(OPENING)
        before: list[Message] = []
        for text in (block(READ), f"{block(WRITE)}{block(RUN)}", "Hm.", block(RUN)):
            model = Said(text)
            turn = await TextTools(model).generate(messages, TOOLS, SETTINGS)
            sent = model.asked[0][0]
            assert sent[: len(before)] == before
            assert len(sent) > len(before)
            before = sent
            messages.append(turn.message())
            messages += [
                ToolMessage(call_id=call.id, name=call.name, content="Done.")
                for call in turn.tool_calls
            ] or [UserMessage(content="Go on.")]
            assert [m.role for m in sent[1:]] == ["user", "assistant"] * (len(sent) // 2 - 1) + [
                "user"
            ]


class TestTurns:
    async def test_ids_are_unlike_in_a_conversation(self) -> None:
        tools = TextTools(Said(f"{block(RUN)}{block(RUN)}"))
        first = await tools.generate(OPENING, TOOLS, SETTINGS)
        second = await tools.generate((*OPENING, first.message()), TOOLS, SETTINGS)
        ids = [call.id for turn in (first, second) for call in turn.tool_calls]
        assert len(set(ids)) == 4

    async def test_the_stop_reason_says_that_tools_are_used(self) -> None:
        turn = await TextTools(Said(block(RUN))).generate(OPENING, TOOLS, SETTINGS)
        assert turn.stop.reason == "tool_use"

    async def test_a_message_that_was_cut_off_stays_one(self) -> None:
        stop = ModelStop(reason="max_tokens", provider_word="length")
        turn = await TextTools(Said(block(RUN), stop=stop)).generate(OPENING, TOOLS, SETTINGS)
        assert turn.stop == stop

    async def test_calls_that_a_server_found_by_itself_are_taken_and_go_on_in_text(self) -> None:
        call = ToolCall(id="c", name="run_tests", arguments="{}")
        turn = await TextTools(Said("Now.", tool_calls=(call,))).generate(OPENING, TOOLS, SETTINGS)
        assert turn.tool_calls == (call,)
        assert said_in_text(turn)
        sent = in_text((*OPENING, turn.message()), TOOLS)[-1]
        assert sent == AssistantMessage(text=f"Now.\n\n{block(RUN)}")

    async def test_a_recorded_turn_is_not_read_again(self) -> None:
        turn = await TextTools(Said(f"Well. {block(RUN)}")).generate(OPENING, TOOLS, SETTINGS)
        assert with_calls(turn, OPENING, TOOLS) == turn
