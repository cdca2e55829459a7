"""Prompt sets: Jinja2 templates, their check, and the sandbox that renders them."""
