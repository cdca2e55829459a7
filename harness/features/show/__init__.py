"""`harness show`, `ls` and `transcript`: show runs on a terminal.

- `command`, `chosen_samples`: `harness show`; `library`: `harness.load_run`
- `ls_command`, `run_list`: `harness ls`
- `transcript_command`: `harness transcript`
"""
