"""What the page of a sample says of its speed, and that it says nothing where none was measured."""

import math
import re
from pathlib import Path

from efficiency_made import made_efficiency, made_scale
from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st
from runs_made import result, write_run
from visitor import Visitor

from harness.features.efficiency.scale import Efficiency
from harness.features.viewer.efficiency_axis import MOST_TICKS, strip_of
from harness.features.viewer.html import beyond_words

TIMES = st.floats(1e-6, 1e6)


def page_of(visitor: Visitor, folder: Path, measurement: Efficiency | None, **more: str) -> str:
    """The page of a sample of a run of its own."""
    record = None if measurement is None else measurement.model_dump(mode="json")
    write_run(folder / "r", [result("p/a", efficiency=record, **more)])
    return visitor.sample("A")


def words(page: str) -> str:
    return " ".join(re.sub(r"<[^>]+>", " ", page).split())


def test_a_solution_stands_among_the_references(visitor: Visitor, tmp_path: Path) -> None:
    page = page_of(visitor, tmp_path, made_efficiency(3.0, remark="it <b>remembers</b>"))
    text = words(page)
    assert "CPU time 3.00 µs percentile P38 Beyond (95 %) 0.500 (0.4" in text
    assert "by branches, blind to C 0.500 references 4 timed paired, 16 pairs" in text
    assert "Remark: it &lt;b&gt;remembers&lt;/b&gt;." in text
    assert page.count('class="reference"') == 4
    assert page.count('class="own"') == 1
    label = "3.00 times the time of the fastest of 4 references, the slowest of them 5.00 times"
    assert f'aria-label="{label}"' in page


def test_one_that_failed_has_a_beyond_and_no_strip(visitor: Visitor, tmp_path: Path) -> None:
    page = page_of(visitor, tmp_path, made_efficiency(None), verdict="wrong_answer")
    assert "Beyond (95 %) 0.000, not timed: it failed references 4" in words(page)
    assert "CPU time" not in page
    assert 'class="own"' not in page


def test_why_there_is_no_beyond(visitor: Visitor, tmp_path: Path) -> None:
    efficiency = made_efficiency(2.0, made_scale((1.0,)))
    text = words(page_of(visitor, tmp_path, efficiency))
    assert "Beyond (95 %) none" in text
    assert "No Beyond: one reference passes." in text


def test_a_run_says_the_mean_beyond(visitor: Visitor, tmp_path: Path) -> None:
    scored = [made_efficiency(2.0), made_efficiency(4.0), None]
    records = [measurement and measurement.model_dump(mode="json") for measurement in scored]
    write_run(tmp_path / "r", [result(f"p/{at}", efficiency=e) for at, e in enumerate(records)])
    assert "Beyond@1 (95 %) 0.500 (0." in words(visitor.run())


def test_nothing_is_said_where_nothing_was_measured(visitor: Visitor, tmp_path: Path) -> None:
    for page in (page_of(visitor, tmp_path, None), visitor.run()):
        assert "Efficiency" not in page
        assert "Beyond" not in page
    assert strip_of(None) is None


@given(TIMES, st.lists(TIMES, min_size=1, max_size=40))
def test_places_are_on_the_line_and_in_order(time: float, references: list[float]) -> None:
    times = sorted(references)
    if times[-1] / times[0] > 1e10:
        return
    strip = strip_of(made_efficiency(time, made_scale(times)))
    assert strip is not None
    places = (*strip.references, strip.mark, strip.low, strip.high)
    assert all(-1e-6 <= at <= 100 + 1e-6 for at in places)
    assert strip.low <= strip.mark <= strip.high
    assert list(strip.references) == sorted(strip.references)
    assert (strip.references[0] <= strip.mark) or time <= times[0] * 1.001
    assert len(strip.ticks) <= MOST_TICKS
    assert all(-0.01 <= tick.at <= 100.01 for tick in strip.ticks)


@for_each("time", [0.0, math.inf, math.nan])
def test_a_time_without_a_logarithm_is_not_drawn(time: float) -> None:
    measurement = made_efficiency(2.0).model_copy(update={"time": time})
    assert strip_of(measurement) is None
    assert strip_of(made_efficiency(2.0).model_copy(update={"references": (0.0, 1.0)})) is None


def test_ticks_are_round_times() -> None:
    strip = strip_of(made_efficiency(1.5))
    assert strip is not None
    assert [tick.text for tick in strip.ticks] == ["1", "1.2", "1.5", "2", "3", "5"]
    wide = strip_of(made_efficiency(1.0, made_scale((1.0, 5_000.0))))
    assert wide is not None
    assert [tick.text for tick in wide.ticks] == ["1", "10", "100", "1000"]


def test_a_beyond_may_have_no_interval() -> None:
    plain = made_efficiency(3.0)
    bare = plain.model_copy(update={"beyond_low": None})
    assert (beyond_words(plain)[:9], beyond_words(bare)) == ("0.500 (0.", "0.500")
