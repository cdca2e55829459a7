"""Prompt sets: Jinja2 templates, checks of them, and their sandbox."""
