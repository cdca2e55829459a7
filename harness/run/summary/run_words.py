"""Names of runs in headings, from benchmark, model, mode and prompt set."""

from collections.abc import Mapping, Sequence
from typing import Any

from harness.text import count, printable_line

MODES: Mapping[str, str] = {
    "single_shot": "single shot",
    "agentic": "agentic",
    "self_repair": "self-repair",
    "best_of_k_public": "best of k",
}
"""Names of the built-in modes in texts."""


def benchmark_words(benchmark: object) -> str:
    """Return a benchmark's name and release: `livecodebench v6`."""
    name, _, where = str(benchmark or "fixture").partition(":")
    where = where.rpartition("/")[2] or where
    return printable_line(f"{name} {where}".strip())


def mode_words(mode: object) -> str:
    """Return a mode's name in texts: `single shot`."""
    return MODES.get(str(mode), printable_line(str(mode).replace("_", " ")))


def measured_words(manifest: Mapping[str, Any], problems: int) -> str:
    """Return a line about a run: benchmark, problems, model, mode, prompt set."""
    spec = manifest["spec"]
    samples = int(spec.get("samples_per_problem") or 1)
    parts = (
        benchmark_words(spec.get("benchmark")),
        count(problems, "problem") + (f" x {samples} samples" if samples > 1 else ""),
        printable_line(str(spec.get("model") or "no model")),
        mode_words(spec.get("mode")),
        f"prompt {printable_line(str(manifest['prompt'].get('name') or 'unknown'))}",
    )
    return ", ".join(parts)


NAMING = ("mode", "model", "prompt")
"""Facts that distinguish runs in a heading, the most important first."""


def arm_names(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a unique name for each compared run, from the facts that differ.

    Args:
        runs: `mode`, `model` and `prompt` of each run.

    Returns:
        The mode if it differs, then the model, then the prompt set; if none differs or names
            coincide, with a letter added.
    """
    said = [
        {
            "mode": mode_words(run.get("mode")),
            "model": printable_line(str(run.get("model") or "no model")),
            "prompt": printable_line(str(run.get("prompt") or "unknown prompt")),
        }
        for run in runs
    ]
    differing = [key for key in NAMING if len({each[key] for each in said}) > 1]
    names = [", ".join(each[key] for key in differing) or each["mode"] for each in said]
    if len(set(names)) == len(names):
        return names
    return [f"{name} {_letter(place)}" for place, name in enumerate(names)]


def _letter(place: int) -> str:
    return "ABCDEFGHIJKLMNOPQRSTUVWXYZ"[place % 26]
