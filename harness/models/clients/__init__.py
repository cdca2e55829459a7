"""Clients of providers: chat completions, OpenAI's Responses, Anthropic's Messages.

Each has a module that asks, a `*_wire` that translates, and a `*_stream` that reads a streamed
answer.
"""
