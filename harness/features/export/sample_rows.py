"""CSV, Parquet and JUnit XML: an entry for each sample, made of its result alone.

In CSV, control characters are escaped and formulas are quoted, so that neither a terminal nor a
spreadsheet interprets text written by a model. Parquet keeps every text unchanged.

JUnit XML is the format that Jenkins, GitLab and GitHub's actions read
(https://github.com/testmoapp/junitxml). A failure is the model's fault; an error is a sample that
is not graded yet.
"""

# pyarrow has no type stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownMemberType=false, reportUnknownArgumentType=false

import csv
import io
import re
from collections.abc import Iterator, Mapping
from datetime import date
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from harness.run.store.results import SampleResult
from harness.run.store.transcript import transcript_command
from harness.run.summary.loaded_run import Run
from harness.terminal.sample_table import pending_rows
from harness.text import printable

TEXT, WHOLE, NUMBER, TRUTH, DATE = "text", "whole", "number", "truth", "date"
_OWN = ("run", "model", "mode", "prompt", "tags", "known_issues")
_USAGE = ("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_tokens")
ROWS_AT_A_TIME = 1_000
FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20")
"""Characters that start a formula in spreadsheets (OWASP, CSV injection)."""

_NOT_XML = re.compile("[^\t\n\r\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters not allowed in XML 1.0, and control characters of terminals."""


def _columns(*kinds: tuple[str, str]) -> dict[str, str]:
    return {name: kind for kind, names in kinds for name in names.split()}


FIELDS = _columns(
    (TEXT, "run model mode prompt sample problem_id"),
    (WHOLE, "index"),
    (TEXT, "title problem_hash platform difficulty tags"),
    (DATE, "release_date"),
    (TEXT, "known_issues verdict"),
    (TRUTH, "graded solved"),
    (WHOLE, "public_passed public_total hidden_passed hidden_total"),
    (NUMBER, "fraction"),
    (TRUTH, "overfit"),
    (TEXT, "stop_reason chosen_by extraction"),
    (WHOLE, "model_calls tool_calls malformed_tool_calls nudges cut_off written"),
    (TEXT, "tool_protocol"),
    (TRUTH, "fallback refused confined"),
    (WHOLE, "input_tokens cached_input_tokens output_tokens reasoning_tokens"),
    (NUMBER, "cost seconds"),
    (WHOLE, "peak_bytes"),
    (TEXT, "isolation code"),
)
"""The columns in order with their types; any value may be missing (None)."""
EFFICIENCY_FIELDS = _columns(
    (TEXT, "timing"),
    (NUMBER, "cpu_s beyond beyond_low beyond_high beyond_branches percentile"),
    (TEXT, "lack remark"),
)
"""Columns of timed solutions; see `harness.efficiency.scale.Efficiency`."""


def fields_of(run: Run) -> dict[str, str]:
    """Return the columns of a run, with those of efficiency only if it was measured."""
    if all(result.efficiency is None for result in run.results):
        return FIELDS
    plain = {name: kind for name, kind in FIELDS.items() if name != "code"}
    return {**plain, **EFFICIENCY_FIELDS, "code": FIELDS["code"]}


def record(run: Run, result: SampleResult, fields: Mapping[str, str] = FIELDS) -> dict[str, Any]:
    """Return a sample's values by column, lists joined by semicolons.

    Args:
        run: the sample's run.
        result: the sample.
        fields: the run's columns, from `fields_of`.
    """
    usage, timed = result.usage, result.efficiency
    plain = [name for name in FIELDS if name not in {*_OWN, *_USAGE}]
    values = {name: getattr(result, name) for name in plain}
    values |= {name: None if usage is None else getattr(usage, name) for name in _USAGE}
    values |= {
        name: None if timed is None or getattr(timed, name) == "" else getattr(timed, name)
        for name in EFFICIENCY_FIELDS
    }
    values |= {
        "run": run.name,
        "model": str(run.spec["model"]),
        "mode": str(run.spec["mode"]),
        "prompt": str(run.manifest["prompt"]["name"]),
        "tags": ";".join(result.tags),
        "known_issues": ";".join(result.known_issues),
    }
    for name in ("verdict", "stop_reason", "chosen_by"):
        values[name] = str(values[name])
    return {name: values[name] for name in fields}


def write_parquet(run: Run, path: Path) -> None:
    """Write the samples of a run as Parquet. Raises OSError."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types: dict[str, Any] = {
        TEXT: pa.string(),
        WHOLE: pa.int64(),
        NUMBER: pa.float64(),
        TRUTH: pa.bool_(),
        DATE: pa.date32(),
    }
    fields = fields_of(run)
    schema = pa.schema([(name, types[kind]) for name, kind in fields.items()])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for start in range(0, len(run.results), ROWS_AT_A_TIME):
            some = run.results[start : start + ROWS_AT_A_TIME]
            rows = [record(run, each, fields) for each in some]
            writer.write_table(pa.Table.from_pylist(rows, schema=schema))


def csv_text(run: Run) -> Iterator[str]:
    """Yield the header, then a row per sample."""
    fields = fields_of(run)
    yield _line(list(fields))
    for result in run.results:
        yield _line([_cell(value) for value in record(run, result, fields).values()])


def _cell(value: object) -> object:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case date():
            return value.isoformat()
        case str():
            mark = "'" if value.startswith(FORMULA) else ""
            return mark + "\r\n".join(map(printable, value.split("\r\n")))
        case _:
            return value


def _line(cells: list[object] | list[str]) -> str:
    buffer = io.StringIO()
    csv.writer(buffer, lineterminator="\r\n").writerow(cells)
    return buffer.getvalue()


def junit_text(run: Run) -> Iterator[str]:
    """Yield the document; pending samples are errors, and ungraded ones are skipped."""
    done = run.results
    pending = list(
        pending_rows(run.manifest["problems"], int(run.spec["samples_per_problem"]), done)
    )
    counts = {
        "tests": len(done) + len(pending),
        "failures": sum(result.graded and not result.solved for result in done),
        "errors": len(pending),
        "skipped": sum(not result.graded for result in done),
        "time": f"{sum(result.seconds for result in done):.3f}",
    }
    told = "".join(f' {name}="{value}"' for name, value in counts.items())
    yield '<?xml version="1.0" encoding="UTF-8"?>\n'
    yield f"<testsuites{told}>\n"
    yield f"  <testsuite name={_quoted(run.name)}{told}>\n"
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
    return (
        f"{result.verdict.replace('_', ' ')}: "
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
