"""Observers of runs: plug-ins, Python functions and webhooks.

- `observer_events`: the events that observers receive, and passing them on
- `attach`, `thread`: observers named by flags, each in its own thread
- `library`: observers given to `evaluate`
- `webhook`: `--notify`
"""
