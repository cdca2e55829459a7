"""Contest problems: packages, rows of Codeforces, dialogues, passes, graders and points."""
