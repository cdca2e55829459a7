"""`harness report`: one HTML page that loads nothing from other addresses.

- `page`: the command and the HTML document
- `sections`: most of its sections
- `first_screen`, `variants_section`, `pairs_sections`, `summary_section`, `efficiency_section`,
  `notable_problems`: further parts
- `changed_outcomes`: problems on which one of two runs did better, with conversations
- `figures`: data of charts and tables, and what a section is made of
- `charts`, `answer_charts`: Altair charts
- `labelled_runs`: the runs under their labels, and the pairs compared
"""
