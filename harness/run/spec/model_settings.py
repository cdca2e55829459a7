"""Settings of the model: which one, and what requests ask for."""

from functools import partial
from typing import Annotated

from pydantic import Field

from harness.models.prices import Price
from harness.models.providers import Api
from harness.run.spec import request_settings as asking
from harness.run.spec.settings import ASKED, Setting, SettingsGroup

_asks = partial(Setting, modes=ASKED)
_budget = partial(Setting, modes=ASKED, may_change=True, compared=False)


class RequestSettings(SettingsGroup):
    """Which model is asked, and with what."""

    model: Annotated[
        str | None,
        Setting(
            "Model name; or replay:RUN, python:MODULE:FUNCTION, or a plug-in's NAME[:REST]. "
            "Default: the variable MODEL_ID; the bundled recordings where no other problems "
            "are named.",
            "Model",
            names=(
                "-m",
                "--model",
            ),
            factor=True,
        ),
    ] = None
    base_url: Annotated[
        str | None,
        Setting(
            "Base URL of an OpenAI-compatible endpoint, such as http://localhost:8000/v1.",
            "Model",
            modes=ASKED,
            may_change=True,
        ),
    ] = None
    temperature: Annotated[
        float | None, _asks("Sampling temperature. Default: the provider's.", "Model")
    ] = Field(default=None, ge=0, allow_inf_nan=False)
    max_tokens: Annotated[
        int | None, _asks("Most tokens of one answer. Default: the provider's.", "Model")
    ] = Field(default=None, ge=1)
    reasoning_effort: Annotated[
        str | None,
        _asks("Reasoning effort, in the provider's word: low, medium, high, ...", "Model"),
    ] = None
    top_p: Annotated[
        asking.Probability, _asks("Nucleus sampling: the probability mass to sample from.", "Model")
    ] = None
    top_k: Annotated[
        asking.TopK,
        _asks("Sample from the K likeliest tokens (vLLM, SGLang, llama.cpp and others).", "Model"),
    ] = None
    min_p: Annotated[
        asking.Probability,
        _asks(
            "Least probability of a token, relative to the likeliest one (vLLM and others).",
            "Model",
        ),
    ] = None
    model_seed: Annotated[
        asking.ModelSeed, _asks("Random seed that the model is asked to sample with.", "Model")
    ] = None
    stop: Annotated[
        asking.Stop, _asks("A text that ends an answer; may be given several times.", "Model")
    ] = ()
    frequency_penalty: Annotated[
        asking.Penalty, _asks("Frequency penalty, from -2 to 2.", "Model")
    ] = None
    presence_penalty: Annotated[
        asking.Penalty, _asks("Presence penalty, from -2 to 2.", "Model")
    ] = None
    service_tier: Annotated[
        asking.Word,
        _asks(
            "Service tier in the provider's word, such as flex or priority. The bundled "
            "prices do not cover it.",
            "Model",
        ),
    ] = None
    extra_body: Annotated[
        asking.ExtraBody,
        _asks(
            'More fields of each request, as a JSON object: \'{"chat_template_kwargs": '
            '{"enable_thinking": false}}\'.',
            "Model",
            metavar="JSON",
        ),
    ] = None
    sampling_preset: Annotated[
        asking.Preset | None,
        Setting(
            "Published settings. livecodebench: temperature 0.2, top_p 0.95, 10 samples per "
            "problem. Flags that you give win.",
            "Model",
            metavar="livecodebench",
            modes=ASKED,
            compared=False,
        ),
    ] = None
    api: Annotated[
        Api | None,
        _asks(
            "Protocol of the requests: chat completions, OpenAI's Responses or Anthropic's "
            "Messages. Default: the provider's own; chat at other addresses.",
            "Model",
            metavar="chat|responses|messages",
        ),
    ] = None
    api_key_env: Annotated[
        asking.Variable,
        _budget(
            "Environment variable that holds the key. Default: the provider's usual one.",
            "Model",
            metavar="NAME",
        ),
    ] = None
    header: Annotated[
        asking.Headers,
        Setting(
            "A header of each request; may be given several times. A value $VARIABLE is "
            "read from the environment. Other values are stored nowhere: give them again "
            "with --resume.",
            "Model",
            metavar="NAME:VALUE",
            modes=ASKED,
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
            "Model",
            metavar="FILE",
        ),
    ] = None
    batch: Annotated[
        bool,
        _asks(
            "Send single shots through OpenAI's or Anthropic's batch API: half the price, "
            "an answer within a day. You may interrupt and --resume.",
            "Model",
        ),
    ] = False
