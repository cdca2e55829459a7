"""Extension points for features: modes with a user's own agent, and transports.

`harness.registry` names the implementations. The core uses these protocols and knows no feature.
What the features do once a run is planned is in `harness.run.engine.lifecycle`.
"""

from collections.abc import Mapping
from typing import Any, Protocol

from harness.models.route import Route
from harness.registry import MODES, TRANSPORTS, feature
from harness.run.spec.spec import RunSpec


class Mode(Protocol):
    """A mode in which a user's own agent works, and the harness sends no requests."""

    def check(self, spec: RunSpec) -> None:
        """Refuse incompatible settings. Raises UsageError."""
        ...

    def model_name(self, spec: RunSpec) -> str:
        """Return the model name for the results. Raises UsageError."""
        ...

    def facts(self, spec: RunSpec) -> Mapping[str, Any]:
        """Return the agent's entries in `run.json`."""
        ...

    def notice(self, spec: RunSpec) -> str:
        """Return the line shown before the run starts."""
        ...

    def limits(self, spec: RunSpec) -> tuple[int | None, float | None]:
        """Return the most tool calls and working seconds of a sample; None is no limit."""
        ...


class Transport(Protocol):
    """A way of sending a run's requests other than one by one."""

    def check(self, spec: RunSpec, name: str, route: Route | None) -> None:
        """Refuse a run that the transport does not support. Raises UsageError.

        Args:
            spec: the run's spec.
            name: name of the run's model.
            route: route of its requests; None if the harness itself sends none.
        """
        ...


def mode_of(spec: RunSpec) -> Mode | None:
    """Return the mode of a feature; None for modes in which a model is used.

    Raises:
        UsageError: the feature is not installed.
    """
    target = MODES.get(spec.mode)
    return None if target is None else feature(target, f"--mode {spec.mode}")


def transport_of(spec: RunSpec) -> Transport | None:
    """Return the transport if requests are not sent one by one, else None.

    Raises:
        UsageError: the feature is not installed.
    """
    return feature(TRANSPORTS["batch"], "--batch") if spec.batch else None
