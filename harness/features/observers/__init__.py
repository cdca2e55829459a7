"""Observers of runs: plug-ins, Python functions and webhooks.

- `observer_events`: the events that observers receive, and the observers of `evaluate`
- `attach`: observers named by flags, each in its own thread
- `webhook`: `--notify`
- `open_telemetry`: `--observer otel`
"""
