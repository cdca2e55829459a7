"""JUnit XML: a test case for each sample.

Jenkins, GitLab and GitHub's actions read it (https://github.com/testmoapp/junitxml). A failure is
the model's fault; an error is a sample that is not graded yet.
"""

import re
from collections.abc import Iterator
from xml.sax.saxutils import escape, quoteattr

from harness.run.store.planned_samples import samples_by_problem
from harness.run.store.results import SampleResult
from harness.run.store.transcript import transcript_command
from harness.run.summary.loaded_run import Run
from harness.terminal.sample_table import pending_rows

_NOT_XML = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters not allowed in XML 1.0, and control characters of terminals."""


def junit_text(run: Run) -> Iterator[str]:
    """Yield the document; pending samples are errors, and ungraded ones are skipped."""
    done = run.results
    pending = list(pending_rows(samples_by_problem(run.manifest), done))
    counts = {
        "tests": len(done) + len(pending),
        "failures": sum(result.graded and not result.solved for result in done),
        "errors": len(pending),
        "skipped": sum(not result.graded for result in done),
        "time": f"{sum(result.seconds for result in done):.3f}",
    }
    attributes = "".join(f' {name}="{value}"' for name, value in counts.items())
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f"<testsuites{attributes}>\n"
    yield f"  <testsuite name={_quoted(run.name)}{attributes}>\n"
    yield "    <properties>\n"
    for name, value in _properties(run):
        yield f"      <property name={_quoted(name)} value={_quoted(value)}/>\n"
    yield "    </properties>\n"
    for result in done:
        yield from _case(run, result)
    for row in pending:
        yield f"    <testcase{_named(row.sample)}>\n"
        yield '      <error type="pending" message="not graded yet"/>\n'
        yield "    </testcase>\n"
    yield "  </testsuite>\n</testsuites>\n"


def _properties(run: Run) -> Iterator[tuple[str, str]]:
    for name in ("model", "mode"):
        yield name, str(run.spec[name])
    yield "prompt", str(run.manifest["prompt"]["name"])
    rate = run.summary.pass_at_1
    if rate is not None:
        yield "pass_at_1", f"{rate.value:.4f}"


def _case(run: Run, result: SampleResult) -> Iterator[str]:
    head = f'    <testcase{_named(result.sample)} time="{result.seconds:.3f}"'
    if result.solved:
        yield f"{head}/>\n"
        return
    yield f"{head}>\n"
    if result.graded:
        verdict = str(result.verdict)
        yield f"      <failure type={_quoted(verdict)} message={_quoted(_message(result))}>"
        yield _text(transcript_command(run.path, result.sample)) + "</failure>\n"
    else:
        yield f"      <skipped message={_quoted(_message(result))}/>\n"
    yield "    </testcase>\n"


def _message(result: SampleResult) -> str:
    points = "" if result.score is None else f"{result.score}; "
    return (
        f"{result.verdict.replace('_', ' ')}: {points}"
        f"{result.public_passed} of {result.public_total} public and "
        f"{result.hidden_passed} of {result.hidden_total} hidden tests passed; "
        f"stopped by {result.stop_reason.replace('_', ' ')}"
    )


def _named(sample: str) -> str:
    source, _, name = sample.partition("/")
    return f" classname={_quoted(source)} name={_quoted(name or sample)}"


def _quoted(text: str) -> str:
    return quoteattr(_NOT_XML.sub(_spelled, text))


def _text(text: str) -> str:
    return escape(_NOT_XML.sub(_spelled, text))


def _spelled(match: re.Match[str]) -> str:
    return match.group().encode("unicode_escape").decode()
