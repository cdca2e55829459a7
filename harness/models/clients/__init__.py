"""Clients of chat completions, OpenAI's Responses and Anthropic's Messages.

Each has a module that sends requests and reads streamed answers, and a `*_wire` that translates
messages.
"""
