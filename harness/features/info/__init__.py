"""Commands that show problems, models, prompts, plug-ins, schemas and sandboxes."""
