"""`harness view`: show runs as local web pages.

- `server`: the command, the web server and its access control
- `pages`, `html`: handlers of URLs, and rendering; `comparison_pages`: pages of two runs
- `library`, `open_run`, `result_index`, `query`: runs, their samples and filters
- `transcript_index`, `blocks`: transcripts and what is shown of them; its parts are in
  `excerpts`, `program_changes`, `failed_tests`
- `efficiency_axis`: the plot of a solution's time
"""
