"""Turning what programs wrote into verdicts."""
