"""Checks which runs may use `--batch`."""

from collections.abc import Mapping

from harness.errors import UsageError
from harness.features.batch.open_batches import batch_route
from harness.run.plan.target import access_of, environment_of
from harness.run.spec.spec import RunSpec


def check_batch(spec: RunSpec, name: str, environ: Mapping[str, str]) -> None:
    """Refuse settings that cannot be combined with `--batch`, before loading.

    Args:
        spec: the run's settings.
        name: the model's name.
        environ: environment variables, which may hold addresses and keys.

    Raises:
        UsageError: the mode's requests depend on one another, the spec has a budget (all requests
            are submitted before any cost is known), or the provider has no batch API.
    """
    if spec.mode != "single_shot":
        raise UsageError(
            f"--batch goes with single shot: in mode {spec.mode} a request waits for the one before"
        )
    limits = {
        "--max-cost": spec.max_cost,
        "--max-tokens-total": spec.max_tokens_total,
        "--max-cost-per-sample": spec.max_cost_per_sample,
    }
    flag = next((flag for flag, limit in limits.items() if limit is not None), None)
    if flag is not None:
        raise UsageError(
            f"{flag} cannot be kept with --batch, which asks everything at once; leave one of them "
            "out (--dry-run tells what a run may cost)"
        )
    if spec.outage_timeout is not None:
        raise UsageError(
            "--outage-timeout goes with requests that are sent one by one, not with --batch"
        )
    environment = environment_of(spec, environ)
    batch_route(name, base_url=spec.base_url, environment=environment, **access_of(spec))
