"""`harness show`, `ls` and `transcript`: show runs on a terminal.

- `command`: `harness show`
- `ls_command`, `run_list`: `harness ls`
- `transcript_command`: `harness transcript`
- `library`: `load_run`
"""
