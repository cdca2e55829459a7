"""Calls from test code in one sandbox to a solution in another.

`exchange` writes values as JSON and reads them, `session` carries out calls in the solution's
process, `remote` stands for the solution in the tests' process, and `tests` runs a data set's test
code there.
"""
