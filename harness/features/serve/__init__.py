"""`harness serve`: judge solutions over HTTP.

- `command`, `server`: start, stop and connections
- `app`: the paths; `requests`: who may ask, how much, and error answers
- `run_code`, `run_request`, `compiled_run`, `single_run`: `/run_code`
- `grade_request`, `problem_cache`, `grading_service`: `/grade`
- `work`: work on the executor, and `/metrics`
"""
