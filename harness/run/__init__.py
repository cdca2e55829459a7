"""Runs: settings, plan, engine, storage and summary."""
