"""`harness report`: one HTML page that loads nothing from other addresses.

- `command`, `page`: the command and the HTML document
- `page_model`, `sections`: the model of the page, and most of its sections
- `first_screen`, `changed_outcomes`, `summary_section`, `efficiency_section`,
  `experiment_section`: further parts of the page
- `figures`, `efficiency_figures`, `outliers`: data of charts and tables
- `charts`, `answer_charts`: Altair charts
- `run_labels`, `pairs`: the runs under their labels, and the pairs compared
"""
