"""Viewer pages of two runs side by side, and of experiments."""
