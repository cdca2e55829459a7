"""Commands that show problems, models, prompts, plug-ins, schemas and sandboxes.

Each module is a command; `prompt_copies` holds `harness prompts copy` and `diff`.
"""
