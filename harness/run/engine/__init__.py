"""The engine: starts, resumes and finishes runs."""
