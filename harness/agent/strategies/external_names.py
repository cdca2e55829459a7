"""Names of the built-in modes, without the strategies themselves: settings need no more."""

EXTERNAL = ("external", "mcp")
"""An agent of the user's own works: harness starts it, or it connects (`harness mcp`)."""

STARTED, COMES = EXTERNAL

ASKING = ("agentic", "single_shot", "self_repair", "best_of_k_public")
"""The modes in which harness asks the model itself."""

BUILT_IN = (*ASKING, *EXTERNAL)
"""All modes that have a name here."""

REPAIR_ROUNDS = 1
"""Of `self_repair`, where nobody says."""
SHOTS = 5
"""Of `best_of_k_public`, where nobody says."""
