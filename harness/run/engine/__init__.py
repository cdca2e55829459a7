"""The engine: runs begin, go on and end here.

Begin with `controller`, then `engine` and `sample`.
"""
