"""Terminal output: progress and tables.

- `consoles`: where commands print
- `run_screen`: what a run ends with; `summary_screen`, `pending_lines`: its parts
- `summary_table`, `curve_view`, `groups_view`, `efficiency_table`: the details
- `sample_table`, `gate`: samples; whether a gate was met
- `columns`, `rich_tables`, `terminal_text`: what tables are made of
- `progress`, `run_progress`, `notebook`: progress; `live`: the live table
"""
