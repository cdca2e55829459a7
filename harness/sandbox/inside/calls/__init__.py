"""Calls from test code in one sandbox to a solution in another.

`exchange` writes values as JSON and reads them, `operations` names Python's operators, `session`
carries out calls in the solution's process. In the tests' process `remote` records the calls,
`stand_in` stands for an object of the solution and `standing` says what may be asked of it, `slots`
puts the tests into their script, `pytest_names` is a little of pytest, and `tests` runs it all.
"""
