"""Adapters for training: `trl`, `verifiers`, `skyrl`, and a `reward_function`."""
