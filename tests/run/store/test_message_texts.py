from harness.models.reasoning_text import reasoning_text


def test_reasoning_is_read_to_a_bounded_depth() -> None:
    deepest = [{"text": [{"text": [{"text": ["I ponder."]}]}]}]
    assert reasoning_text(deepest) == "I ponder."
    deeper = [{"text": [{"text": [{"text": [["I ponder."]]}]}]}]
    assert reasoning_text(deeper) == ""
