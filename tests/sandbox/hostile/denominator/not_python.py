Here is the solution, which runs in O(n log n):
