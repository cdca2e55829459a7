# ruff: noqa: RUF001 - DeepSeek spells its tokens with a bar of its own, U+FF5C
"""Programs and calls for the round trip: what a format writes, its reader must give back.

Programs are drawn by seed from lines that are hard on a reader: quotes, backslashes, docstrings,
braces, tags, fences, unicode, carriage returns, f-strings, regexes. Each format writes a program as
models write it.
"""

import json
import random
import re
from collections.abc import Callable
from typing import NamedTuple

from harness.models.protocol import ToolSpec


def tool(name: str, *required: str) -> ToolSpec:
    properties = {key: {"type": "string"} for key in required}
    schema = {"type": "object", "properties": properties, "required": list(required)}
    return ToolSpec(name=name, description="", parameters=schema)


TOOLS = (tool("read_problem"), tool("write_solution", "code"), tool("run_tests"))


LINES = (
    'print("a\\n", n)',
    "print('it\\'s', \"said\", end='')",
    'text = "\\"quoted\\" \\\\ back"',
    "path = 'C:\\\\new\\\\table'",
    'import re; found = re.findall(r"\\d+\\.[\\"\']", line)',
    "pattern = re.compile(r'^\\s*\\{\"x\": (.*)\\}$')",
    'd = {"a": {"b": [1, 2, {"c": "}"}]}}',
    "print(f\"{n!r:>{width}} {{literal}} {d['a']}\")",
    'call = \'{"name": "run_tests", "arguments": {}}\'',
    'tag = "<tool_call>" + "</tool_call>" + "</parameter>"',
    'print("</function>", "<parameter=code>", "</invoke>")',
    'tokens = ["[TOOL_CALLS]", "<|call|>", "<|python_tag|>", "<think>"]',
    'print("é ü 漢字 🎉 \\u00e9")',
    "x = 'tab\\tseparated'  # a comment with \"quotes\" and 'more'",
    'empty = ""',
    "other = ''",
    'print("a", "b", sep=", ")',
    'letters = "abc"; print(letters[0], "}")',
    "if n > 0: print('Action: run_tests')",
    'answer = 3  # {"name": "x"}, [1, 2], }]',
    "lines = '\\n'.join(str(i) for i in range(3))",
    "print(n, end='\\\\n')",
    "print('`tick` ``two``')",
)
BLOCKS = (
    'def f(a):\n    """A docstring.\n\n    >>> f("x")\n    \'y\'\n    """\n    return a',
    "def g():\n    '''Another \"one\".'''\n    return {}",
    'def h():\n    """One line."""\n    return "}"',
    'text = """\nraw {text}\n"""\nprint(text)',
    'fence = """\n```\ncode\n```\n"""',
    "class A:\n    def b(self):\n        return [\"x\", 'y']",
)
ODD = ("\r\n", "\x0b", "\u2028", "\t")
"""What stands within a string, a comment or at the end of a line."""


def program(rng: random.Random) -> str:
    """Return a program that is Python source."""
    parts = rng.choices(LINES + BLOCKS, k=rng.randint(1, 8))
    return "\n".join(["n = int(input())", *parts]) + "\n" * rng.randint(0, 2)


def odd_text(rng: random.Random) -> str:
    """Return a program that is not Python source, with letters of all kinds."""
    parts = rng.choices([*LINES, *BLOCKS, *ODD, '"', "'", "\\", "}", '"""', "\x00", "é"], k=9)
    return "\n".join(parts)


class Format(NamedTuple):
    """A way to write a call.

    Attributes:
        write: writes the call of `write_solution` with a program.
        run: a call of `run_tests` in the same way; None where the format has one call.
        expected: the text that is read; by default the program.
        exact: whether the format holds any text, not only Python source.
    """

    write: Callable[[str], str]
    run: str | None = None
    expected: Callable[[str], str] = str
    exact: bool = True


def _call(code: str, name: str = "name", key: str = "arguments") -> str:
    return json.dumps({name: "write_solution", key: {"code": code}})


def _arguments(code: str) -> str:
    return json.dumps({"code": code})


RUN = '{"name": "run_tests", "arguments": {}}'


def _between(begin: str, end: str, *, listed: bool = False) -> Format:
    """Return the format of JSON between two markers."""
    left, right = ("[", "]") if listed else ("", "")
    return Format(
        lambda code: f"{begin}{left}{_call(code)}{right}{end}",
        f"{begin}{left}{RUN}{right}{end}",
    )


def _fenced(write: Callable[[str], str], **more: object) -> Format:
    return Format(lambda code: f"```json\n{write(code)}\n```", f"```json\n{RUN}\n```", **more)  # type: ignore[arg-type]


def _triple(code: str) -> str:
    return f'{{"name": "write_solution", "arguments": {{"code": """\n{code}\n"""}}}}'


def _unescaped_quotes(code: str) -> str:
    body = json.dumps(code, ensure_ascii=False)[1:-1].replace('\\"', '"')
    return f'{{"name": "write_solution", "arguments": {{"code": "{body}"}}}}'


def _as_it_is(code: str) -> str:
    return f'{{"name": "write_solution", "arguments": {{"code": "{_quoting(code)}"}}}}'


def _quoting(code: str) -> str:
    """Return a program with a double quote, without which its text may be JSON's as well."""
    return f'print("")\n{code}'


def _wrapped(code: str) -> str:
    return f"\n{code}\n"


def _python_triple(code: str) -> str:
    """Write code as it is; but where each backslash is doubled, as Python has it."""
    alone = re.search(r"(?<!\\)\\(?:\\\\)*[^\\\"'\n]", code)
    written = code if alone else code.replace("\\", "\\\\").replace('"', '\\"')
    return f'write_solution(code="""\n{written}\n""")'


def _ended(code: str) -> str:
    return f"{code}\n"


FORMATS: dict[str, Format] = {
    "qwen": _between("<tool_call>\n", "\n</tool_call>"),
    "qwen tools": _between("<tools>\n", "\n</tools>"),
    "function_call": _between("<function_call>", "</function_call>"),
    "granite": _between("<|tool_call|>", "<|/tool_call|>", listed=True),
    "granite 3": _between("<tool_call>", "</tool_call>", listed=True),
    "nemotron": _between("<TOOLCALL>", "</TOOLCALL>", listed=True),
    "jamba": _between("<tool_calls>", "</tool_calls>", listed=True),
    "phi functools": Format(lambda code: f"functools[{_call(code)}, {RUN}]"),
    "mistral": _between("[TOOL_CALLS]", "</s>", listed=True),
    "mistral args": Format(
        lambda code: f"[TOOL_CALLS]write_solution[ARGS]{_arguments(code)}",
        "[TOOL_CALLS]run_tests[ARGS]{}",
    ),
    "internlm": _between("<|action_start|><|plugin|>", "<|action_end|>"),
    "llama python_tag": _between("<|python_tag|>", "<|eom_id|>"),
    "llama function": Format(
        lambda code: f"<function=write_solution>{_arguments(code)}</function>",
        "<function=run_tests>{}</function>",
    ),
    "llama bare": Format(lambda code: _call(code, key="parameters"), RUN),
    "llama list": Format(lambda code: f"[{_call(code)}, {RUN}]"),
    "llama pythonic": Format(lambda code: f"[write_solution(code={code!r}), run_tests()]"),
    "llama tokens": Format(
        lambda code: f"<|python_start|>[write_solution(code={code!r})]<|python_end|>",
        "<|python_start|>[run_tests()]<|python_end|>",
    ),
    "llama call": Format(
        lambda code: f"<|python_tag|>write_solution.call(code={code!r})",
        "<|python_tag|>run_tests.call()",
    ),
    "gemma": Format(
        lambda code: f"```tool_code\nwrite_solution(code={code!r})\n```",
        "```tool_code\nprint(run_tests())\n```",
    ),
    "functiongemma": Format(
        lambda code: (
            f"<start_function_call>call:write_solution{{code:<escape>{code}<escape>}}"
            "<end_function_call>"
        ),
        "<start_function_call>call:run_tests{}<end_function_call>",
    ),
    "deepseek": Format(
        lambda code: (
            "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>write_solution\n"
            f"```json\n{_arguments(code)}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>"
        ),
        "<｜tool▁call▁begin｜>run_tests<｜tool▁sep｜>{}<｜tool▁call▁end｜>",
    ),
    "deepseek 3.2": Format(
        lambda code: (
            '<｜DSML｜function_calls>\n<｜DSML｜invoke name="write_solution">\n'
            f'<｜DSML｜parameter name="code" string="true">{code}</｜DSML｜parameter>\n'
            "</｜DSML｜invoke>\n</｜DSML｜function_calls>"
        ),
        '<｜DSML｜invoke name="run_tests">\n</｜DSML｜invoke>',
        exact=False,
    ),
    "kimi": Format(
        lambda code: (
            "<|tool_calls_section_begin|><|tool_call_begin|>functions.write_solution:0"
            f"<|tool_call_argument_begin|>{_arguments(code)}<|tool_call_end|>"
            "<|tool_calls_section_end|>"
        ),
        "<|tool_call_begin|>functions.run_tests:1<|tool_call_argument_begin|>{}<|tool_call_end|>",
    ),
    "gpt-oss": Format(
        lambda code: (
            "<|channel|>analysis<|message|>I think.<|end|><|start|>assistant<|channel|>commentary "
            f"to=functions.write_solution <|constrain|>json<|message|>{_arguments(code)}<|call|>"
        ),
        "<|start|>assistant to=functions.run_tests<|channel|>commentary json<|message|>{}<|call|>",
    ),
    "gpt-oss plain": Format(
        lambda code: (
            "analysisI write.assistantcommentary to=functions.write_solution "
            f"json{_arguments(code)}"
        ),
    ),
    "glm 4.5": Format(
        lambda code: (
            "<tool_call>write_solution\n<arg_key>code</arg_key>\n"
            f"<arg_value>{code}</arg_value>\n</tool_call>"
        ),
        "<tool_call>run_tests\n</tool_call>",
        exact=False,
    ),
    "glm 4": Format(lambda code: f"write_solution\n{_arguments(code)}", "run_tests\n{}"),
    "qwen coder": Format(
        lambda code: (
            "<tool_call>\n<function=write_solution>\n<parameter=code>\n"
            f"{code}\n</parameter>\n</function>\n</tool_call>"
        ),
        "<tool_call>\n<function=run_tests>\n</function>\n</tool_call>",
        exact=False,
    ),
    "minimax": Format(
        lambda code: (
            '<minimax:tool_call>\n<invoke name="write_solution">\n'
            f'<parameter name="code">{code}</parameter>\n</invoke>\n</minimax:tool_call>'
        ),
        '<minimax:tool_call>\n<invoke name="run_tests">\n</invoke>\n</minimax:tool_call>',
        exact=False,
    ),
    "hunyuan": Format(
        lambda code: (
            f"<tool_calls><tool_call>write_solution\n```json\n{_arguments(code)}\n```"
            "</tool_call></tool_calls>"
        ),
        "<tool_call>run_tests\n```json\n{}\n```</tool_call>",
    ),
    "react": Format(
        lambda code: (
            f"Thought: I write it.\nAction: write_solution\nAction Input: {_arguments(code)}"
        ),
        "Action: run_tests\nAction Input: {}",
    ),
    "own tag": Format(
        lambda code: f"<write_solution>\n<code>\n{code}\n</code>\n</write_solution>",
        "<run_tests/>",
        exact=False,
    ),
    "fence": _fenced(_call),
    "fence, other keys": _fenced(lambda code: _call(code, "tool_name", "tool_input")),
    "fence, flat": _fenced(lambda code: json.dumps({"tool": "write_solution", "code": code})),
    "fence, key is the name": _fenced(lambda code: json.dumps({"write_solution": {"code": code}})),
    "fence, encoded twice": _fenced(
        lambda code: json.dumps({"name": "write_solution", "arguments": _arguments(code)})
    ),
    "fence, in the providers' way": _fenced(
        lambda code: json.dumps(
            {
                "tool_calls": [
                    {"function": {"name": "write_solution", "arguments": _arguments(code)}}
                ]
            }
        )
    ),
    "fence, Python's quotes": _fenced(
        lambda code: str({"name": "write_solution", "arguments": {"code": code}})
    ),
    "fence, commas and comments": _fenced(
        lambda code: (
            f'// the solution\n{{"name": "write_solution", "arguments": '
            f'{{"code": {json.dumps(code)},}},}}'
        )
    ),
    "fence, doubled braces": _fenced(lambda code: f"{{{_call(code)}}}"),
    "fence, a brace lacks": _fenced(lambda code: _call(code)[:-1]),
    "fence, a brace too many": _fenced(lambda code: f"{_call(code)}}}"),
    "fence, real newlines": _fenced(
        lambda code: _call(code).replace("\\n", "\n").replace("\\\n", "\\\\n"), exact=False
    ),
    "fence, triple quotes": _fenced(_triple, expected=_wrapped, exact=False),
    "fence, unescaped quotes": _fenced(_unescaped_quotes, exact=False),
    "fence, code as it is": _fenced(_as_it_is, expected=_quoting, exact=False),
    "tag, triple quotes": Format(
        lambda code: f"<tool_call>{_triple(code)}</tool_call>", expected=_wrapped, exact=False
    ),
    "a fence after the call": Format(
        lambda code: (
            '```json\n{"name": "write_solution", "arguments": {}}\n```\n\n'
            f"```python\n{code}\n```"
        ),
        f"```json\n{RUN}\n```",
        expected=_ended,
        exact=False,
    ),
    "a fence of the tool": Format(
        lambda code: f"```write_solution\n{code}\n```",
        "```run_tests\n```",
        expected=_ended,
        exact=False,
    ),
    "Python call, triple quotes": Format(
        lambda code: f"```tool_code\n{_python_triple(code)}\n```",
        expected=_wrapped,
        exact=False,
    ),
}
