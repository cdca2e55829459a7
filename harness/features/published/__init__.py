"""Modes that are strategies of published papers: `codet`, `reflexion` and `map_coder`.

modes: what the program knows of each. solver: what they share.
"""
