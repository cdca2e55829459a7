"""Strategies for solving problems.

`agent_loop` is the loop with tools, `baselines` has the modes without tools. `strategies` finds a
strategy by name.
"""
