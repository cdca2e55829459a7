"""Calls with C++ whose JSON is broken are read as those with Python are."""

import json
import time
from typing import Any

import pytest
from for_each import for_each
from generated_calls import TOOLS

from harness.kinds.cpp.language import may_be_cpp
from harness.models.text_tools.reader import read_calls
from harness.models.text_tools.salvage import text_in_call

CODE = r"""#include <iostream>
using namespace std;
/* don't "worry" { */
int main() {  // it's fine
    int n = 1'000'000;
    string s = R"(a "raw" {one)";
    char c = '"', d = '{', e = '\'';
    cout << "a\n\t\"b\" {" << n << c << d << e << s << '\n';
    for (int i = 0; i < 3; ++i) { cout << i << "\\" << endl; }
}
"""
FUNCTION = "class Solution {\npublic:\n    int twice(int a) { return 2 * a; }\n};\n"


def read(text: str, *, cut_off: bool = False) -> list[Any]:
    calls = read_calls(text, TOOLS, cut_off=cut_off).calls
    return [json.loads(call.arguments).get("code") for call in calls]


@pytest.mark.parametrize("code", [CODE, FUNCTION])
class TestBrokenJson:
    def test_raw_lines_and_quotes_are_kept(self, code: str) -> None:
        call = f'{{"name": "write_solution", "arguments": {{"code": "{code}"}}}}'
        assert read(f"```json\n{call}\n```") == [code]

    def test_escaped_lines_with_bare_quotes_are_unescaped(self, code: str) -> None:
        written = json.dumps(code)[1:-1].replace('\\"b', '"b').replace("<iostream>", '"x.h"')
        call = f'{{"name": "write_solution", "arguments": {{"code": "{written}"}}}}'
        codes = read(f"<tool_call>\n{call}\n</tool_call>")
        assert len(codes) == 1
        assert codes[0].count("\n") == code.count("\n")

    def test_a_string_that_the_fence_ends_is_stored(self, code: str) -> None:
        call = f'{{"name": "write_solution", "arguments": {{"code": "{code}'
        assert read(f"```json\n{call}```") == [code]

    def test_the_text_of_a_failed_call_is_found(self, code: str) -> None:
        written = json.dumps(code)[1:-1]
        assert text_in_call(f'{{"code": "{written}", oops', "code").strip(', "ops') != ""
        assert may_be_cpp(text_in_call(f'{{"code": "{written}"', "code"))


@for_each(
    ("text", "whole"),
    [
        (CODE, True),
        (FUNCTION, True),
        (CODE[:-3], False),
        (CODE.replace("endl; }", "endl;"), False),
        (json.dumps(CODE)[1:-1], False),
        (CODE.replace("\\n", "\n"), False),
        ("int main() { (] }", False),
        ("int f() { return 1; }", False),
        ("def main():\n    return {'a': 1}", True),  # Python is tried first
        ('int main() { puts("a); }', False),
        ("int main() { /* }", False),
        ('int main() { R"x( }', False),
        ("#define A \\\n 1\nint main() { return A; }", True),
    ],
)
def test_a_whole_source_closes_what_it_opens(text: str, whole: bool) -> None:
    assert may_be_cpp(text) is whole


@pytest.mark.thorough
@pytest.mark.parametrize("piece", ["/*", '"', "'", 'R"(', "(", "1'", "//", "\\", "main("])
def test_hostile_texts_are_looked_at_in_linear_time(piece: str) -> None:
    text = "main()" + piece * (200_000 // len(piece))
    began = time.process_time()
    may_be_cpp(text)
    assert time.process_time() - began < 5
