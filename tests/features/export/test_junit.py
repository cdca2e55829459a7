"""JUnit's XML for CI."""

import shlex
from collections.abc import Callable
from xml.etree import ElementTree as ET

from hostile_words import HOSTILE

from harness.features.export.sample_rows import junit_text
from harness.grading.verdict import Verdict
from harness.run.store.results import SampleResult
from harness.run.summary.loaded_run import Run

MakeResult = Callable[..., SampleResult]
MakeRun = Callable[..., Run]


def _suite(run: Run) -> ET.Element:
    root = ET.fromstring("".join(junit_text(run)).encode())
    (suite,) = root
    assert (root.tag, suite.tag) == ("testsuites", "testsuite")
    return suite


def test_a_sample_is_a_case_and_a_failure_says_why(agentic: Run) -> None:
    suite = _suite(agentic)
    cases = suite.findall("testcase")
    assert suite.attrib["name"] == "agentic"
    counts = [suite.attrib[name] for name in ("tests", "failures", "errors", "skipped")]
    assert counts == ["20", "5", "0", "0"]
    for case, result in zip(cases, agentic.results, strict=True):
        assert f"{case.attrib['classname']}/{case.attrib['name']}" == result.sample
        failure = case.find("failure")
        assert (failure is None) is result.solved
        if failure is not None:
            assert failure.attrib["type"] == result.verdict.value
            assert (
                f"{result.hidden_passed} of {result.hidden_total} hidden"
                in failure.attrib["message"]
            )
            words = ["harness", "transcript", str(agentic.path), result.sample]
            assert failure.text == shlex.join(words)
    properties = {p.attrib["name"]: p.attrib["value"] for p in suite.iter("property")}
    assert properties["pass_at_1"] == "0.7500"


def test_pending_is_an_error_and_ungraded_is_skipped(
    make_run: MakeRun, make_result: MakeResult
) -> None:
    ungraded = make_result("made/b", verdict=Verdict.UNGRADED)
    suite = _suite(make_run([make_result("made/a", solved=True), ungraded], more=1))
    assert [[each.tag for each in case] for case in suite.findall("testcase")] == [
        [],
        ["skipped"],
        ["error"],
    ]
    counts = [suite.attrib[name] for name in ("tests", "failures", "errors", "skipped")]
    assert counts == ["3", "0", "1", "1"]


def test_any_text_is_xml(make_run: MakeRun, make_result: MakeResult) -> None:
    suite = _suite(make_run([make_result(f"made/{HOSTILE}", title=HOSTILE)]))
    (case,) = suite.findall("testcase")
    assert r"\x00\x1b[2J\ufffe" in case.attrib["name"]
    assert "</testcase>]]>&" in case.attrib["name"]


def test_its_commands_are_what_a_shell_takes(make_run: MakeRun, make_result: MakeResult) -> None:
    run = make_run([make_result("made/a b; rm -rf ~ $(x)")])
    (case,) = _suite(run).findall("testcase")
    failure = case.find("failure")
    assert failure is not None
    words = shlex.split(failure.text or "")
    assert words == ["harness", "transcript", str(run.path), "made/a b; rm -rf ~ $(x)#0"]


def test_nothing_in_it_acts_on_a_terminal(make_run: MakeRun, make_result: MakeResult) -> None:
    text = "".join(junit_text(make_run([make_result("made/a\x9b2J\x7f", title="\x1b[2J")])))
    assert not [letter for letter in text if not letter.isprintable() and letter != "\n"]
