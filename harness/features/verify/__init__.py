"""`harness verify`: judge a benchmark's references, also on generated inputs.

- `command`, `library`, `verification`: references judged on the benchmark's tests
- `generated`: references compared on generated inputs
- `generated_inputs`, `cross_check`: make the inputs, and compare on them
"""
