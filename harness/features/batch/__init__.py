"""`--batch`: send requests through the batch APIs of OpenAI and Anthropic.

run: the batch transport, and what it cannot be combined with.
batched_model: the model that answers from batches. requests: submit, wait, read, repeat.
batch_journal: `batches.jsonl`. spool: received answers, on disk.
batch_endpoint, openai, anthropic: the providers' APIs.
"""
