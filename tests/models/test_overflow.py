"""Error texts of servers, and whether they say that a conversation is too long.

The texts are those of vLLM, SGLang, llama.cpp, TGI, TensorRT-LLM, LM Studio, Ollama, OpenAI, Azure,
Anthropic, Bedrock, Google, Groq, GitHub, OpenRouter, LiteLLM, ByteDance and others; some are made
up, for servers that nobody knows yet.
"""

import json
from pathlib import Path
from typing import Any

from for_each import for_each

from harness.models.faults import Redactor, RejectedError, failed_status
from harness.models.overflow import Excess, excess
from harness.models.protocol import ContextOverflowError

TEXTS = Path(__file__).with_name("error_texts.jsonl")
Row = tuple[int | None, str, str]  # status, text, code


def rows(meaning: str) -> list[Row]:
    lines = (json.loads(line) for line in TEXTS.read_text(encoding="utf-8").splitlines())
    matches = [each for each in lines if each["means"] == meaning]
    return [(each["status"], each["text"], each.get("code", "")) for each in matches]


@for_each(("status", "text", "code"), rows("conversation"))
def test_a_conversation_that_is_too_long_is_recognised(
    status: int | None, text: str, code: str
) -> None:
    assert excess(status, text, code) is Excess.CONVERSATION


@for_each(("status", "text", "code"), rows("asked"))
def test_an_answer_limit_beyond_every_conversation_is_the_users_setting(
    status: int, text: str, code: str
) -> None:
    assert excess(status, text, code) is Excess.ASKED
    error = failed_status(status, {}, json.dumps({"error": text}).encode(), Redactor(), now=0.0)
    assert isinstance(error, RejectedError)
    assert error.hopeless
    assert str(error).endswith("see --max-tokens)")


@for_each(("status", "text", "code"), rows("other"))
def test_another_error_is_no_overflow(status: int, text: str, code: str) -> None:
    assert excess(status, text, code) is not Excess.CONVERSATION


@for_each(
    ("asked", "sent", "expected"),
    [
        (4096, 5000, Excess.CONVERSATION),
        (8191, 100, Excess.CONVERSATION),
        (8192, 100, Excess.ASKED),
        (9000, 100, Excess.ASKED),
    ],
)
def test_the_numbers_tell_whose_the_excess_is(asked: int, sent: int, expected: Excess) -> None:
    text = (
        f"'max_tokens' or 'max_completion_tokens' is too large: {asked}. This model's maximum "
        f"context length is 8192 tokens and your request has {sent} input tokens ({asked} > 8192 - "
        f"{sent}). None"
    )
    assert excess(400, text) is expected


def test_a_long_text_is_searched_in_bounded_time() -> None:
    for piece in ("prompt ", "tokens 300 ", "a.b[0].", "max_tokens ", "1,000,", "context length "):
        assert excess(500, piece * 200_000) in (None, *Excess)


BY_NUMBERS = "vllm v0.6+"  # 9000 tokens asked of a context of 8192


def test_errors_of_real_servers_are_told_apart(test_data: Path) -> None:
    provider_errors: list[dict[str, Any]] = json.loads(
        (test_data / "real_model" / "provider_errors.json").read_text()
    )
    wrong: list[str] = []
    for row in provider_errors:
        body = row["body"] if isinstance(row["body"], str) else json.dumps(row["body"])
        error = failed_status(row["status"], {}, body.encode(), Redactor(), now=0.0)
        expected = row["expected"] == "overflow" and row["server"] != BY_NUMBERS
        if isinstance(error, ContextOverflowError) is not expected:
            wrong.append(row["server"])
    assert len(provider_errors) == 64
    assert wrong == []
