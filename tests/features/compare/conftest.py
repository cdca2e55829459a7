"""Runs on disk that are compared."""

from collections.abc import Callable
from pathlib import Path

import pytest

from harness.run.store.results import SampleResult

MakeResult = Callable[..., SampleResult]


@pytest.fixture
def run_of(make_result: MakeResult, write_run: Callable[..., Path]) -> Callable[..., Path]:
    """Write a run from letters: `A` is a solved sample of problem a, `a` a failure."""

    def write(name: str, letters: str, manifest: object = None, **changes: object) -> Path:
        counts = dict.fromkeys(letters.lower(), 0)
        results: list[SampleResult] = []
        for letter in letters:
            problem = letter.lower()
            index, counts[problem] = counts[problem], counts[problem] + 1
            made = make_result(problem, solved=letter.isupper(), index=index)
            results.append(made.model_copy(update=changes))
        return write_run(name, results, manifest, samples_per_problem=max(counts.values()))

    return write
