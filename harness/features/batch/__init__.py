"""`--batch`: requests through the batch APIs of OpenAI and Anthropic."""
