import pytest

from harness.models.faults import MAX_WORDS, Redactor, provider_words


@pytest.mark.parametrize(
    ("body", "words", "code"),
    [
        (b'{"error": {"message": "no", "code": "bad"}}', "no", "bad"),
        (b'{"error": {"message": "no", "code": null, "type": "t"}}', "no", "t"),
        (b'{"error": "plain"}', "plain", ""),
        (b'{"message": "up here", "code": 400}', "up here", "400"),
        (b'{"detail": "not found"}', "not found", ""),
        (b'{"detail": [{"msg": "field required"}]}', "[{'msg': 'field required'}]", ""),
        (b"<html><title>502 Bad\nGateway</title><p>", "502 Bad\nGateway", ""),
        (b"upstream died", "upstream died", ""),
        (b'"just text"', "just text", ""),
        (b"null", "", ""),
        (b"", "", ""),
    ],
)
def test_the_providers_words_are_found(body: bytes, words: str, code: str) -> None:
    assert provider_words(body) == (words, code)


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
