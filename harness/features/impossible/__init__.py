"""`impossible`: public tests changed so that no right solution passes them.

choice: which problems get one, by the seed; fitness: which problems cannot have one, and why,
and the proof by the problem's rule and references. mutations: changes of an expected output.
changed_tests, impossible_tests: the changes of a run; problem_reports: what the model says of them.
impossible_result, impossible_rates, impossible_findings: of a sample, a run, and two runs.
"""
