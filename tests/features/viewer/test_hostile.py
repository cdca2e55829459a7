"""Whatever stands in a run, its pages stay pages: bounded, and without a word that acts."""

import json
import os
import re
import time
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each
from runs_made import request, response, result, start, tool_result, write_run, write_transcript
from visitor import Visitor

from harness.features.viewer.failed_tests import failures_in
from harness.features.viewer.html import coloured
from harness.features.viewer.program_changes import beside, difference

SCRIPT = "</pre></script><script>alert(1)</script><img src=x onerror=alert(2)>\"'{{7*7}}"
ESCAPES = "\x1b[2J\x1b]0;title\x07\u202eevil\u2066\x00\x7f\ufeff"
HOSTILE = [SCRIPT, ESCAPES, "\u2028\u2029", "&lt;script&gt;", "]]>", "<!--", "%s%n{0}"]
LARGEST_PAGE = 3_000_000  # bytes


class _Tags(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.scripts: list[str | None] = []
        self.names: set[str] = set()
        self.handlers: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.add(tag)
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        if tag == "script":
            self.scripts.append(dict(attrs).get("src"))


def harmless(page: str) -> None:
    tags = _Tags(page)
    assert tags.scripts == ["/assets/view.js"]
    assert not tags.handlers
    assert "img" not in tags.names
    assert not [letter for letter in page if ord(letter) < 32 and letter not in "\n\t"]
    assert not set(page) & set("\u202e\u2066\x7f\ufeff\u2028")
    assert "&#39;49" not in page
    assert len(page) < LARGEST_PAGE


@pytest.mark.parametrize("text", HOSTILE)
def test_everything_that_is_not_ours_is_escaped(
    visitor: Visitor, tmp_path: Path, text: str
) -> None:
    rows = [
        result(f"p/{text}", title=text, platform=text, tags=[text], code=text),
        result("p/b", difficulty=None, extraction=text, isolation=text),
    ]
    run = write_run(tmp_path / "r", rows, model=text, mode=text, prompt=text, samples=1)
    test = {"index": 0, "public": True, "cpu_s": 0.0, "wall_s": 0.0, "verdict": "wrong_answer"}
    gap = {"where": text, "expected": text, "got": text}
    more = {"got": text, "error": text, "stdout": text, "stderr": text, "difference": gap}
    report = f"Test 1: {text[:50]}.\nInput:\n{text}\nExpected:\n{text}\nGot:\n{text}\n"
    tests = {"verdict": "wrong_answer", "passed": 0, "total": 1}
    calls = [(text, text, text), ("w", "write_solution", json.dumps({"code": text, text: text}))]
    events = [
        {**start(f"p/{text}"), "model": text, "prompt": text, "settings": {text: text}},
        request(1, ("system", text), ("user", text)),
        {"event": "retry", "turn": 1, "attempt": 1, "cause": text, "wait_s": 1.0},
        response(1, text, calls, reasoning=[{"text": text}]),
        tool_result(1, text, text, text),
        tool_result(1, "w", "write_solution", text),
        response(2, f"```python\n{text}\n```\n{text}\n```{text}\nx\n```"),
        {"event": "tested", "turn": 2, "tests": tests, "report": report, "seconds": 1.0},
        tool_result(2, "nobody", text, text),
        {"event": "refused", "turn": 2, "refusal": "length", "cause": text},
        {"event": "reasoning_left_out", "turn": 2},
        {"event": "tool_protocol", "turn": 2, "protocol": "text", "cause": text},
        {"event": "new_conversation", "turn": 2, "cause": text},
        {"event": "resumed", "kept": 99, "turn": 2, "cause": text, "time": text},
        {
            "event": "grade",
            "grade": {"verdict": "wrong_answer", "tests": [{**test, **more}], "public_total": 1},
        },
        {
            "event": "sample_end",
            "stop_reason": text,
            "chosen_by": text,
            "extraction": text,
            "error": text,
            "usage": {},
        },
    ]
    write_transcript(run, f"p/{text}", events)
    page = visitor.run()
    harmless(visitor.page("/"))
    harmless(page)
    harmless(visitor.run("?q=" + "%3Cscript%3E&state=%3Cscript%3E&difficulty=%22onload=x"))
    where = Visitor.links(page, visitor.address() + "/samples/")[0]
    page = visitor.page(where)
    harmless(page)
    assert "Turn 2" in page
    harmless(visitor.page(where + "/lines/4/call-0"))
    harmless(visitor.page(where + "/lines/4/text"))


@pytest.mark.thorough
def test_a_line_that_is_no_event_hides_no_other(visitor: Visitor, tmp_path: Path) -> None:
    run = write_run(tmp_path / "r", [result("p/a")])
    path = write_transcript(run, "p/a", [start("p/a"), response(1, "before")])
    with path.open("ab") as file:
        file.write(b'{"event":"response","turn":2,"response":{"text":"\\ud800"}}\n')
        file.write(b"\xff\xfe\x00\n[" + b"[" * 100_000 + b"\n")
        file.write(json.dumps(response(3, "after")).encode() + b"\n{torn")
    page = visitor.sample("A")
    assert "before" in page
    assert "after" in page
    assert page.count("cannot be read") == 3
    harmless(page)


def test_names_with_lone_surrogates_do_no_harm(visitor: Visitor, tmp_path: Path) -> None:
    run = write_run(tmp_path / "r", [result("p/a")])
    manifest = json.loads((run / "run.json").read_text())
    manifest["problems"]["p/\ud800"] = "0"
    manifest["spec"]["model"] = "\udfff<b>"
    (run / "run.json").write_text(json.dumps(manifest))
    harmless(visitor.page("/"))
    page = visitor.run()
    harmless(page)
    for where in Visitor.links(page, visitor.address() + "/samples/"):
        harmless(visitor.page(where))


@pytest.mark.thorough
def test_lines_of_10_mb_are_cut(visitor: Visitor, tmp_path: Path) -> None:
    huge = "<b>" * 3_500_000
    run = write_run(tmp_path / "r", [result("p/a", code=huge)])
    calls = [("c", "write_solution", json.dumps({"code": huge}))]
    events = [
        start("p/a"),
        request(1, ("user", huge)),
        response(1, huge, calls, reasoning=[{"text": huge}]),
        tool_result(1, "c", "write_solution", huge),
    ]
    write_transcript(run, "p/a", events)
    page = visitor.sample("A")
    harmless(page)
    assert len(page) < 500_000
    whole = visitor.page(visitor.where("A") + "/lines/3/text?page=2")
    harmless(whole)
    assert "page 2 of 105" in whole


@pytest.mark.thorough
@pytest.mark.parametrize("at_once", [True, False])
def test_thirty_thousand_calls_are_paged(visitor: Visitor, tmp_path: Path, at_once: bool) -> None:
    number = 30_000
    run = write_run(tmp_path / "r", [result("p/a")])
    names = [f"c{n}" for n in range(number)]
    events: list[dict[str, Any]] = [start("p/a")]
    if at_once:
        events.append(response(1, "", [(name, "run_code", "{}") for name in names]))
        events += [tool_result(1, name, "run_code", f"this is {name}.") for name in names]
    else:
        for turn, name in enumerate(names, 1):
            events.append(response(turn, "", [(name, "run_code", "{}")]))
            events.append(tool_result(turn, name, "run_code", f"this is {name}."))
    write_transcript(run, "p/a", events)
    page = visitor.sample("A")
    harmless(page)
    assert page.count("<article") == 100
    assert "this is c0." in page
    last = visitor.sample("A", "?part=99999")
    assert f"this is c{number - 1}." in last
    assert last.count("<article") <= 100


def test_a_run_file_that_is_no_file_is_not_waited_for(visitor: Visitor, tmp_path: Path) -> None:
    run = write_run(tmp_path / "r", [result("p/a")])
    os.mkfifo(tmp_path / "r" / "transcripts" / "p%2Fa-0.jsonl")
    assert "no transcript" in visitor.sample("A")
    (run / "results.jsonl").unlink()
    os.mkfifo(run / "results.jsonl")
    assert "0 of 1" in visitor.run()
    os.mkfifo(tmp_path / "run.json")
    visitor.page("/")


@pytest.mark.parametrize(
    "spec",
    [
        {"samples_per_problem": 10**12},
        {"samples_per_problem": -1},
        {"samples_per_problem": "x"},
        {"samples_per_problem": None},
    ],
)
def test_a_manifest_that_lies_is_told_of(
    visitor: Visitor, tmp_path: Path, spec: dict[str, Any]
) -> None:
    run = write_run(tmp_path / "r", [result("p/a")])
    manifest = json.loads((run / "run.json").read_text())
    manifest["spec"] |= spec
    (run / "run.json").write_text(json.dumps(manifest))
    assert re.search("is not a positive integer|samples .* are too many", visitor.page("/"))


@for_each(
    "program",
    [
        *('"' * 20_000, "(" * 20_000, "f'{" * 5_000, "\\" * 20_000, "0x" * 9_000, "a\n" * 10_000),
        *("a::" * 6_000, "a<" * 9_000, "a (" * 6_000, "/*" * 9_000, "# " * 9_000, "int a " * 3_000),
        "\n".join(["std::b<c> d(" * 100] * 10),
    ],
)
@for_each("language", ["python", "cpp"])
def test_programs_that_make_colouring_slow_are_not_waited_for(program: str, language: str) -> None:
    began = time.process_time()
    shown = coloured(program, language)
    assert time.process_time() - began < 5
    assert "<script" not in shown


@for_each(
    ("old", "new"),
    [
        ("a\nb\n" * 499, "b\na\n" * 499),
        ("\n".join(map(str, range(999))), "\n".join(map(str, range(999, 0, -1)))),
        ("x\n" * 999, "x\n" * 998 + "y"),
    ],
)
def test_programs_that_make_comparing_slow_are_not_waited_for(old: str, new: str) -> None:
    began = time.process_time()
    assert difference(old, new)
    assert time.process_time() - began < 5


def test_programs_that_are_too_long_are_not_compared() -> None:
    assert difference("x\n" * 2_000, "y") is None
    assert difference("x" * 100_000, "y") is None


def test_a_report_that_fakes_its_own_headings_stays_bounded() -> None:
    report = "Test 1: x.\nInput:\n" + "Expected:\nGot:\nTest 2: y.\nInput:\n" * 300
    assert len(failures_in(report)) <= 10
    assert failures_in("x" * 1_000_000) == ()


def test_long_texts_side_by_side_are_cut() -> None:
    sides = beside("x" * 100_000 + "\n" * 9_999, "y\n" * 9_999)
    assert len(sides.lines) == 200
    assert sides.left > 9_000
    assert max(len(side.expected or "") for side in sides.lines) < 3_000


def test_a_word_of_an_address_is_never_code(visitor: Visitor, tmp_path: Path) -> None:
    write_run(tmp_path / "r", [result("p/a")])
    for query in ("?q=%00%ff", "?q=" + "x" * 5_000, "?page=" + "9" * 50, "?sort=a&sort=b", "?%ff"):
        harmless(visitor.run(query))
    page = visitor.run("?q=%22%3E%3Cscript%3Ealert(1)%3C/script%3E")
    assert re.search(r'name="q" value="[^"<>]*script', page)
