"""`harness import`: turn published results into a run.

- `command`, `library`: the command; `harness.import_run`, and the import of solutions with
  published verdicts
- `trajectory_import`: import of agent runs; `judgements`: grades of their revisions,
  and published verdicts beside them
- `sample_finder`: the sample of each trajectory
- `trajectory_file`: formats of agent runs; `trajectory`: the form into which all are read
- `atif`, `verifiers_traces`, `chat_messages`, `inspect_log`, `eval_archive`: readers of formats;
  `fields`: shared by them
- `imported_sample`: revisions in a conversation; a sample of the new run
"""
