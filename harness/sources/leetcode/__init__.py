"""LeetCode problems: greengerong's rows and LeetCodeDataset."""
