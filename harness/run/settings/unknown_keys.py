"""Refuse unknown keys, and name the key that was probably meant."""

import difflib
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType

from harness.errors import UsageError

MEANT: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "samples": ("samples_per_problem",),
        "num_samples": ("samples_per_problem",),
        "n_samples": ("samples_per_problem",),
        "k": ("samples_per_problem",),
        "n": ("limit", "sample_size"),
        "problems": ("benchmark",),
        "resume": ("out",),
        "timeout": ("test_timeout",),
        "limit": ("sample_size",),
        "samples_per_problem": ("shots",),
    }
)
"""Words that are used for a key, as elsewhere or as a flag, with the first keys to think of."""

COMMAND_ONLY = {"resume", "only", "notify", "config", "dry_run", "json", "fail_under"}
"""Flags of commands that are no keys."""


def refuse_unknown(values: Iterable[str], known: Collection[str], where: str) -> None:
    """Refuse unknown keys. Raises UsageError, which names the most similar known one."""
    unknown = next((key for key in values if key not in known), None)
    if unknown is not None:
        raise UsageError(
            f"{where}: unknown key {unknown[:200]!r}; {_hint(unknown[:200], known, where)}"
        )


def _hint(unknown: str, known: Collection[str], where: str) -> str:
    if unknown == "agentic_mode" and "mode" in known:
        return 'give mode="agentic"'
    near = next((key for key in MEANT.get(unknown, ()) if key in known), None)
    if near is None and unknown in COMMAND_ONLY:
        return "it is a flag of `harness run`, and no key"
    near = near or _nearest(unknown, known)
    if near is not None:
        return f"did you mean {near!r}?"
    return (
        f"see help(harness.{where[:-2]})"
        if where.endswith("()")
        else "see `harness run --help-all`"
    )


def _nearest(word: str, known: Collection[str]) -> str | None:
    """Return the most similar known word; one with swapped letters comes first."""
    letters = sorted(word)
    swapped = next((each for each in known if sorted(each) == letters), None)
    return swapped or next(iter(difflib.get_close_matches(word, known, n=1)), None)
