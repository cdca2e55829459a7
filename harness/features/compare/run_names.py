"""What the runs of a comparison are called: by what differs, else by the folders given."""

from harness.features.compare.comparison import LABELS, Comparison
from harness.features.compare.spend_sentence import folder_names
from harness.run.summary.loaded_run import mode_words
from harness.text import printable_line

NAMING = ("mode", "model", "prompt")


def names_of(comparison: Comparison) -> dict[str, str]:
    """Name the runs by the mode, model or prompt set that differs, else by their folders.

    Returns:
        The name of each run by its letter; no two are equal.
    """
    facts = [
        {
            "mode": mode_words(side.settings.get("mode")),
            "model": printable_line(str(side.settings.get("model") or "no model")),
            "prompt": printable_line(str(side.settings.get("prompt") or "unknown prompt")),
        }
        for side in comparison.runs
    ]
    differing = [key for key in NAMING if len({each[key] for each in facts}) > 1]
    names = [", ".join(each[key] for key in differing) for each in facts]
    if len(set(names)) < len(names):
        names = folder_names([side.path for side in comparison.runs])
    if len(set(names)) < len(names):  # a run is compared with itself
        names = [f"{name} {letter}" for name, letter in zip(names, LABELS, strict=False)]
    return {side.label: name for side, name in zip(comparison.runs, names, strict=True)}
