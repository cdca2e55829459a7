"""`harness report`: one HTML page that loads nothing from other addresses.

- `command`, `page`: the command and the HTML document
- `page_model`, `sections`: the model of the page, and most of its sections
- `first_screen`, `overview_sections`, `notable_problems`, `efficiency_section`: further parts
- `figures`, `efficiency_figures`: data of charts and tables
- `charts`, `answer_charts`: Altair charts
- `labelled_runs`: the runs under their labels, and the pairs compared
"""
