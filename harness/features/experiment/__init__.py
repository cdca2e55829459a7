"""`harness experiment`: a grid of runs under one budget, ranked.

command, invocation, experiment_run: the command, its arguments and its work.
grid, flag_grid, cell_names: the grid from a file or from flags, and its cells' names.
experiment_file, growth: the grid on disk, and checks when it grows.
grid_run, cell_runs, run_events: running the cells. decision, problem_order: early stopping.
shots: number of single shots for an agent's spend. ranking, answers, view: the results.
"""
