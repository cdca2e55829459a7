from for_each import for_each

from harness.features.viewer.excerpts import excerpt_of


@for_each(
    ("text", "folded"),
    [
        ("x" * 1_200, False),
        ("x" * 1_201, True),
        ("x\n" * 19 + "x", False),
        ("x\n" * 20 + "x", True),
    ],
    ids=["1,200 characters", "1,201 characters", "20 lines", "21 lines"],
)
def test_a_text_is_folded_from_a_number_of_characters_or_lines(text: str, folded: bool) -> None:
    assert excerpt_of(text, "result").long is folded
