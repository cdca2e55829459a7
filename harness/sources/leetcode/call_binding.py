"""The arguments of a call in the order of the parameters."""

from collections.abc import Iterable

from harness.sources.literals import (
    Call,
    UnreadableError,
)
from harness.sources.signature import EntryPoint


def bind(call: Call, entries: Iterable[EntryPoint]) -> tuple[object, ...]:
    """Return a call's arguments in the order of the parameters.

    Args:
        call: the arguments.
        entries: definitions of the entry point in different codes, the most trusted first. The
            first one that the call fits defines the order: a data set's tests may use the parameter
            names of its reference, which its starter code has renamed.

    Returns:
        An argument for each parameter, without the last ones where these have defaults.

    Raises:
        UnreadableError: the call fits none.
    """
    complaints: list[str] = []
    for entry in entries:
        try:
            return _bind(call, entry)
        except UnreadableError as error:
            complaints.append(str(error))
    raise UnreadableError(complaints[0] if complaints else "there is no code to say the parameters")


def _bind(call: Call, entry: EntryPoint) -> tuple[object, ...]:
    rest = entry.parameters[len(call.positional) :]
    if len(call.positional) > len(entry.parameters):
        raise UnreadableError(f"{len(call.positional)} arguments for {len(entry.parameters)}")
    for name in call.named:
        if name not in rest:
            raise UnreadableError(f"{name!r} is not a parameter, or is given twice")
    given = len(call.positional) + len(call.named)
    for name in rest[: len(call.named)]:
        if name not in call.named:
            raise UnreadableError(f"no argument for {name!r}")
    if given < entry.required:
        raise UnreadableError(f"no argument for {entry.parameters[given]!r}")
    return call.positional + tuple(call.named[name] for name in rest[: len(call.named)])
