"""`harness view`: show runs as local web pages.

- `server`: the command, the web server and its access control
- `pages`, `html`: handlers of URLs, and rendering; `comparison_pages`: pages of two runs
- `library`, `open_run`, `result_index`, `query`: runs, their samples and filters
- `transcript_index`, `blocks`, `highlight`: transcripts and what is shown of them
"""
