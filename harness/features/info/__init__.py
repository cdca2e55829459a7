"""Commands that show what there is: problems, models, prompts, plug-ins, schemas, sandboxes."""
