"""`tune.json`: the settings and the split of a tuning, and how far it came."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, PositiveInt

from harness.errors import RunDirectoryError
from harness.features.experiment.runs_folder import read_contents, write_contents
from harness.features.tune.split import ProblemSplit, Sizes
from harness.frozen import Frozen
from harness.models.prices.price_lists import ListedPrice
from harness.run.settings.spec import RESUMABLE, flag_of

FILE = "tune.json"
SCHEMA = 1

Ended = Literal["done", "evaluations", "budget", "interrupted", "pending", "running"]
"""How far a tuning came.

- done: nothing is left to learn from, or no proposal is new
- evaluations: the limit of evaluations is reached
- budget: the rest of the budget is needed for the test part
- interrupted: the user stopped it
- pending: infrastructure left samples ungraded
- running: it is under way, or was killed
"""


class TuneOptions(Frozen):
    """What `harness tune` is asked for beside a run's settings.

    Attributes:
        reflection_model: the model that proposes templates; None for the model itself.
        reflection_base_url: its address; None for that of the model.
        sizes: problems of each part.
        test_from: first release date of the test part.
        max_evaluations: most samples of candidates in the search; None for no limit.
    """

    reflection_model: str | None = None
    reflection_base_url: str | None = None
    sizes: Sizes = Sizes()
    test_from: date | None = None
    max_evaluations: PositiveInt | None = None


class TuneFile(Frozen):
    """Contents of `tune.json`.

    Attributes:
        spec: the stored settings of a run.
        reflection_price: price of the reflection model; None if unknown.
        start: name of the start among the candidates.
        chosen: name of the candidate that the test part is asked with; None before that.
        ended: how far it came, with a line on it.
    """

    schema_version: int = Field(default=SCHEMA, ge=SCHEMA, le=SCHEMA)
    harness: str
    created: str
    spec: dict[str, Any]
    options: TuneOptions
    split: ProblemSplit
    start: str
    reflection_price: ListedPrice | None = None
    chosen: str | None = None
    ended: Ended = "running"
    remark: str = ""

    def write(self, path: Path) -> None:
        """Write the file into a tuning's directory. Raises StorageError."""
        write_contents(path / FILE, self.model_dump(mode="json"))

    def refuse_other(self, path: Path, spec: Mapping[str, Any], options: TuneOptions) -> None:
        """Refuse to go on with other settings.

        Raises:
            RunDirectoryError: names the first difference.
        """
        for key, value in spec.items():
            then = self.spec.get(key)
            if key not in RESUMABLE and then != value:
                raise RunDirectoryError(
                    f"{path} was begun with {flag_of(key)} {then}, and not {value}; choose "
                    "another --out"
                )
        fixed = {"max_evaluations", "reflection_base_url"}
        then, now = (each.model_dump(exclude=fixed) for each in (self.options, options))
        if then != now:
            key = next(key for key in now if now[key] != then[key])
            raise RunDirectoryError(
                f"{path} was begun with {key} {then[key]}, and not {now[key]}; choose another --out"
            )


def read_tune(path: Path) -> TuneFile:
    """Read `tune.json`.

    Raises:
        RunDirectoryError: the file is missing or invalid.
    """
    return read_contents(path / FILE, TuneFile, "a tuning")
