"""`--batch`: send requests through the batch APIs of OpenAI and Anthropic.

run: the batch transport, and the model that answers from batches. requests: submit, wait, repeat.
batch_journal: `batches.jsonl`. spool: received answers. batch_endpoint, openai_batches,
anthropic_batches: the APIs.
"""
