"""Strategies for solving problems.

`agent_loop` is the loop with tools, `baselines` has the modes without; `strategies` finds one by name.
"""
