"""Observers of runs: plug-ins, functions of the user's own, and webhooks.

`observer_events` has the events that they receive.
"""
