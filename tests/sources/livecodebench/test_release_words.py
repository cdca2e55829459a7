"""What the words for LiveCodeBench's releases select."""

from for_each import for_each

from harness.sources.hub_datasets import meaning


@for_each(
    ("spec", "words"),
    [
        ("livecodebench", ["release_latest", "1 to 6", "1,055 problems", "v6 is the 175"]),
        ("livecodebench:release_v6", ["release_v6", "1,055 problems", "v6 is the 175"]),
        ("livecodebench:v6@main", ["the 175 problems", "release_v6 is all 1,055"]),
        ("livecodebench:release_v2", ["511 problems", "v2 is the 111"]),
        ("livecodebench:v4_v6", ["the 443 problems that releases 4 to 6 added"]),
    ],
)
def test_a_word_is_explained(spec: str, words: list[str]) -> None:
    release = meaning(spec)
    assert [word for word in words if word not in release] == []


@for_each("spec", ["fixture", "livecodebench:rows.jsonl", "livecodebench:v7", "apps"])
def test_others_are_not(spec: str) -> None:
    assert meaning(spec) == ""
