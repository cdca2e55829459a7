"""The strategies by the name they have on the command line."""

from harness.agent.agentic import agentic
from harness.agent.attempt import Strategy
from harness.agent.single_shot import single_shot

STRATEGIES: dict[str, Strategy] = {"agentic": agentic, "single_shot": single_shot}
