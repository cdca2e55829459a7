"""Features: one folder each, with its command, view and storage.

The core imports none of them; `harness.registry` names them. To remove one, delete its folder and
its lines there.
"""
