"""Which problems an `Episodes` has: parts, exclusions, dates, and their order."""

from typing import Any

import pytest
from for_each import for_each
from json_lines import json_lines
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
    path.write_text(json_lines(rows))
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


def test_problems_are_chosen_by_release_date(many: str) -> None:
    assert len(ids(many, max_release_date="2025-03-01")) == 51


def test_excluded_problems_are_left_out_by_any_of_their_names(many: str) -> None:
    evaluation = harness.load_problems(many, limit=7)
    left = ids(many, exclude=[*evaluation, "P8", " p9 "])
    assert len(left) == 191
    assert not {"jsonl/p8", "jsonl/p9"} & left


def test_one_name_or_problem_may_be_excluded(many: str) -> None:
    first = harness.load_problems(many, limit=1)[0]
    assert ids(many) - ids(many, exclude="jsonl/p17") == {"jsonl/p17"}
    assert ids(many) - ids(many, exclude=first) == {first.id}


def test_an_excluded_problem_need_not_be_selected(many: str) -> None:
    some = ids(many, task=["p1", "p2"])
    assert ids(many, task=["p1", "p2"], exclude=["p3"]) == some


@for_each(
    ("keys", "message"),
    [
        (
            {"exclude": ["p8", "jsonl/p1x7"]},
            "exclude: no problem is called 'jsonl/p1x7'; did you",
        ),
        (
            {"exclude": "unknown"},
            "exclude: no problem is called 'unknown'; .*give the problems",
        ),
        ({"exclude": None}, "exclude is a NoneType: give problems or their ids"),
        ({"exclude": ["p8", 3]}, r"exclude\[1\] is a int: give problems or their ids"),
        ({"held_out": 0.5}, r"held_out 0\.5 is the share of a part: give part"),
        ({"part": "train", "held_out": "a"}, "held_out 'a': give a share from 0 to 1"),
        ({"part": "train", "held_out": 1.5}, r"held_out 1\.5: give a share from 0 to 1"),
        ({"problems": None, "exclude": ["p8"]}, "exclude chooses among problems: give problems"),
        ({"problems": None, "part": "train"}, "part chooses among problems: give problems"),
    ],
)
def test_a_choice_that_would_leave_nothing_out_is_refused(
    keys: dict[str, Any], message: str, many: str
) -> None:
    with pytest.raises(harness.UsageError, match=rf"^Episodes\(\): {message}"):
        Episodes(**({"problems": many} | keys))


def test_a_problem_that_is_none_is_refused(many: str) -> None:
    with Episodes(many, workers=1) as episodes:
        for wrong in (None, 3, b"p1"):
            with pytest.raises(harness.UsageError, match=r"problem is a \w+: give an id or a P"):
                harness.Episode(episodes).reset(wrong)  # pyright: ignore[reportArgumentType]
    with pytest.raises(harness.UsageError, match=r"given no problems.*as Episodes\('fixture'\)"):
        harness.Episode().reset("p1")


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
