"""Strategies for solving problems, and the usual values of their options.

- `agent_loop`: the agent loop
- `shots`: single shot, best of k, self-repair
- `codet`, `reflexion`, `map_coder`: strategies of published papers
- `solver`: what these have in common
- `modes`, `published`: what the rest of the program knows of each
- `user_code`: strategies and tools of users and plug-ins
- `strategies`: strategies and modes by name, also those of users
"""

from typing import Literal

Context = Literal["auto", "grow", "fresh"]
"""What the agent loop keeps in view."""

REPAIR_ROUNDS = 1
"""Default number of repair rounds of `self_repair`, and of each plan of `map_coder`."""
SHOTS = 5
"""Default number of shots of `best_of_k_public` and of solutions of `codet`."""
TEST_ANSWERS = 1
"""Default number of answers with tests of `codet`."""
PLANS = 3
"""Default number of plans of `map_coder`."""
