"""Tools for models without tool calls: told in the prompt, read from the text."""
