"""Observers of runs: plug-ins, Python functions and webhooks.

`observer_events` defines the events that they receive.
"""
