"""Each format of agent runs, read: revisions with turns, tokens and seconds; clear errors."""

import gzip
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
from agent_runs_made import (
    RIGHT,
    WRONG,
    atif,
    eval_log,
    inspect_sample,
    messages,
    trace,
)
from for_each import for_each

from harness.agent.attempt import StopReason
from harness.errors import DataError, UsageError
from harness.features.import_ import (
    chat_messages,
    eval_archive,
    trajectory,
    trajectory_file,
)
from harness.features.import_.imported_sample import ImportedSample, WriteTool
from harness.languages.program_key import code_hash

Read = Callable[..., list[ImportedSample]]
SUBMIT = {"tools": (WriteTool("submit", "text"),), "problem_field": "extra.task"}


def facts(sample: ImportedSample) -> list[tuple[Any, ...]]:
    """Each revision: its turn, tokens until then, whether it was tested, and its program."""
    return [
        (each.turn, each.spent.usage and each.spent.usage.total_tokens, each.tested, each.code)
        for each in sample.revisions
    ]


class TestRevisionRows:
    FIRST: ClassVar = {"problem_id": "echo", "sample": 0, "code": WRONG, "turn": 1, "tokens": 100}

    def test_a_row_a_revision(self, read: Read) -> None:
        rows = [
            {**self.FIRST, "tested": True, "seconds": 2},
            {**self.FIRST, "turn": 3, "code": RIGHT, "tokens": {"input": 700, "output": 200}},
            {**self.FIRST, "sample": 1, "code": None, "turn": 2},
        ]
        one, none = read(rows)
        assert facts(one) == [(1, 100, True, WRONG), (3, 900, False, RIGHT)]
        assert (one.final, one.model_calls, one.revisions[0].spent.seconds) == (RIGHT, 3, 2.0)
        assert (none.name, none.revisions, none.final, none.model_calls) == (
            "own/echo#1", (), "", 2,
        )  # fmt: skip

    def test_a_row_a_sample(self, read: Read) -> None:
        rows = [
            {"question_id": "echo", "revisions": [WRONG, {"code": RIGHT, "tokens": 50}],
             "tokens": 70, "turns": 5},
            {"question_id": "echo", "revisions": []},
        ]  # fmt: skip
        one, none = read(rows)
        assert facts(one) == [(1, None, False, WRONG), (2, 50, False, RIGHT)]
        assert (one.model_calls, one.spent.usage and one.spent.usage.total_tokens) == (5, 70)
        assert (none.index, none.model_calls) == (1, 0)

    def test_the_final_solution_may_be_another_than_the_newest(self, read: Read) -> None:
        (sample,) = read([{"problem_id": "echo", "revisions": [RIGHT, WRONG], "final_code": RIGHT}])
        assert (sample.final, sample.chosen_by) == (RIGHT, "answer")

    @for_each(
        ("row", "error_message"),
        [
            ({"code": 1}, "a.jsonl:2: field 'code'"),
            ({"code": "x", "turn": -1}, "a.jsonl:2: field 'turn'"),
            ({"code": "x", "turn": True}, "a.jsonl:2: field 'turn'"),
            ({"code": "x", "tokens": "many"}, "a.jsonl:2: field 'tokens'"),
            ({"code": "x", "tokens": 99}, "a.jsonl:2: field 'tokens': falls from 100 to 99"),
            ({"code": "x", "cost": float("inf")}, "a.jsonl:2: field 'cost'"),
            ({"code": "x", "verdict": "fine"}, "a.jsonl:2: field 'verdict'"),
            ({"code": "x", "tested": "yes"}, "a.jsonl:2: field 'tested'"),
            ({"code": "x" * 300_000}, "a solution of 300,000 characters"),
            ({"revisions": [3]}, "a.jsonl:2: revision 1"),
            ({"revisions": "x"}, "a.jsonl:2: field 'revisions'"),
            ({"code": "x", "sample": 10**8}, "a.jsonl:2: field 'sample'"),
            ({"problem_id": None}, "a.jsonl:2: field 'problem_id': missing"),
        ],
    )
    def test_a_bad_row_names_file_line_and_field(
        self, read: Read, row: Any, error_message: str
    ) -> None:
        with pytest.raises(DataError) as error:
            read([self.FIRST, {**self.FIRST, **row}])
        assert error_message in str(error.value)
        assert "\n" not in str(error.value)

    def test_the_rows_of_a_sample_stay_together(self, read: Read) -> None:
        other = {**self.FIRST, "sample": 1}
        with pytest.raises(DataError, match=r"a.jsonl:3: .*stands twice; keep its rows together"):
            read([self.FIRST, other, self.FIRST])

    def test_revisions_are_bounded(self, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(trajectory, "MOST_REVISIONS", 2)
        with pytest.raises(DataError, match="more than 2 revisions"):
            read([self.FIRST] * 3)


class TestMessages:
    def test_calls_of_a_tool_write_revisions(self, read: Read) -> None:
        (sample,) = read([{"messages": messages(WRONG, RIGHT), "problem_id": "own/echo"}])
        assert facts(sample) == [(1, 120, True, WRONG), (2, 240, True, RIGHT)]
        assert (sample.tool_calls, sample.chosen_by) == (4, "newest")

    def test_code_in_answers_counts_without_tool_calls(self, read: Read) -> None:
        conversation = [
            {"role": "developer", "content": [{"type": "text", "text": "Solve."}]},
            {"role": "assistant", "content": "I think."},
            {"role": "user", "content": "Go on."},
            {"role": "assistant", "content": f"```python\n{RIGHT}\n```"},
            {"role": "user", "content": "thanks"},
        ]
        (sample,) = read([{"messages": conversation, "task_id": "echo"}])
        assert facts(sample) == [(2, None, False, RIGHT)]
        assert sample.extraction == "python block with entry point"

    def test_a_call_that_failed_wrote_nothing(self, read: Read) -> None:
        conversation = messages(RIGHT, WRONG, tests=False)
        conversation[-1]["is_error"] = True
        (sample,) = read([{"messages": conversation, "problem_id": "echo"}])
        assert facts(sample) == [(1, 120, False, RIGHT)]

    def test_a_sample_is_named_as_our_export_names_it(self, read: Read) -> None:
        row = {"messages": messages(RIGHT), "metadata": {"sample": "own/echo#4", "model": "m"}}
        assert [each.name for each in read([row])] == ["own/echo#4"]
        with pytest.raises(DataError, match=r"a.jsonl:2: .*sample 4 of own/echo is at a.jsonl:1"):
            read([row, row])

    @for_each(
        ("conversation", "error_message"),
        [
            ([{"role": "robot", "content": ""}], "message 1: field 'role'"),
            ([{"role": "user", "content": 3}], "message 1: field 'content'"),
            ([{"role": "user", "content": [3]}], "message 1: field 'content'"),
            ([{"role": "assistant", "tool_calls": [3]}], "'tool_calls[0]'"),
            ([{"role": "assistant", "tool_calls": [{"id": "x"}]}], "tool call 1: field 'name'"),
            ([{"role": "assistant", "usage": {"prompt_tokens": -1}}], "'prompt_tokens'"),
            ([3], "'messages[0]'"),
            ([], "empty"),
        ],
    )
    def test_a_bad_message_names_its_place(
        self, read: Read, conversation: Any, error_message: str
    ) -> None:
        with pytest.raises(DataError) as error:
            read([{"messages": conversation, "problem_id": "echo"}])
        assert str(error.value).startswith("a.jsonl:1")
        assert error_message in str(error.value)

    def test_messages_and_their_length_are_bounded(
        self, read: Read, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        row = {"messages": messages(RIGHT), "problem_id": "echo"}
        monkeypatch.setattr(chat_messages, "MOST_CHARACTERS", 20)
        with pytest.raises(DataError, match="more than 20 characters"):
            read([row])
        monkeypatch.setattr(chat_messages, "MOST_MESSAGES", 2)
        monkeypatch.setattr(chat_messages, "MOST_CHARACTERS", 10_000)
        with pytest.raises(DataError, match="more than 2 messages"):
            read([row])

    def test_arguments_that_are_no_object_write_nothing(self, read: Read) -> None:
        conversation = messages(RIGHT)
        conversation[1]["tool_calls"][0]["function"]["arguments"] = '{"code": '
        (sample,) = read([{"messages": conversation, "problem_id": "echo"}])
        assert (sample.revisions, sample.final, sample.chosen_by) == ((), "", "none")

    @for_each(
        ("answer", "code"),
        [
            (f"<code>{RIGHT}</code>", RIGHT),
            (f"<code>{WRONG}</code> no: <code>{RIGHT}</code>", RIGHT),
            (f"<code>{RIGHT}</code> I have put it between <code> tags.", RIGHT),
            (f"I shall use <code> tags: <code>{RIGHT}</code>", RIGHT),
            (f"<code>{RIGHT}</code> and </code> ends it", RIGHT),
            (f"<code>{RIGHT}</code>\n<code>print('cut o", RIGHT),
            (f"<code>{RIGHT}", None),
            ("</code> <code>", None),
            ("", None),
        ],
    )
    def test_the_last_complete_pair_of_a_tag_is_written(
        self, answer: str, code: str | None
    ) -> None:
        assert WriteTool("<code>").text_in(answer) == code


class TestAtif:
    def test_a_tool_of_theirs(self, read: Read) -> None:
        row = atif(WRONG, RIGHT, extra={"task": "echo"})
        (sample,) = read(row, name="one.json", **SUBMIT)
        assert facts(sample) == [(1, 12, False, WRONG), (2, 24, False, RIGHT)]
        assert [each.spent.cost for each in sample.revisions] == [0.25, 0.5]
        assert [each.spent.seconds for each in sample.revisions] == [0.0, 10.0]

    def test_an_own_export_names_its_revisions_by_their_hashes(self, read: Read) -> None:
        row = atif(WRONG, extra={"harness": {"problem_id": "own/echo"}})
        del row["steps"][1]["tool_calls"]
        row["steps"][1]["message"] = f"```python\n{WRONG}\n```\nor\n```python\n{RIGHT}\n```"
        ours = row["extra"]["harness"]
        for named, code in ((WRONG, WRONG), (RIGHT, RIGHT), ("lost", RIGHT)):
            ours["revision_turns"] = [1]
            ours["revisions"] = [{"turn": 1, "code_hash": code_hash(named), "tested": True}]
            (sample,) = read([row])
            assert [each.code for each in sample.revisions] == [code]
            assert sample.revisions[0].tested == (named != "lost")

    def test_an_entry_without_a_turn_names_no_revision(self, read: Read) -> None:
        row = atif(WRONG, RIGHT, extra={"task": "echo", "harness": {}})
        (plain,) = read([row], **SUBMIT)
        row["extra"]["harness"]["revisions"] = [{}, {"turn": None, "code_hash": code_hash(RIGHT)}]
        (sample,) = read([row], **SUBMIT)
        assert facts(sample) == facts(plain)
        assert len(facts(sample)) == 2

    @for_each(("turn", "code"), [(2, RIGHT), (1, WRONG)])
    def test_an_own_export_cannot_name_a_program_of_a_later_turn(
        self, read: Read, turn: int, code: str
    ) -> None:
        row = atif(WRONG, RIGHT, extra={"harness": {"problem_id": "own/echo"}})
        for step, text in zip(row["steps"][1:], (WRONG, RIGHT), strict=True):
            del step["tool_calls"]
            step["message"] = f"```python\n{text}\n```"
        ours = row["extra"]["harness"]
        ours["revisions"] = [{"turn": turn, "code_hash": code_hash(RIGHT), "tested": True}]
        (sample,) = read([row])
        assert [(each.turn, each.code) for each in sample.revisions] == [(turn, code)]

    def test_copied_steps_and_steps_without_a_model_are_no_calls(self, read: Read) -> None:
        row = atif(WRONG, RIGHT, RIGHT, extra={"task": "echo"})
        row["steps"][1]["is_copied_context"] = True
        row["steps"][2] |= {"llm_call_count": 0, "metrics": None}
        (sample,) = read([row], **SUBMIT)
        assert facts(sample) == [(0, 0, False, RIGHT), (1, 12, False, RIGHT)]
        assert sample.model_calls == 1

    @for_each(
        ("change", "error_message"),
        [
            ({"schema_version": "ATIF-v2.0"}, "field 'schema_version'"),
            ({"continued_trajectory_ref": "next.json"}, "goes on in another file"),
            ({"steps": [{"source": "cat", "message": ""}]}, "step 1: field 'source'"),
            ({"steps": [{"source": "agent", "message": "", "timestamp": "soon"}]}, "'timestamp'"),
            ({"steps": 3}, "field 'steps'"),
            ({"extra": {}}, "field 'extra.task'"),
            ({"extra": {"task": "echo", "harness": {"stop_reason": "bored"}}}, "'stop_reason'"),
        ],
    )
    def test_a_fault_names_its_place(self, read: Read, change: Any, error_message: str) -> None:
        with pytest.raises(DataError, match=r"a\.jsonl:1") as error:
            read([{**atif(RIGHT, extra={"task": "echo"}), **change}], **SUBMIT)
        assert error_message in str(error.value)

    def test_an_empty_folder_is_named(self, own: Path) -> None:
        (own / "job").mkdir()
        with pytest.raises(UsageError, match=r"holds no trajectory\.json"):
            trajectory_file.format_of(own / "job")


class TestVerifiers:
    def test_verifiers_traces_and_episodes_are_read(self, read: Read) -> None:
        judge = {**trace(WRONG), "agent": {"name": "judge"}}
        episode = {"task": {}, "traces": [trace(RIGHT), judge, trace(WRONG)]}
        first, second, third = read([trace(WRONG, RIGHT), episode])
        assert facts(first) == [(1, 120, False, WRONG), (2, 240, False, RIGHT)]
        assert first.spent.usage is not None
        assert first.spent.usage.cached_input_tokens == 20
        assert [each.final for each in (second, third)] == [RIGHT, WRONG]
        assert first.published is not None
        assert first.published.passed

    def test_the_stop_reason_of_a_verifiers_trace_is_read(self, read: Read) -> None:
        errors = [{"type": "ProviderError", "message": "503"}]
        failed, stopped, late = read(
            [
                trace(WRONG, ok=False, errors=errors),
                trace(WRONG, stop_condition="max_turns"),
                trace(WRONG, ok=False, errors=errors, is_timeout=True),
            ]
        )
        assert (failed.error, stopped.error, late.error) == ("ProviderError: 503", "", "")
        assert stopped.stop_reason is StopReason.TURN_LIMIT
        assert late.stop_reason is StopReason.TIME_LIMIT


class TestInspect:
    @for_each("zstandard", [False, True])
    def test_an_inspect_eval_file_is_read(self, read: Read, *, zstandard: bool) -> None:
        log = eval_log(
            inspect_sample(WRONG, RIGHT), inspect_sample(WRONG, epoch=2), zstandard=zstandard
        )
        first, second = read(log, name="a.eval")
        assert facts(first) == [(1, 120, False, WRONG), (2, 240, False, RIGHT)]
        assert [each.spent.seconds for each in first.revisions] == [1.0, 2.0]
        assert (first.name, second.name) == ("own/echo#0", "own/echo#1")

    @for_each(
        ("more", "reason"),
        [
            ({"metadata": {"stop_reason": "public_tests_passed"}}, StopReason.PUBLIC_TESTS_PASSED),
            ({"metadata": {"stop_reason": "turn_limit"}}, StopReason.TURN_LIMIT),
            ({"metadata": {"stop_reason": "bored"}}, StopReason.MODEL_STOPPED),
            ({"metadata": {"stop_reason": ["turn_limit"]}}, StopReason.MODEL_STOPPED),
            ({}, StopReason.MODEL_STOPPED),
        ],
    )
    def test_the_end_of_an_exported_sample_is_read(
        self, read: Read, more: dict[str, Any], reason: StopReason
    ) -> None:
        (sample,) = read(eval_log(inspect_sample(RIGHT, **more)), name="a.eval")
        assert sample.stop_reason is reason

    def test_an_inspect_json_log_is_read(self, read: Read) -> None:
        log = {"version": 2, "eval": {"model": "m"}, "samples": [inspect_sample(RIGHT)]}
        (sample,) = read(log, name="a.json")
        assert facts(sample) == [(1, 120, False, RIGHT)]

    @pytest.mark.parametrize(
        ("log", "error_message"),
        [
            (b"PK\x03\x04 and no more", "not a zip archive"),
            (eval_log(inspect_sample(RIGHT))[:-30], "not a zip archive"),
            (eval_log({"id": None, "messages": []}), "samples/0_epoch_1.json: field 'id'"),
            (eval_log({"id": "echo", "messages": {}}), "field 'messages'"),
        ],
    )
    def test_a_broken_one_is_named(self, read: Read, log: bytes, error_message: str) -> None:
        with pytest.raises(DataError) as error:
            read(log, name="a.eval")
        assert error_message in str(error.value)

    def test_an_archive_without_a_header(self, read: Read, own: Path) -> None:
        with zipfile.ZipFile(own / "b.eval", "w") as made:
            made.writestr("x", "y")
        with pytest.raises(DataError, match="not a log of Inspect"):
            read((own / "b.eval").read_bytes(), name="a.eval")

    @pytest.mark.parametrize("zstandard", [False, True])
    def test_a_bomb_is_refused(
        self, read: Read, monkeypatch: pytest.MonkeyPatch, *, zstandard: bool
    ) -> None:
        """Of a Zstandard member the archive may say any length: what comes out is bounded too."""
        log = eval_log(inspect_sample("#" * 100_000), zstandard=zstandard)
        assert len(log) < 10_000
        monkeypatch.setattr(eval_archive, "LARGEST_MEMBER", 50_000)
        with pytest.raises(DataError, match=r"0_epoch_1.json: longer than 50,000 bytes"):
            read(log, name="a.eval")

    def test_a_long_list_of_members_is_refused(
        self, read: Read, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(eval_archive, "LARGEST_DIRECTORY", 10)
        with pytest.raises(DataError, match="a list of members"):
            read(eval_log(inspect_sample(RIGHT)), name="a.eval")

    def test_an_attachment_that_is_named_often_is_bounded(
        self, read: Read, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        sample = inspect_sample("#" * 1_000)
        sample["messages"] = sample["messages"] * 50
        monkeypatch.setattr(chat_messages, "MOST_CHARACTERS", 20_000)
        with pytest.raises(DataError, match="more than 20,000 characters"):
            read(eval_log(sample), name="a.eval")


class TestFiles:
    def test_gzip_and_a_list(self, read: Read) -> None:
        rows = [{"messages": messages(RIGHT), "problem_id": "echo"}]
        (sample,) = read(gzip.compress(json.dumps(rows).encode()), name="a.json.gz")
        assert sample.final == RIGHT

    @for_each(
        ("row", "format_"),
        [
            ({"problem_id": "a", "code": ""}, "solutions"),
            ({"problem_id": "a", "code": "", "turn": 1}, "revisions"),
            ({"problem_id": "a", "revisions": []}, "revisions"),
            ({"messages": []}, "messages"),
            ({"schema_version": "ATIF-v1.8"}, "atif"),
            ({"task": {}, "nodes": []}, "verifiers"),
            ({"eval": {}, "samples": []}, "inspect"),
        ],
    )
    def test_the_format_is_told_by_the_content(
        self, tmp_path: Path, row: dict[str, Any], format_: str
    ) -> None:
        for text in (json.dumps(row), json.dumps(row, indent=1), json.dumps([row, row])):
            (tmp_path / "a").write_text(text)
            assert trajectory_file.format_of(tmp_path / "a") == format_

    def test_a_row_is_bounded(self, read: Read, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(trajectory_file, "LONGEST_ROW", 100)
        with pytest.raises(DataError, match=r"a\.jsonl:1: longer than 100 bytes"):
            read([{"messages": messages(RIGHT), "problem_id": "echo"}], "messages")

    @for_each("opening", [b'{"messages": ' + b"[" * 5_000, b"[" * 100_000])
    def test_deep_nesting_is_no_crash(self, read: Read, opening: bytes) -> None:
        with pytest.raises(DataError, match=r"a\.jsonl"):
            read(opening + b"\n", "messages")

    def test_halves_of_surrogate_pairs_are_spelled_out(self, read: Read) -> None:
        conversation = [{"role": "assistant", "content": f"```python\n{RIGHT}  # \ud800\n```"}]
        (sample,) = read([{"messages": conversation, "problem_id": "echo"}])
        assert sample.final == f"{RIGHT}  # \\ud800"

    def test_a_name_with_a_path_in_it_writes_no_file_elsewhere(self, read: Read) -> None:
        with pytest.raises(Exception, match="none of 1 trajectories") as error:
            read([{"messages": messages(RIGHT), "problem_id": "../../etc/passwd"}])
        assert error.type.__name__ == "NothingSelectedError"
