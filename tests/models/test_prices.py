"""What a model costs: from a list, by its name, and never zero for want of knowing."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.models.prices.price import Price, cost
from harness.models.prices.price_lists import ListedPrice, PriceList, bundled_prices, read_prices
from harness.models.protocol import Usage

LIST = PriceList(
    as_of="2026-01-31",
    source="here",
    models={
        "gpt-5": ListedPrice(input=1, output=2),
        "gpt-5-mini": ListedPrice(input=3, output=4, as_of="2026-03", source="there"),
        "org/*": ListedPrice(input=5, output=6),
        "org/big-*": ListedPrice(input=7, output=8),
    },
)


@for_each(
    ("model", "dollars"),
    [
        ("gpt-5", 1),
        ("gpt-5-2025-08-07", 1),
        ("gpt-5@20250807", 1),
        ("gpt-5-latest", 1),
        ("openai/gpt-5", 1),
        ("gpt-5-mini", 3),
        ("gpt-5-mini-2025-08-07", 3),
        ("org/small", 5),
        ("org/big-one", 7),
    ],
)
def test_a_name_finds_the_longest_that_fits(model: str, dollars: float) -> None:
    price = LIST.of(model)
    assert price is not None
    assert price.input == dollars


def test_a_name_in_full_is_before_any_star() -> None:
    both = {"gpt-5": ListedPrice(input=7, output=7), "gpt-5*": ListedPrice(input=99, output=99)}
    prices = LIST.model_copy(update={"models": both})
    assert [price.input for m in ("gpt-5", "gpt-5-pro") if (price := prices.of(m))] == [7, 99]


@for_each("model", ["gpt-5-pro", "gpt-5.1", "gpt-50", "gpt", "", "xgpt-5", "other"])
def test_another_model_of_a_family_is_unknown(model: str) -> None:
    assert LIST.of(model) is None


def test_a_price_bears_its_own_date_or_the_lists() -> None:
    own, lists = LIST.of("gpt-5-mini"), LIST.of("gpt-5")
    assert own is not None
    assert lists is not None
    assert (own.as_of, own.source) == ("2026-03", "there")
    assert (lists.as_of, lists.source) == ("2026-01-31", "here")


def test_every_bundled_price_has_a_date_a_source_and_sense() -> None:
    prices = bundled_prices()
    assert prices.as_of
    assert 10 <= len(prices.models) <= 40
    for name, price in prices.models.items():
        assert price.as_of, name
        assert price.as_of <= prices.as_of
        assert "https://" in price.source
        assert 0 < price.input < price.output <= 100
        assert price.cached_input is None or price.cached_input < price.input
        assert price.cache_write is None or price.cache_write > price.input
        assert prices.of(name) is not None


BAD: dict[str, tuple[Any, str]] = {
    "no JSON": ("{", "invalid JSON"),
    "a list": ([], "must be keys with values"),
    "no models": ({}, "models: missing"),
    "an unknown key": ({"models": {}, "currency": "EUR"}, "currency: unknown key"),
    "a misspelt key": ({"models": {"a": {"inpt": 1, "output": 1}}}, "models.a.inpt: unknown key"),
    "a negative": ({"models": {"a": {"input": -1, "output": 1}}}, r"models.a.input.*given: -1"),
    "no output": ({"models": {"a": {"input": 1}}}, "models.a.output: missing"),
    "a word": ({"models": {"a": {"input": "x", "output": 1}}}, "models.a.input"),
    "no date": ({"as_of": "soon", "models": {}}, "as_of"),
}


@for_each(("content", "words"), BAD.values(), ids=BAD)
def test_a_bad_list_is_one_clear_line(tmp_path: Path, content: Any, words: str) -> None:
    path = tmp_path / "prices.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(UsageError, match=words) as caught:
        read_prices(path)
    assert str(caught.value).startswith(str(path))
    assert "\n" not in str(caught.value)


def test_a_list_that_cannot_be_read_or_is_huge_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_prices(tmp_path)
    path = tmp_path / "prices.json"
    path.write_bytes(b" " * (2 << 20))
    with pytest.raises(UsageError, match="larger than 1 MiB"):
        read_prices(path)


@given(st.binary(max_size=200))
def test_any_bytes_are_a_price_list_or_a_usage_error(content: bytes) -> None:
    import tempfile

    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(content)
        file.flush()
        with suppress(UsageError):
            assert isinstance(read_prices(Path(file.name)), PriceList)


def test_tokens_written_to_a_cache_have_their_own_price() -> None:
    usage = Usage(input_tokens=1_000_000, cache_write_tokens=500_000, cached_input_tokens=300_000)
    price = Price(input=2, output=9, cached_input=0.2, cache_write=2.5)
    assert cost(usage, price) == pytest.approx(0.2 * 2 + 0.5 * 2.5 + 0.3 * 0.2)


def test_without_a_price_the_providers_own_cost_is_used() -> None:
    told = Usage(input_tokens=1_000_000, output_tokens=1, cost_usd=0.5)
    assert cost(told, None) == 0.5
    assert cost(told, Price(input=2, output=0)) == 2
    assert cost(Usage(input_tokens=1), None) is None


def test_costs_of_requests_add_up_where_each_is_known() -> None:
    told, silent = Usage(input_tokens=3, cost_usd=0.5), Usage(input_tokens=3)
    assert (Usage() + told + told).cost_usd == 1.0
    assert (told + silent).cost_usd is None
    assert (silent + told).cost_usd is None
    assert "cost_usd" not in silent.model_dump()
