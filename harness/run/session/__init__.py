"""Grading of many solutions in one call: sandboxes, progress, interrupts.

- `judging_session`: how solutions are judged; `isolation`: in which sandbox
- `judging`: judge many solutions, until an interrupt
- `sync`: asynchronous work called from any context
- `warm_pool`: workers that stay open
"""
