"""Reader of agent runs of Harbor (ATIF).

ATIF is Harbor's Agent Trajectory Interchange Format, 1.0 to 1.8: one JSON object per sample, with
`steps` of a system, a user or an agent. See https://harborframework.com/docs/trajectory-format.
Fields that this program adds when it exports a sample are in `extra.harness`
(`harness.features.export.conversations`). Trajectories of subagents are not read. Steps that were
copied from an earlier trajectory are context, not calls.
"""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import TypeVar

from harness.agent.attempt import ChosenBy, StopReason
from harness.errors import DataError
from harness.features.grade.solutions import Published
from harness.features.import_.chat_messages import (
    TurnBuilder,
    arguments_text,
    content_text,
    turn_in,
)
from harness.features.import_.fields import Fields
from harness.features.import_.trajectory import UNANSWERED, NamedRevision, Spending, Trajectory
from harness.models.protocol import SystemMessage, ToolCall, Usage, UserMessage

VERSION = re.compile(r"ATIF-v1\.[0-8]")
_Word = TypeVar("_Word", ChosenBy, StopReason)


def read_atif(row: Fields, problem_field: str | None) -> Iterator[Trajectory]:
    """Read a trajectory of a known version that is whole; see `RowReader`."""
    version = row.text("schema_version")
    if not VERSION.fullmatch(version):
        what = f"{version!r:.40} is not known; known are ATIF-v1.0 to ATIF-v1.8"
        raise DataError(row.where, "schema_version", what)
    if row.get("continued_trajectory_ref") is not None:
        what = "the trajectory goes on in another file; put its steps into one"
        raise DataError(row.where, "continued_trajectory_ref", what)
    extra = row.inner("extra")
    ours, metrics = extra.inner("harness"), row.inner("final_metrics")
    totals = {
        f"{name}_tokens": metrics.get(f"total_{name}_tokens")
        for name in ("prompt", "completion", "cached")
    }
    talk = _AtifSteps(row.where)
    for step in row.each("steps", "step"):
        talk.add(step)
    turns = talk.turns()
    named_by = (row, extra) if problem_field is not None else (ours, extra, row)
    turns_named = (each for each in ours.items("revision_turns") if isinstance(each, int))
    named = [
        NamedRevision(turn, each.text("code_hash"), each.get("tested") is True)
        for each in ours.each("revisions")
        if (turn := each.whole("turn")) is not None
    ] or map(NamedRevision, turns_named)
    yield Trajectory(
        where=row.where,
        problem=named_by[0].problem(problem_field, *named_by[1:]),
        index=ours.whole("index"),
        turns=turns,
        model=row.inner("agent").text("model_name"),
        mode=ours.text("mode"),
        final=ours.text("code") if "code" in ours else None,
        chosen_by=_word(ChosenBy, ours, "chosen_by"),
        extraction=ours.text("extraction") if "extraction" in ours else None,
        named=tuple(named),
        stop_reason=_word(StopReason, ours, "stop_reason") or StopReason.MODEL_STOPPED,
        published=Published.in_row(ours.values, row.where)
        or Published.in_row(extra.values, row.where),
        spent=Spending(
            _usage(Fields(totals, row.where)),
            metrics.amount("total_cost_usd"),
            ours.amount("seconds"),
        ),
        error=extra.text("error") or ("" if turns or "code" in ours else UNANSWERED),
    )


class _AtifSteps(TurnBuilder):
    """The steps of a trajectory as a conversation."""

    _began: datetime | None = None

    def add(self, step: Fields) -> None:
        """Add a step. Raises DataError."""
        source = step.get("source")
        at = self._at(step)
        text = content_text(step, "message")
        results = step.inner("observation").each("results")
        if source == "system":
            self.say(SystemMessage(content=text))
        elif source == "user":
            self.say(UserMessage(content=text))
        elif source == "agent":
            self._answer(step, text, at, results)
        else:
            what = f"{source!r:.40} is not one of system, user, agent"
            raise DataError(step.where, "source", what)
        for result in results:  # of tool calls, or messages without a call
            text, call_id = content_text(result, "content"), result.text("source_call_id")
            if call_id:
                failed = result.inner("extra").get("is_error") is True
                self.result(call_id, text, failed=failed)
            else:
                self.say(UserMessage(content=text))

    def _answer(self, step: Fields, text: str, at: float | None, results: list[Fields]) -> None:
        calls = [
            ToolCall(
                id=call.text("tool_call_id") or f"call-{number}",
                name=call.text("function_name"),
                # this program exports malformed arguments in `extra`
                arguments=call.inner("extra").text("arguments")
                or arguments_text(call.get("arguments")),
            )
            for number, call in enumerate(step.each("tool_calls"), 1)
        ]
        metrics = step.inner("metrics")
        answer = turn_in(step, text, calls, _usage(metrics))
        if step.get("is_copied_context") is True:
            self.say(answer.message())
            return
        asked = step.whole("llm_call_count")
        tested = frozenset(  # only this program exports which calls ran the public tests
            result.text("source_call_id")
            for result in results
            if result.inner("extra").get("tests") is not None
        )
        self.answer(
            answer,
            cost=metrics.amount("cost_usd"),
            until=at,
            calls=1 if asked is None else asked,
            tested=tested,
        )

    def _at(self, step: Fields) -> float | None:
        """Seconds since the first step that has a time."""
        stamp = step.text("timestamp")
        if not stamp:
            return None
        try:
            now = datetime.fromisoformat(stamp)
            self._began = self._began or now
            return max(0.0, (now - self._began).total_seconds())
        except (ValueError, TypeError) as error:  # times with and without a zone
            what = f"not an ISO 8601 time: {error}"
            raise DataError(step.where, "timestamp", what) from None


def _usage(metrics: Fields) -> Usage | None:
    read, written = (metrics.whole(f"{name}_tokens") for name in ("prompt", "completion"))
    if read is None and written is None:
        return None
    beside = metrics.inner("extra")
    return Usage(
        input_tokens=read or 0,
        cached_input_tokens=metrics.tokens("cached_tokens"),
        cache_write_tokens=beside.tokens("cache_write_tokens"),
        output_tokens=written or 0,
        reasoning_tokens=beside.tokens("reasoning_tokens"),
    )


def _word(kind: type[_Word], row: Fields, key: str) -> _Word | None:
    """Return a field as a member of `kind`; None if it is empty. Raises DataError."""
    word = row.text(key)
    try:
        return kind(word) if word else None
    except ValueError:
        raise DataError(row.where, key, f"{word!r:.40} is not one of {', '.join(kind)}") from None
