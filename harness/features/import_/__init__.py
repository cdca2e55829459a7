"""`harness import`: turn published results into a run.

- `command`, `library`: the command; `harness.import_run`, and the import of solutions with
  published verdicts
- `trajectory_import`, `trajectory_run`: import of agent runs, whose revisions are judged here
- `trajectory_file`: formats of agent runs; `trajectory`: the form into which all are read
- `agent_traces`, `chat_messages`, `inspect_log`: readers of formats; `fields`: shared by them
- `imported_sample`: revisions in a conversation; a sample of the new run
"""
