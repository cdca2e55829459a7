"""Tools for models without tool calls: described in the prompt, called in the text.

- `instructions`: description of the tools in the prompt.
- `json_calls`: calls as JSON.
- `reader`: calls in a text.
- `tag_calls`: calls between tags.
- `tool_protocol`: choice between native tools and text.
"""
