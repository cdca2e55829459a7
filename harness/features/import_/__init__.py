"""`harness import`: turn published results into a run.

- `command`, `published_run`: the command; import of solutions with published verdicts
- `trajectory_import`, `trajectory_run`: import of agent runs, whose revisions are judged here
- `trajectory_file`: formats of agent runs; `trajectory`: the form into which all are read
- `atif`, `inspect_log` (with `eval_archive`), `chat_messages`,
  `revision_rows`, `verifiers_traces`: one format each
- `fields`: shared by the readers of formats
- `revisions`, `imported_sample`: revisions in a conversation; a sample of the new run
- `agreement`: comparison with published verdicts
"""
