"""Contest problems: packages, Codeforces rows, and checkers made of judge programs.

- `checker_programs`: judge programs as checkers.
- `codeforces`: Codeforces rows.
- `html_text`: text of HTML statements.
- `icpc`: ICPC and Kattis packages.
"""
