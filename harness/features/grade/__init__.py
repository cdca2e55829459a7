"""`harness grade`, `harness.grade()`, `Grader` and `Sandbox`: solutions that exist already."""
