"""The flags that say which model, how it is asked, and what that may cost."""

from typing import Annotated

from harness.cli import completion
from harness.cli.options import option

Model = Annotated[
    str | None,
    option(
        "-m",
        "--model",
        help="A model's name, replay:RUN, python:MODULE:FUNCTION, or a plug-in's NAME[:REST]. "
        "Default: MODEL_ID, or the bundled recordings where no problems, or the bundled ones, are "
        "named.",
        panel="Model",
        complete=completion.models,
    ),
]
BaseUrl = Annotated[
    str | None,
    option("--base-url", help="Of any OpenAI-compatible endpoint.", panel="Model"),
]
Temperature = Annotated[
    float | None, option("--temperature", help="Sampling temperature.", panel="Model")
]
MaxTokens = Annotated[
    int | None, option("--max-tokens", help="Most tokens of one reply.", panel="Model")
]
ReasoningEffort = Annotated[
    str | None,
    option("--reasoning-effort", help="As the provider words it.", panel="Model"),
]
TopP = Annotated[
    float | None,
    option("--top-p", help="Nucleus sampling: probability mass to sample from.", panel="Model"),
]
TopK = Annotated[
    int | None,
    option(
        "--top-k",
        help="Sample from the K likeliest tokens (vLLM, SGLang, llama.cpp and such).",
        panel="Model",
    ),
]
MinP = Annotated[
    float | None,
    option(
        "--min-p",
        help="Least probability of a token, relative to the likeliest (vLLM and such).",
        panel="Model",
    ),
]
ModelSeed = Annotated[
    int | None,
    option(
        "--model-seed", help="Random seed that the model is asked to sample with.", panel="Model"
    ),
]
Stop = Annotated[
    list[str] | None,
    option("--stop", help="A text that ends an answer; may be given several times.", panel="Model"),
]
FrequencyPenalty = Annotated[
    float | None,
    option("--frequency-penalty", help="Frequency penalty, from -2 to 2.", panel="Model"),
]
PresencePenalty = Annotated[
    float | None,
    option("--presence-penalty", help="Presence penalty, from -2 to 2.", panel="Model"),
]
ServiceTier = Annotated[
    str | None,
    option(
        "--service-tier",
        help="Service tier in the provider's word, such as flex or priority. Its price is not in "
        "the bundled list.",
        panel="Model",
    ),
]
ExtraBody = Annotated[
    str | None,
    option(
        "--extra-body",
        help="Further fields of each request, as a JSON object: "
        '\'{"chat_template_kwargs": {"enable_thinking": false}}\'.',
        panel="Model",
        metavar="JSON",
    ),
]
SamplingPreset = Annotated[
    str | None,
    option(
        "--sampling-preset",
        help="Published settings. livecodebench: temperature 0.2, top_p 0.95, 10 samples per "
        "problem. What you give yourself wins.",
        panel="Model",
        metavar="livecodebench",
    ),
]
Api = Annotated[
    str | None,
    option(
        "--api",
        help="Protocol of the requests: chat completions, OpenAI's Responses or Anthropic's "
        "Messages. Default: the provider's at its own address, else chat.",
        panel="Model",
        metavar="chat|responses|messages",
    ),
]
ApiKeyEnv = Annotated[
    str | None,
    option(
        "--api-key-env",
        help="Environment variable that holds the key, in place of the provider's usual one.",
        panel="Model",
        metavar="NAME",
    ),
]
Header = Annotated[
    list[str] | None,
    option(
        "--header",
        help="A header of each request; may be given several times. A value $VARIABLE is read "
        "from the environment. Other values are stored nowhere: give them again with --resume.",
        panel="Model",
        metavar="NAME:VALUE",
    ),
]
Price = Annotated[
    str | None,
    option(
        "--price",
        help="US dollars per million input and output tokens; cached input may follow.",
        panel="Model",
        metavar="IN,OUT[,CACHED]",
    ),
]
Prices = Annotated[
    str | None,
    option(
        "--prices",
        help="A list of prices by model, as JSON, over the one that comes with harness; "
        "`bundled` says that those hold for another address, too.",
        panel="Model",
        metavar="FILE",
    ),
]
Batch = Annotated[
    bool | None,
    option(
        "--batch",
        help="Single shot through OpenAI's or Anthropic's batches: half the price, an answer "
        "within a day; interrupt and --resume at will.",
        panel="Model",
    ),
]
IdleTimeout = Annotated[
    float | None,
    option(
        "--idle-timeout",
        help="Seconds that a provider may be silent during a request, default 900. Answers are "
        "streamed where the provider does so; others are silent until they are done.",
        panel="Model",
        metavar="S",
    ),
]
RequestTimeout = Annotated[
    float | None,
    option(
        "--request-timeout",
        help="Seconds of one request in all, default 7200.",
        panel="Model",
        metavar="S",
    ),
]
RetryTimeout = Annotated[
    float | None,
    option(
        "--retry-timeout",
        help="Seconds for which a failing request is sent again, default 1800.",
        panel="Model",
        metavar="S",
    ),
]
OutageTimeout = Annotated[
    float | None,
    option(
        "--outage-timeout",
        help="Seconds that the run is paused while the provider does not answer, before it stops "
        "with exit code 4. Default: 600, or 60 where the provider has not answered yet.",
        panel="Model",
        metavar="S",
    ),
]
MaxCost = Annotated[
    float | None,
    option(
        "--max-cost",
        help="US dollars that the run may spend in all.",
        panel="Budget",
        metavar="USD",
    ),
]
MaxTokensTotal = Annotated[
    int | None,
    option(
        "--max-tokens-total",
        help="Input and output tokens that the run may use in all.",
        panel="Budget",
        metavar="N",
    ),
]
MaxCostPerSample = Annotated[
    float | None,
    option(
        "--max-cost-per-sample",
        help="US dollars that one sample may spend.",
        panel="Budget",
        metavar="USD",
    ),
]


def read_price(text: str) -> dict[str, float | None]:
    """Return what `--price` says, by the keys of a price. Raises UsageError."""
    from harness.errors import UsageError

    try:
        price, output, *cached = (float(part) for part in text.split(","))
        (cached_input,) = cached or (None,)
    except ValueError as error:
        raise UsageError(f"--price {text!r}: give dollars per million tokens, as 2.5,10") from error
    return {"input": price, "output": output, "cached_input": cached_input}
