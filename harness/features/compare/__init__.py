"""`harness compare` and `harness.compare()`: runs against a baseline.

command, library: the command and the public function. comparison: the result and how it is made.
differences: what makes two runs differ beside model, mode and prompt set.
flips: problems one run did better on. groups: by difficulty, platform, tag and month.
efficiency: speed of solutions. spend, spend_curve, arms, spend_types: comparison at equal spend.
answer, sentences, spend_sentence, table_rows: the texts of a comparison.
screen, view, markdown_table: terminal and Markdown. library: `compare()` and data frames.
"""
