"""`harness tune`: search for a better prompt set, and measure its gain on problems kept aside.

- `command`: the commands; `tuning`: one call of it, from the split to the test part
- `split`: problems of the train, selection and test part
- `candidate_set`: candidates as prompt folders, and the check of a proposed template
- `candidate_runs`: runs of candidates on problems, on one budget
- `reflection`, `reflection_prompt`: requests for new templates, and what these show
- `gepa_search`: GEPA's search
- `tune_file`: what `tune.json` and `candidates.json` hold
- `outcome`: what a tuning came to, read from its directory
- `view`: the outcome on a terminal and as an HTML page
"""
