"""Models of plug-ins, named `NAME` or `NAME:REST`."""

from harness.errors import UsageError
from harness.models.protocol import Model
from harness.models.user_code import model_of
from harness.plugins import Plugin


def open_plugged(plugin: Plugin, name: str) -> Model:
    """The model that a plug-in makes of the rest of a name.

    Args:
        plugin: a function of the text after `NAME:`, "" where there is none. It returns what
            `python:` may name as well: a model, a function of a problem, or a class of either.
        name: as given with `--model`; results are filed under it.

    Raises:
        UsageError: it does not load, raises, or returns something else.
    """
    make = plugin.load()
    if not callable(make):
        raise UsageError(f"{plugin} is a {type(make).__name__}; it is to be called with a name")
    try:
        found: object = make(name.partition(":")[2])
    except (Exception, SystemExit) as error:
        raise plugin.blame(error) from error
    try:
        return model_of(name, found)
    except UsageError as error:
        raise UsageError(f"{plugin}: {error}") from error
