"""Observers of runs: plug-ins, Python functions and webhooks."""
