"""Splits of a data set on the hub, by the rules of the `datasets` library."""

# The library has no stubs.
# pyright: reportMissingTypeStubs=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from harness.errors import UsageError
from harness.sources.files.download import DATA_SUFFIXES, HubError, files_of, hub_errors


def splits_of(repo: str, commit: str) -> dict[str, tuple[str, ...]]:
    """Return the files of each split of a data set's default configuration.

    A data set with a loading script, which `datasets` no longer runs, has one split, `test`, of all
    its files of rows; LiveCodeBench's older sets are like that.

    Raises:
        UsageError: there is no such data set, or no file of rows in it.
        HubError: the hub cannot be reached.
    """
    from datasets import load_dataset_builder
    from datasets.exceptions import DatasetNotFoundError

    start = f"hf://datasets/{repo}@{commit}/"
    try:
        with hub_errors(repo, commit):
            builder = load_dataset_builder(repo, revision=commit)
    except (DatasetNotFoundError, ValueError) as error:
        raise UsageError(f"{repo} cannot be read: {' '.join(str(error).split())}") from None
    except RuntimeError:
        return {"test": _files_of_rows(repo, commit)}
    found = {
        str(split): tuple(map(str, files))
        for split, files in (builder.config.data_files or {}).items()
    }
    if not all(file.startswith(start) for files in found.values() for file in files):
        # If the hub fails half-way, `datasets` uses another commit in its cache.
        raise HubError(f"{repo}@{commit[:12]}: the hub does not say what its files are; try again")
    return {split: tuple(f.removeprefix(start) for f in files) for split, files in found.items()}


def _files_of_rows(repo: str, commit: str) -> tuple[str, ...]:
    found = tuple(name for name in files_of(repo, commit) if name.endswith(DATA_SUFFIXES))
    if not found:
        raise UsageError(f"{repo}@{commit[:12]} holds no file of rows")
    return found
