"""How a solution is sought: attempts, conversations, strategies, prompts."""
