"""Clients of chat completions, OpenAI's Responses and Anthropic's Messages."""
