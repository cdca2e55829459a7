"""The flags that say which model, how it is asked, and what that may cost."""

from typing import Annotated

from harness.cli import completing
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
        complete=completing.models,
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
