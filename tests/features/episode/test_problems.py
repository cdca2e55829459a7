"""Which problems an `Episodes` has: parts, exclusions, dates, and their order."""

import json
from typing import Any

import pytest
from own_problems import ECHO

import harness
from harness import Episodes
from harness.features.episode.shared import without


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("many") / "rows.jsonl"
    rows: list[dict[str, Any]] = [
        {
            **ECHO,
            "id": f"p{n}",
            "title": f"Echo {n}",
            "statement": f"Print the input. ({n})",
            "release_date": f"2025-{1 + n % 12:02}-01",
        }
        for n in range(200)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return f"jsonl:{path}"


def ids(problems: str, **keys: Any) -> set[str]:
    with Episodes(problems, **keys) as episodes:
        return {each.id for each in episodes.problems}


def test_parts_are_apart_and_whole(many: str) -> None:
    train, held_out = (ids(many, part=part, held_out=0.2) for part in ("train", "held_out"))
    assert not train & held_out
    assert len(train | held_out) == 200
    assert 20 <= len(held_out) <= 60
    assert ids(many, part="held_out", held_out=0.2, seed=1) != held_out


def test_a_part_stays_the_same_when_problems_are_added(many: str) -> None:
    some = ids(many, part="held_out", sample_size=50)
    assert some == ids(many, part="held_out") & ids(many, sample_size=50)


def test_dates(many: str) -> None:
    assert len(ids(many, max_release_date="2025-03-01")) == 51


def test_excluded(many: str) -> None:
    evaluation = harness.load_problems(many, limit=7)
    left = ids(many, exclude=[*evaluation, "P8", "unknown"])
    assert len(left) == 192
    assert "jsonl/p8" not in left


def test_the_same_text_under_another_id_is_excluded(many: str) -> None:
    first, second, *_ = problems = harness.load_problems(many, limit=5)
    elsewhere = [
        first.model_copy(update={"id": "else/a", "title": "Other"}),
        second.model_copy(update={"id": "else/b", "statement": "Other", "title": "ECHO  1"}),
    ]
    assert [each.id for each in without(problems, elsewhere)] == [
        "jsonl/p2",
        "jsonl/p3",
        "jsonl/p4",
    ]


def test_the_order_is_that_of_the_seed(many: str) -> None:
    def order(epoch: int, seed: int) -> list[str]:
        with Episodes(many, seed=seed) as episodes:
            return [each.id for each in episodes.order(epoch)]

    assert order(0, 0) == order(0, 0)
    assert sorted(order(0, 0)) == sorted(order(1, 0))
    assert len({tuple(order(e, s)) for e in (0, 1) for s in (0, 1)}) == 4
