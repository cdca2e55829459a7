"""Tests that are code: `rounds` runs them beside a solution, `code_judge` makes results of it.

A solution and the tests never share a process. The tests run in one sandbox and the solution in
another; between them go the calls that the tests make and what came of each, as data. So a
solution sees the arguments of the calls, and neither the tests nor an expected value, and what it
returns is compared by the tests' own code where the solution cannot reach it.
"""
