"""How a solution is sought: the strategies, their limits, prompts and code extraction."""
