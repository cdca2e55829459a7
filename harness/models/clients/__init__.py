"""Clients of chat completions, OpenAI's Responses and Anthropic's Messages.

Each has a module that sends requests, a `*_wire` that translates messages, and a `*_stream` that
reads a streamed answer.
"""
