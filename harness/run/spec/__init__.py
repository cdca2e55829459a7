"""The settings of a run.

`*_settings` declare them, a group each; `spec` reads them from flags, YAML and stored runs; `keys`
is their list for type checkers.
"""
