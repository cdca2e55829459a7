"""`harness experiment`: a grid of runs under one budget, ranked.

command, invocation, experiment_run: the command, its arguments and its work.
grid, cell_names: the grid and its cells' names.
experiment_file, growth: the grid on disk, and checks when it grows.
grid_run, cell_runs: running the cells. decision: early stopping.
shots: number of single shots for an agent's spend. ranking, answers, view: the results.
"""
