"""Statistics: rates with intervals, paired tests, pass@k, curves.

- `bootstrap`: bootstrap interval of a mean.
- `curves`: cumulative solve rates over spend.
- `paired`: comparison of two runs, detectable difference, Holm's correction.
- `paired_score`: score test and interval of a paired difference.
- `pass_at_k`: pass@k and pass^k.
- `rates`: rates with Wilson's interval.
- `sequential`: paired difference that may be tested after every problem.
- `shots`: expected result of j of n independent shots.
- `spend_curves`: solve rate over spend, and crossings of two curves.
"""
