"""`harness experiment` and `harness.experiment()`: a grid of runs under one budget, ranked.

command, library: the command, and the public function with the work of both.
variants, grid: variants, their names and growth; grids of lists and YAML files.
request: what to start or resume. experiment_file: the experiment on disk.
variant_runs, grid_run: running the variants. variant_results: what they did so far.
stopping_goal, decision: early stopping. whole_runs: observers of runs that run in parts.
ranking, view: the results.
"""
