import json

import pytest
from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st

from harness.models.clients.rate_limits import FAMILIES, retry_after
from harness.models.error_body import read_error
from harness.models.faults import (
    MAX_WORDS,
    PolicyRefusedError,
    Redactor,
    RejectedError,
    TransientError,
    failed_status,
)
from harness.models.protocol import ContextOverflowError


@for_each(
    ("body", "message", "code"),
    [
        (b'{"error": {"message": "no", "code": "bad"}}', "no", "bad"),
        (b'{"error": {"message": "no", "code": null, "type": "t"}}', "no", "t"),
        (b'{"error": "plain"}', "plain", ""),
        (b'{"message": "up here", "code": 400}', "up here", "400"),
        (b'{"detail": "not found"}', "not found", ""),
        (b'{"detail": [{"msg": "field required"}]}', "field required", ""),
        (
            b'{"detail": [{"type": "missing", "loc": ["body", "x"], "msg": "Field required"}, '
            b'{"loc": ["body", "y"], "msg": "Extra inputs are not permitted", "input": 1}]}',
            "body.x: Field required; body.y: Extra inputs are not permitted",
            "",
        ),
        (b'[{"error": {"code": 400, "message": "no", "status": "BAD"}}]', "no", "400"),
        (b'{"errors": [{"code": 7003, "message": "no"}, {"message": "nor"}]}', "no; nor", ""),
        (
            b'{"message": {"detail": [{"loc": ["body"], "msg": "no"}]}, "type": "t"}',
            "body: no",
            "t",
        ),
        (b'{"message": "{\\"error\\": {\\"message\\": \\"inner\\"}}"}', "inner", ""),
        (
            b'{"error": {"message": "Provider returned error", "code": 400, '
            b'"metadata": {"raw": "{\\"error\\": {\\"message\\": \\"inner\\"}}"}}}',
            "Provider returned error: inner",
            "400",
        ),
        (b'{"error": {"message": "no", "code": 400, "type": "bad_type"}}', "no", "bad_type"),
        (b'{"error": [], "code": "c"}', "{'error': [], 'code': 'c'}", "c"),
        (b"[]", "", ""),
        (b"3", "3", ""),
        (b"<html><title>502 Bad\nGateway</title><p>", "502 Bad\nGateway", ""),
        (b"upstream died", "upstream died", ""),
        (b'"just text"', "just text", ""),
        (b"null", "", ""),
        (b"", "", ""),
    ],
)
def test_the_providers_words_are_found(body: bytes, message: str, code: str) -> None:
    error = read_error(body)
    assert (error.text, error.code) == (message, code)


def test_foreign_text_becomes_one_bounded_line_without_secrets() -> None:
    redact = Redactor(("hunter2",))
    assert redact("a\n\tb\x1b[31m hunter2") == "a b [31m [redacted]"
    assert redact("Bearer abc.def and sk-0123456789ab") == "[redacted] and [redacted]"
    assert redact("http://user:pass@host/v1") == "http://host/v1"
    assert len(redact("x" * 10_000)) == MAX_WORDS
    assert "hunt" not in redact("y" * (MAX_WORDS - 3) + "hunter2")


def test_the_placeholders_of_keyless_servers_are_left_in_words() -> None:
    assert Redactor(("none", "EMPTY", ""))("none of them is EMPTY") == "none of them is EMPTY"


def test_a_redactor_does_not_show_its_secrets() -> None:
    assert "hunter2" not in repr(Redactor(("hunter2",)))


@for_each(
    ("code", "message"),
    [
        ("content_filter", "The prompt was filtered."),
        ("content_policy_violation", "It was rejected."),
        ("invalid_request_error", "Output blocked by content filtering policy"),  # Anthropic
    ],
)
def test_what_a_content_filter_refuses_is_an_answer(code: str, message: str) -> None:
    payload = {"error": {"message": message, "type": code}}
    error = failed_status(400, {}, json.dumps(payload).encode(), Redactor(), now=0)
    assert isinstance(error, PolicyRefusedError)
    turn = error.turn()
    assert (turn.text, turn.usage, turn.stop.reason) == ("", None, "content_filter")
    assert turn.stop.provider_word == f"HTTP 400: {message}"


def test_a_setting_of_that_name_is_none() -> None:
    payload = {"error": {"message": "unknown parameter: content_filter", "code": "bad"}}
    error = failed_status(400, {}, json.dumps(payload).encode(), Redactor(), now=0)
    assert isinstance(error, RejectedError)
    assert not isinstance(error, PolicyRefusedError)


NOW = 1_700_000_000.0  # 2023-11-14T22:13:20Z


def openai(requests: str, tokens: str, left: tuple[str, str] = ("5", "900")) -> dict[str, str]:
    return {
        "x-ratelimit-remaining-requests": left[0],
        "x-ratelimit-reset-requests": requests,
        "x-ratelimit-remaining-tokens": left[1],
        "x-ratelimit-reset-tokens": tokens,
    }


def anthropic(**resets: str) -> dict[str, str]:
    return {
        f"anthropic-ratelimit-{kind.replace('_', '-')}-reset": moment
        for kind, moment in resets.items()
    }


@for_each(
    ("headers", "seconds"),
    [
        (openai("1s", "6m0s", ("0", "900")), 1.0),
        (openai("1s", "6m0s", ("5", "0")), 360.0),
        (openai("1s", "6m0s", ("0", "0")), 360.0),
        (openai("6m0s", "120ms"), 0.12),
        (openai("1h2m3.5s", "garbage"), 3723.5),
        ({"x-ratelimit-reset-tokens": "20ms"}, 0.02),
        ({"x-ratelimit-reset-requests": "12"}, 12.0),
        (anthropic(requests="2023-11-14T22:13:50Z", tokens="2023-11-14T22:14:20Z"), 30.0),
        (
            anthropic(requests="2023-11-14T22:13:50Z", input_tokens="2023-11-14T23:14:20+01:00")
            | {"anthropic-ratelimit-input-tokens-remaining": "0"},
            60.0,
        ),
        (anthropic(output_tokens="2023-11-14T22:13:25"), 5.0),
        ({"x-ratelimit-reset": "1700000042"}, 42.0),
        ({"x-ratelimit-reset": "1700000042000"}, 42.0),
        ({"x-ratelimit-reset": "42"}, 42.0),
        ({"x-ratelimit-reset": "1699999999"}, None),
        ({"x-ratelimit-reset": "99999999"}, None),
        ({"x-ratelimit-reset": "0"}, None),
        ({"x-ratelimit-reset": "-5"}, None),
        ({"x-ratelimit-reset": "1e300"}, None),
        ({"x-ratelimit-reset": "9" * 500}, None),
        ({"x-ratelimit-reset": "nan"}, None),
        ({"x-ratelimit-reset": "soon"}, None),
        ({"x-ratelimit-reset-requests": "1x"}, None),
        ({"x-ratelimit-reset-requests": "9999h"}, None),
        (anthropic(requests="2023-13-45T99:99:99Z"), None),
        (anthropic(requests="0001-01-01T00:00:00Z"), None),
        ({}, None),
    ],
)
def test_a_rate_limit_says_when_it_is_reset(headers: dict[str, str], seconds: float | None) -> None:
    fault = retry_after(headers, now=NOW, status=429)
    assert fault == (None if seconds is None else pytest.approx(seconds))
    assert retry_after(headers, now=NOW, status=500) is None
    named = {**headers, "retry-after": "7"}
    assert retry_after(named, now=NOW, status=429) == 7.0


@given(
    st.sampled_from(sorted({name for family in FAMILIES for pair in family for name in pair})),
    st.text(max_size=80) | st.from_regex(r"[0-9.]{1,20}(ms|s|m|h|d)?", fullmatch=True),
)
def test_any_retry_header_is_a_possible_wait_or_none(name: str, value: str) -> None:
    wait = retry_after({name: value}, now=NOW, status=429)
    assert wait is None or 0 < wait <= 7 * 86_400


@for_each(
    ("status", "headers", "throttled"),
    [
        (429, {}, True),
        (529, {}, True),
        (503, {"retry-after": "2"}, True),
        (503, {}, False),
        (500, {"retry-after": "2"}, False),
    ],
)
def test_a_failure_knows_whether_fewer_requests_would_have_helped(
    status: int, headers: dict[str, str], throttled: bool
) -> None:
    error = failed_status(status, headers, b"", Redactor(), now=NOW)
    assert isinstance(error, TransientError)
    assert (error.status, error.throttled) == (status, throttled)


def test_a_failure_without_an_answer_has_no_status() -> None:
    error = TransientError("no connection")
    assert (error.status, error.throttled) == (None, False)


def test_an_answer_of_too_many_tokens_asked_for_is_no_overflow() -> None:
    message = (
        "'max_tokens' or 'max_completion_tokens' is too large: 32000. This model's maximum context "
        "length is 8192 tokens and your request has 500 input tokens"
    )
    body = json.dumps({"error": {"message": message}}).encode()
    error = failed_status(400, {}, body, Redactor(), now=0.0)
    assert isinstance(error, RejectedError)
    assert not isinstance(error, ContextOverflowError)


@for_each(
    ("sent", "asked", "overflow"),
    [(188_240, 21_333, True), (199_999, 32_000, True), (500, 200_000, False), (9, 300_000, False)],
)
def test_anthropics_sum_of_both_is_told_apart_by_its_numbers(
    sent: int, asked: int, overflow: bool
) -> None:
    message = (
        f"input length and `max_tokens` exceed context limit: {sent} + {asked} > 200000, decrease "
        "input length or `max_tokens` and try again"
    )
    error = {"type": "invalid_request_error", "message": message}
    body = json.dumps({"type": "error", "error": error}).encode()
    fault = failed_status(400, {}, body, Redactor(), now=0.0)
    assert isinstance(fault, ContextOverflowError) is overflow
    assert isinstance(fault, RejectedError) is not overflow


def test_basic_credentials_are_masked() -> None:
    assert "Ym9iOn" not in Redactor()("sent: Basic Ym9iOnBAc3N3MHJk")


@for_each(
    ("text", "seconds"),
    [
        ("Rate limit reached. Please try again in 6s.", 6.0),
        ("Please try again in 7m43.5s. Need more?", 463.5),
        ("Please retry in 34.07s.", 34.07),
        ("try again in 20ms", 0.02),
        ("Try again after 2 minutes", 120.0),
        ("try again in 500 milliseconds", 0.5),
        ("try again in 999999999 days", None),
        ("please try again later", None),
    ],
)
def test_a_wait_in_the_body_is_kept(text: str, seconds: float | None) -> None:
    body = json.dumps({"error": {"message": text, "code": "rate_limit_exceeded"}}).encode()
    error = failed_status(429, {}, body, Redactor(), now=NOW)
    assert isinstance(error, TransientError)
    assert error.retry_after_s == (None if seconds is None else pytest.approx(seconds))
    named = failed_status(429, {"retry-after": "3"}, body, Redactor(), now=NOW)
    assert isinstance(named, TransientError)
    assert named.retry_after_s == 3.0


def test_googles_wait_is_read_from_the_details() -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}]
    error = {"code": 429, "message": "Quota exceeded.", "details": details}
    fault = failed_status(429, {}, json.dumps([{"error": error}]).encode(), Redactor(), now=NOW)
    assert isinstance(fault, TransientError)
    assert (fault.retry_after_s, fault.throttled) == (34.0, True)
    assert str(fault) == "HTTP 429: Quota exceeded."


@for_each(
    ("status", "text", "code"),
    [
        (400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT"),
        (400, "Incorrect API key provided: xa***.", "Client specified an invalid argument"),
        (400, "Your credit balance is too low to access the Anthropic API.", "invalid_request"),
        (400, "Access denied, please make sure your account is in good standing.", "Arrearage"),
        (402, "Insufficient Balance", ""),
        (403, "Your API key has been disabled", ""),
        (429, "You exceeded your current quota", "insufficient_quota"),
    ],
)
def test_a_wrong_key_and_an_empty_account_stop_the_run(status: int, text: str, code: str) -> None:
    body = json.dumps({"error": {"message": text, "code": code}}).encode()
    error = failed_status(status, {}, body, Redactor(), now=NOW)
    assert isinstance(error, RejectedError)
    assert error.account


@for_each("status", [413, 429])
def test_a_request_beyond_the_tokens_a_minute_is_not_asked_again(status: int) -> None:
    message = "Request too large on tokens per minute (TPM): Limit 6000, Requested 9000, reduce it"
    body = json.dumps({"error": {"message": message, "code": "rate_limit_exceeded"}}).encode()
    error = failed_status(status, {}, body, Redactor(), now=NOW)
    assert isinstance(error, RejectedError)
    assert not error.hopeless
    assert "--max-tokens" in str(error)
    fits = body.replace(b"Requested 9000", b"Used 5000, Requested 2000")
    assert isinstance(failed_status(429, {}, fits, Redactor(), now=NOW), TransientError)


@for_each(
    "message",
    ["Loading model", "Model org/name is currently loading", "The model is still loading."],
)
def test_a_server_that_is_loading_its_model_is_known(message: str) -> None:
    body = json.dumps({"error": {"message": message, "type": "unavailable_error"}}).encode()
    error = failed_status(503, {}, body, Redactor(), now=NOW)
    assert isinstance(error, TransientError)
    assert (error.loading, error.throttled) == (True, False)
    down = failed_status(503, {}, b"no server available", Redactor(), now=NOW)
    assert isinstance(down, TransientError)
    assert not down.loading
