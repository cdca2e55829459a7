"""Tests that are code: `rounds` runs them, `code_judge` makes their results.

A solution and the tests never share a process. The tests run in one sandbox and the solution in
another; the calls that the tests make, and their results, are exchanged as data. So a solution sees
the arguments of the calls, and neither the tests nor an expected value. Its results are compared by
the tests' own code, which the solution cannot reach.
"""
