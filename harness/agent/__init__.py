"""Solving problems with a model: attempts, conversations, strategies, prompts."""
