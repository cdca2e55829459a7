from harness.sources.files.content_hash import content_hash


def test_text_that_moves_from_one_part_to_the_next_changes_the_hash() -> None:
    hashes = {content_hash(*parts) for parts in [("ab", "c"), ("a", "bc"), ("abc",), ("abc", "")]}
    assert len(hashes) == 4
