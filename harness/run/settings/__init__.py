"""The settings of a run.

The `*_settings` modules declare them in groups; `spec` reads them from flags, YAML and stored
runs; `keys` lists them for type checkers.
"""
