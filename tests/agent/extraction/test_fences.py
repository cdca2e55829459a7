"""Programs of compiled languages in a model's text."""

import json

from for_each import for_each

from harness.agent.extraction.fences import extract_fenced
from harness.languages.known import language

PROGRAM = "#include <iostream>\n\nint main() {\n    std::cout << (1 < 2);\n}"
CPP = language("cpp")


@for_each(
    ("text", "rule"),
    [
        (f"So:\n```cpp\n{PROGRAM}\n```\nDone.", "cpp block"),
        (f"So:\n```\n{PROGRAM}\n```\nDone.", "last block"),
        (f"It is printed.\n\n{PROGRAM}\n\nThat is all.", "bare code"),
        (f"[CPP]\n{PROGRAM}\n[/CPP]", "tags"),
        (f"<pre><code>{PROGRAM.replace('<', '&lt;')}\n</code></pre>", "tags"),
        (json.dumps({"explanation": "Printed.", "code": PROGRAM}), "JSON"),
        (f"```json\n{json.dumps({'code': PROGRAM})}\n```", "JSON"),
    ],
)
def test_a_program_in_cpp_is_found(text: str, rule: str) -> None:
    extraction = extract_fenced(text, language=CPP)
    assert (extraction.code, extraction.rule.lower()) == (PROGRAM, rule.lower())


@for_each("text", ["No idea.", "Use #include.", '{"code": "print(1)"}', "<code>x"])
def test_words_are_no_program(text: str) -> None:
    assert extract_fenced(text, language=CPP).code == ""
