"""`harness models`: which providers are ready, or what a request to one model would be."""

from typing import Annotated

import typer

from harness.cli import completion as completing
from harness.cli import model_flags
from harness.cli import problem_flags as selecting


def models(  # noqa: PLR0917 - the flags of a command
    name: Annotated[
        str | None,
        typer.Argument(
            autocompletion=completing.models,
            metavar="NAME",
            help="A model, as for `harness run --model`.",
        ),
    ] = None,
    base_url: model_flags.BaseUrl = None,
    temperature: model_flags.Temperature = None,
    max_tokens: model_flags.MaxTokens = None,
    reasoning_effort: model_flags.ReasoningEffort = None,
    top_p: model_flags.TopP = None,
    top_k: model_flags.TopK = None,
    min_p: model_flags.MinP = None,
    model_seed: model_flags.ModelSeed = None,
    stop: model_flags.Stop = None,
    frequency_penalty: model_flags.FrequencyPenalty = None,
    presence_penalty: model_flags.PresencePenalty = None,
    service_tier: model_flags.ServiceTier = None,
    extra_body: model_flags.ExtraBody = None,
    api: model_flags.Api = None,
    api_key_env: model_flags.ApiKeyEnv = None,
    header: model_flags.Header = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show which providers are ready, or exactly what would be sent to the model NAME.

    Nothing is sent, and no key is shown.
    """
    values = {key: value for key, value in locals().items() if key not in {"name", "as_json"}}
    flags = selecting.given(**values)
    from harness.errors import UsageError
    from harness.features.info.models import show_model, show_providers

    if name is not None and not name.strip():
        raise UsageError("NAME is empty; give a value, or leave it out")
    if name is not None:
        show_model(name, flags, as_json=as_json)
    elif flags:
        flag = next(iter(flags)).replace("_", "-")
        raise UsageError(f"--{flag} is about one model; name it: harness models NAME --{flag} …")
    else:
        show_providers(as_json=as_json)
