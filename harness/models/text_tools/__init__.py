"""Tools for models without tool calls: described in the prompt, called in the text."""
