"""Strategies for solving problems, and the usual values of their options."""

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
