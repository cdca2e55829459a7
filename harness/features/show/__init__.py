"""`harness show`, `ls` and `transcript`: show runs on a terminal.

- `command`: `harness show`, and `load_run`
- `ls_command`, `run_list`: `harness ls`
- `transcript_command`: `harness transcript`
"""
