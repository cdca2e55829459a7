"""Timing of correct solutions against the reference solutions of their problem.

Start reading with `measurement`. `paired_timing` and `mercury_protocol` are the two ways to time.
timed_run: what `--efficiency` does in a run; part_view: what a terminal shows of it; faster: two
runs compared.
"""
