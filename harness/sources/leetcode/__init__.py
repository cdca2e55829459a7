"""TODO leetcode."""
