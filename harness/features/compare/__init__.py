"""`harness compare` and `harness.compare()`: runs against a baseline.

command, library: the command and the public function. comparison: the result and how it is made.
differences: what makes two runs differ beside model, mode and prompt set.
flips: problems one run did better on. groups: results by kind of problem. efficiency: speed.
spend, spend_result, arms: comparison at equal spend.
answer: the first screen. spend_sentence, spend_table, table_rows: further texts.
view: all details, on a terminal and as Markdown.
"""
