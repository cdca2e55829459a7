"""Judge existing solutions: `harness grade`, `grade()`, `Grader` and `Sandbox`."""
