"""Reader of JSONL rows of revisions, for runs without stored conversations.

A row is a revision; rows are in the order in which revisions were written:

    {"problem_id": "abc300_a", "sample": 0, "code": "…", "turn": 1, "tokens": 812, "seconds": 9.5}

Or a row is a sample, and `revisions` holds objects with those fields, or programs as strings:

    {"problem_id": "abc300_a", "revisions": ["…", {"code": "…", "tokens": 1700}]}

`tokens`, `cost` and `seconds` are totals of the sample up to that revision; in a row of a sample,
totals of the whole sample. A sample that wrote nothing has `"code": null`, or an empty list.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any, cast

from harness.errors import DataError
from harness.features.grade.solutions import Published
from harness.features.import_ import fields
from harness.features.import_.trajectory import (
    MOST_REVISIONS,
    Revision,
    Spending,
    Trajectory,
    Turn,
)
from harness.models.protocol import ModelStop, ModelTurn, ToolCall, Usage

Row = tuple[dict[str, Any], str]


def read_revision_rows(rows: Iterable[Row], problem_field: str | None) -> Iterator[Trajectory]:
    """Read the rows of a file.

    Args:
        rows: each row with its location, for error messages.
        problem_field: path of the field that names the problem, if the user gave it.

    Raises:
        DataError: a field is malformed, or the rows of a sample are not consecutive.
    """
    together: list[Row] = []
    last: tuple[str, int] | None = None
    done: set[tuple[str, int]] = set()
    for row, where in rows:
        sample = _sample_of(row, where, problem_field)
        if sample is not None and sample in done:
            what = f"sample {sample[1]} of {sample[0]!r:.60} stands twice; keep its rows together"
            raise DataError(where, "sample", what)
        if together and sample != last:
            yield _of_rows(together, last)
            together = []
        if sample is None:
            yield _of_row(row, where, problem_field)
        else:
            together.append((row, where))
            if last is not None and last != sample:
                done.add(last)
            if len(together) > MOST_REVISIONS:
                raise DataError(where, None, f"more than {MOST_REVISIONS:,} revisions of a sample")
        last = sample
    if together:
        yield _of_rows(together, last)


def _sample_of(row: fields.Object, where: str, path: str | None) -> tuple[str, int] | None:
    """Return the problem and index of a revision's row; None for a row of a sample."""
    if "revisions" in row:
        return None
    return fields.problem_in((row,), where, path), fields.whole(row, "sample", where) or 0


def _of_rows(rows: list[Row], sample: tuple[str, int] | None) -> Trajectory:
    assert sample is not None
    (first, where), (last, last_where) = rows[0], rows[-1]
    written = [each for each in rows if each[0].get("code") is not None]
    revisions = _revisions(written)
    return Trajectory(
        where=where,
        problem=sample[0],
        index=sample[1],
        turns=_turns(revisions),
        model=fields.text(first, "model", where),
        mode=fields.text(first, "mode", where),
        revisions=revisions,
        published=Published.in_row(last, last_where),
        spent=_spending(last, last_where),
        calls=_calls(revisions, fields.whole(last, "turn", last_where)),
        error=fields.text(last, "error", last_where),
    )


def _of_row(row: dict[str, Any], where: str, path: str | None) -> Trajectory:
    inner: list[Row] = []
    for number, each in enumerate(fields.list_in(row, "revisions", where)[: MOST_REVISIONS + 1]):
        place = f"{where}: revision {number + 1}"
        if not isinstance(each, dict | str):
            raise DataError(place, None, "not an object, nor a program as a string")
        inner.append(
            (cast("dict[str, Any]", each) if isinstance(each, dict) else {"code": each}, place)
        )
    revisions = _revisions(inner)
    final = row.get("final_code")
    return Trajectory(
        where=where,
        problem=fields.problem_in((row,), where, path),
        index=fields.whole(row, "sample", where),
        turns=_turns(revisions),
        model=fields.text(row, "model", where),
        mode=fields.text(row, "mode", where),
        revisions=revisions,
        final=fields.text(row, "final_code", where) if final is not None else None,
        published=Published.in_row(row, where),
        spent=_spending(row, where),
        calls=_calls(revisions, fields.whole(row, "turns", where)),
        error=fields.text(row, "error", where),
    )


def _revisions(rows: list[Row]) -> tuple[Revision, ...]:
    found: list[Revision] = []
    for number, (row, where) in enumerate(rows, 1):
        if not isinstance(row.get("code"), str):
            raise DataError(where, "code", "missing; a revision has its program, or null for none")
        turn = fields.whole(row, "turn", where)
        tested = row.get("tested")
        if tested not in (None, True, False):
            raise DataError(where, "tested", "neither true nor false")
        revision = Revision(
            code=fields.text(row, "code", where),
            turn=number if turn is None else turn,
            spent=_spending(row, where),
            tested=bool(tested),
            published=Published.in_row(row, where),
        )
        _check_order(found[-1:], revision, where)
        found.append(revision)
    return tuple(found)


def _check_order(before: list[Revision], now: Revision, where: str) -> None:
    """Refuse figures that fall: single calls' figures, where totals are required."""
    for earlier in before:
        pairs = (
            ("turn", earlier.turn, now.turn),
            ("tokens", _tokens(earlier), _tokens(now)),
            ("cost", earlier.spent.cost, now.spent.cost),
            ("seconds", earlier.spent.seconds, now.spent.seconds),
        )
        for field, then, later in pairs:
            if then is not None and later is not None and later < then:
                what = (
                    f"falls from {then:g} to {later:g}; give what the sample had used until then, "
                    "not what one call used"
                )
                raise DataError(where, field, what)


def _tokens(revision: Revision) -> int | None:
    usage = revision.spent.usage
    return None if usage is None else usage.total_tokens


def _spending(row: fields.Object, where: str) -> Spending:
    return Spending(
        _usage(row, where),
        fields.amount(row, "cost", where),
        fields.amount(row, "seconds", where),
        split=isinstance(row.get("tokens"), dict | None),
    )


def _usage(row: fields.Object, where: str) -> Usage | None:
    """Return a row's tokens: a number (input), or `{"input": …, "output": …}`."""
    if isinstance(row.get("tokens"), dict):
        both = fields.object_in(row, "tokens", where)
        return Usage(
            input_tokens=fields.whole(both, "input", where) or 0,
            output_tokens=fields.whole(both, "output", where) or 0,
        )
    total = fields.whole(row, "tokens", where)
    return None if total is None else Usage(input_tokens=total)


def _calls(revisions: tuple[Revision, ...], told: int | None) -> int:
    """Return the model calls of a sample: at least those up to its last revision."""
    return max([told or 0, *(each.turn for each in revisions)])


def _turns(revisions: tuple[Revision, ...]) -> tuple[Turn, ...]:
    """Return revisions as calls of `write_solution`, the form that transcripts use."""
    turns: list[Turn] = []
    reached = 0
    for number, each in enumerate(revisions, 1):
        call = ToolCall(
            id=f"revision-{number}",
            name="write_solution",
            arguments=json.dumps({"code": each.code}, ensure_ascii=False),
        )
        answer = ModelTurn(tool_calls=(call,), stop=ModelStop(reason="tool_use"))
        turns.append(Turn((), answer, calls=max(0, each.turn - reached)))
        reached = max(reached, each.turn)
    return tuple(turns)
