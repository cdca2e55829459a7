"""Differences between two runs, in words.

- `settings`: settings that differ
- `conditions`: prompt, tools, endpoint, versions, plug-ins, external agents
- `judging`: problems and how they were judged
"""
