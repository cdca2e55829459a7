"""`harness view`: show runs as local web pages.

- `command`, `server`: the command, the web server and its access control
- `pages`, `html`: handlers of URLs, and rendering; `comparison`: pages of two runs
- `library`, `addresses`, `open_run`, `result_index`, `query`: runs, their samples and filters
- `transcript_index`, `entries`, `blocks`, `event_texts`: transcripts and what is shown of them
- `highlight`, `side_by_side`, `test_report`, `efficiency_axis`: parts of blocks
"""
