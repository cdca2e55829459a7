"""Strategies for solving problems.

`agent_loop` is the loop with tools; `single_shot`, `self_repair` and `best_of_k` are the others.
`strategy_names` finds a strategy by name, `user_strategy` loads a user's own.
"""
