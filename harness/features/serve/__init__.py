"""`harness serve`: judge solutions over HTTP.

- `command`, `server`, `connections`: start, stop and connections
- `app`: the paths; `access`, `admission`, `refusal`: who may ask, how much, and error answers
- `run_code`, `files_wrapper`: `/run_code`
- `grade_request`, `grade_answer`, `grading_service`, `problem_cache`: `/grade`
- `requests`: parsing of bodies; `work`: work on the executor; `metrics`: `/metrics`
"""
