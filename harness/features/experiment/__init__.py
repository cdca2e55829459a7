"""`harness experiment` and `harness.experiment()`: a grid of runs under one budget, ranked.

command, library: the command, and the public function with the work of both.
variants, grid: variants, their names and growth; grids of lists and YAML files.
experiment_file: the request, and the experiment on disk.
variant_runs, grid_run: running the variants. decision: number of shots, early stopping.
ranking, view: the results. live_panel: the display meanwhile.
"""
