"""TODO livecodebench."""
