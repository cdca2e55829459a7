"""Timing of correct solutions against the reference solutions of their problem.

- `beyond`: Beyond scores and percentiles.
- `efficiency_summary`: summary of a run's efficiency.
- `expected`: tests that solutions are timed on.
- `labels`: texts for times and scores.
- `measurement`: jobs that time solutions, and stored time scales.
- `median_interval`: median with its interval.
- `mercury_protocol`: `--timing mercury`.
- `paired_timing`: `--timing paired`, the default.
- `reference_times`: measurement of a problem's time scale.
- `scale`: time scale of the references, and a solution's place on it.
- `turns`: programs timed in turns.
"""
