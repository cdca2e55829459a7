"""`harness serve`: judge solutions over HTTP.

- `command`, `server`: start, stop and connections
- `app`: the paths; `admission`, `refusal`: who may ask, how much, and error answers
- `run_code`: `/run_code`
- `grade_request`, `grading_service`, `problem_cache`: `/grade`
- `requests`: parsing of bodies; `work`: work on the executor; `metrics`: `/metrics`
"""
