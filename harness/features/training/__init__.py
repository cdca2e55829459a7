"""Adapters for training stacks: `trl`, `verifiers`, `skyrl`, and a `reward_function` for others."""
