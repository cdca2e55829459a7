"""Contest problems: packages and Codeforces rows, and judges that are programs."""
