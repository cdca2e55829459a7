"""`harness models`: which providers are ready, or what a request to one model would be."""

from typing import Annotated

import typer

from harness.cli import completing, selecting


def models(  # noqa: PLR0917 - the flags of a command
    name: Annotated[
        str | None,
        typer.Argument(
            autocompletion=completing.models,
            metavar="NAME",
            help="A model, as for `harness run --model`.",
        ),
    ] = None,
    base_url: Annotated[
        str | None, typer.Option("--base-url", help="Of any OpenAI-compatible endpoint.")
    ] = None,
    temperature: Annotated[
        float | None, typer.Option("--temperature", help="Sampling temperature.")
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option("--max-tokens", help="Most tokens of one reply.")
    ] = None,
    reasoning_effort: Annotated[
        str | None, typer.Option("--reasoning-effort", help="As the provider words it.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Show which providers are ready, or exactly what would be sent to the model NAME.

    Nothing is sent, and no key is shown.
    """
    flags = selecting.given(
        base_url=base_url,
        temperature=temperature,
        max_tokens=max_tokens,
        reasoning_effort=reasoning_effort,
    )
    from harness.cli.showing_models import show_model, show_providers
    from harness.errors import UsageError

    if name is not None:
        show_model(name, flags, as_json=as_json)
    elif flags:
        flag = next(iter(flags)).replace("_", "-")
        raise UsageError(f"--{flag} is about one model; name it: harness models NAME --{flag} …")
    else:
        show_providers(as_json=as_json)
