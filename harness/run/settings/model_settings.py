"""Settings of the model: which one, and what requests ask for; presets of their values."""

import json
from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Annotated, Any, Literal, cast

from pydantic import BeforeValidator, Field, PlainSerializer
from pydantic_core import PydanticCustomError

from harness.models.environment import check_header, stored_header
from harness.models.prices.price import Price
from harness.models.protocol import ModelSettings
from harness.models.providers import Api
from harness.run.settings.setting import Setting, SettingsGroup

Preset = Literal["livecodebench"]
PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    # LiveCodeBench's own runner: https://github.com/LiveCodeBench/LiveCodeBench
    {"livecodebench": {"temperature": 0.2, "top_p": 0.95, "samples_per_problem": 10}}
)
"""Published settings by name."""
PRESET_KEYS = frozenset(key for values in PRESETS.values() for key in values)

MOST_HEADERS = 100
MOST_TOP_K = 2**31 - 1


def read_extra_body(value: Any) -> dict[str, Any] | None:
    """Read a JSON object, or its text; None if empty. Raises PydanticCustomError."""
    wrong = PydanticCustomError("extra_body", 'give a JSON object, as {"top_k": 20}')
    try:
        if value is None:
            return None
        parsed: Any = json.loads(value) if isinstance(value, str) else value
        copy: Any = json.loads(json.dumps(parsed, allow_nan=False))
    except (TypeError, ValueError, RecursionError):
        raise wrong from None
    if not isinstance(copy, dict):
        raise wrong
    return cast("dict[str, Any]", copy) or None


def read_header(value: Any) -> tuple[str, ...]:
    """Read headers: texts `NAME:VALUE`, or a mapping of names to values.

    Messages never contain a value, which may be a secret.

    Raises:
        PydanticCustomError: a header is invalid.
    """
    given: Any = value
    if isinstance(given, Mapping):
        pairs = cast("Mapping[Any, Any]", given).items()
        given = [f"{name}: {text}" for name, text in pairs]
    if not isinstance(given, list | tuple) or len(cast("list[Any]", given)) > MOST_HEADERS:
        raise PydanticCustomError("header", "give NAME:VALUE, or a list of such")
    try:
        return tuple(check_header(str(each)) for each in cast("list[Any]", given))
    except ValueError as error:
        raise PydanticCustomError("header", "{why}", {"why": str(error)}) from None


def read_stop(value: Any) -> Any:
    """Check that no stop text is empty. Raises PydanticCustomError."""
    if not isinstance(value, list | tuple):
        return value
    given = cast("list[Any]", value)
    if "" in given:
        raise PydanticCustomError("stop", "give texts that are not empty")
    return given


Probability = Annotated[float | None, Field(ge=0, le=1)]
TopK = Annotated[int | None, Field(ge=-1, le=MOST_TOP_K)]
ModelSeed = Annotated[int | None, Field(ge=-(2**63), lt=2**63)]
Penalty = Annotated[float | None, Field(ge=-2, le=2)]
Word = Annotated[str | None, Field(min_length=1, max_length=100)]
Variable = Annotated[str | None, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$", max_length=100)]
Stop = Annotated[tuple[str, ...], BeforeValidator(read_stop)]
ExtraBody = Annotated[dict[str, Any] | None, BeforeValidator(read_extra_body)]
# Values of headers are never stored.
Headers = Annotated[
    tuple[str, ...],
    BeforeValidator(read_header),
    PlainSerializer(
        lambda headers: [stored_header(each) for each in headers], return_type=list[str]
    ),
]

_asks = partial(Setting, heeded_by="asks")
_budget = partial(Setting, heeded_by="asks", may_change=True, compared=False)


class RequestSettings(SettingsGroup):
    """Which model is asked, and with what."""

    model: Annotated[
        str | None,
        Setting(
            "Model name; or replay:RUN, python:MODULE:FUNCTION, or a plug-in's NAME[:REST]. "
            "Default: the variable MODEL_ID; the bundled recordings where no other problems "
            "are named.",
            "Model",
            names=("-m", "--model"),
            factor=True,
            common=True,
        ),
    ] = None
    base_url: Annotated[
        str | None,
        Setting(
            "Base URL of an OpenAI-compatible endpoint, such as http://localhost:8000/v1.",
            "Model",
            heeded_by="asks",
            may_change=True,
            common=True,
        ),
    ] = None
    temperature: Annotated[
        float | None, _asks("Sampling temperature. Default: the provider's.", "Model", common=True)
    ] = Field(default=None, ge=0, allow_inf_nan=False)
    max_tokens: Annotated[
        int | None,
        _asks("Most tokens of one answer. Default: the provider's.", "Model", common=True),
    ] = Field(default=None, ge=1)
    reasoning_effort: Annotated[
        str | None,
        _asks("Reasoning effort, in the provider's word: low, medium, high, ...", "Model"),
    ] = None
    top_p: Annotated[
        Probability, _asks("Nucleus sampling: the probability mass to sample from.", "Model")
    ] = None
    top_k: Annotated[
        TopK, _asks("Sample from the K likeliest tokens (vLLM, SGLang, llama.cpp and others).")
    ] = None
    min_p: Annotated[
        Probability,
        _asks("Drop tokens less likely than this share of the likeliest one (vLLM and others)."),
    ] = None
    model_seed: Annotated[
        ModelSeed, _asks("Random seed that the model is asked to sample with.")
    ] = None
    stop: Annotated[Stop, _asks("A text that ends an answer; may be given several times.")] = ()
    frequency_penalty: Annotated[Penalty, _asks("Frequency penalty, from -2 to 2.")] = None
    presence_penalty: Annotated[Penalty, _asks("Presence penalty, from -2 to 2.")] = None
    service_tier: Annotated[
        Word,
        _asks(
            "Service tier in the provider's word, such as flex or priority. The bundled "
            "prices do not cover it."
        ),
    ] = None
    extra_body: Annotated[
        ExtraBody,
        _asks(
            'More fields of each request, as a JSON object: \'{"chat_template_kwargs": '
            '{"enable_thinking": false}}\'.',
            "Model",
            metavar="JSON",
        ),
    ] = None
    sampling_preset: Annotated[
        Preset | None,
        Setting(
            "Published settings. livecodebench: temperature 0.2, top_p 0.95, 10 samples per "
            "problem. Flags that you give win.",
            heeded_by="asks",
            compared=False,
        ),
    ] = None
    api: Annotated[
        Api | None,
        _asks(
            "Protocol of the requests: chat completions, OpenAI's Responses or Anthropic's "
            "Messages. Default: the provider's own; chat at other addresses.",
            "Model",
        ),
    ] = None
    api_key_env: Annotated[
        Variable,
        _budget(
            "Environment variable that holds the key. Default: the provider's usual one.",
            "Model",
            metavar="NAME",
        ),
    ] = None
    header: Annotated[
        Headers,
        Setting(
            "A header of each request; repeatable. A value $VARIABLE is read from the "
            "environment. Others are not stored: give them again with --resume.",
            "Model",
            metavar="NAME:VALUE",
            heeded_by="asks",
            may_change=True,
        ),
    ] = Field(default=(), repr=False)
    price: Annotated[
        Price | None,
        _budget(
            "US dollars per million input and output tokens; the price of cached input may follow.",
            "Model",
            metavar="IN,OUT[,CACHED]",
        ),
    ] = None
    prices: Annotated[
        str | None,
        _budget(
            "JSON file with prices by model, over the bundled list; `bundled` applies that "
            "list to another address too.",
            metavar="FILE",
        ),
    ] = None
    batch: Annotated[
        bool,
        _asks(
            "Send single shots through OpenAI's or Anthropic's batch API: half the price, "
            "an answer within a day. You may interrupt and --resume.",
            "Model",
            effective=lambda spec: spec.known_mode.single,
            otherwise="--batch goes with single shot: in mode {mode} a request waits for the one "
            "before",
        ),
    ] = False

    @property
    def request_settings(self) -> ModelSettings:
        """Settings of each request."""
        given: dict[str, Any] = {name: getattr(self, name) for name in ModelSettings.model_fields}
        given["stop"] = self.stop or None
        return ModelSettings(**given)
