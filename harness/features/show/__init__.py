"""`harness show`, `ls` and `transcript`: show runs on a terminal.

- `command`, `chosen_samples`: `harness show`
- `ls_command`, `run_list`, `run_list_view`: `harness ls`
- `transcript_command`, `transcript_text`: `harness transcript`
- `library`: `load_run`
"""
