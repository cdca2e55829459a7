"""The engine: starts, resumes and finishes runs.

Start reading with `controller`, then `engine` and `sample`.
"""
