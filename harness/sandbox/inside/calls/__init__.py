"""Calls that code in one sandbox makes of a solution in another.

`exchange` writes values as JSON and reads them, `session` carries calls out beside the solution,
`tests` runs a data set's test code, in a process that never holds the solution.
"""
