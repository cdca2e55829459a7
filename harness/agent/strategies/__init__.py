"""Strategies for solving problems, and the names of the built-in modes.

- `agent_loop`: the agent loop
- `shots`: single shot, best of k, self-repair
- `codet`, `reflexion`, `map_coder`: strategies of published papers
- `solver`: what these have in common
- `user_code`: strategies and tools of users and plug-ins
- `strategies`: all strategies by name

Settings import the names here without the strategies.
"""

from typing import Literal

Context = Literal["auto", "grow", "fresh"]
"""What the agent loop keeps in view."""

EXTERNAL = ("external", "mcp")
"""Modes of a user's own agent: the harness starts it, or (`mcp`) it connects to `harness mcp`."""

STARTED, COMES = EXTERNAL

CODET, REFLEXION, MAP_CODER = PUBLISHED = ("codet", "reflexion", "map_coder")
"""Modes that are strategies of published papers."""

WRITE_TESTS = (CODET, REFLEXION)
"""Modes in which the model writes tests."""

ASKING = ("agentic", "single_shot", "self_repair", "best_of_k_public", *PUBLISHED)
"""Modes in which the harness sends the requests."""

BUILT_IN = (*ASKING, *EXTERNAL)
"""All built-in modes, including those of a user's own agent."""

REPAIR_ROUNDS = 1
"""Default number of repair rounds of `self_repair`, and of each plan of `map_coder`."""
SHOTS = 5
"""Default number of shots of `best_of_k_public` and of solutions of `codet`."""
TEST_ANSWERS = 1
"""Default number of answers with tests of `codet`."""
PLANS = 3
"""Default number of plans of `map_coder`."""
