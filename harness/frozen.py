"""Base class of values that do not change."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """Base class of values that do not change."""

    model_config = ConfigDict(frozen=True)
