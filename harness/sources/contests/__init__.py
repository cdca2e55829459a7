"""Contest problems: packages, Codeforces rows, and checkers made of judge programs."""
