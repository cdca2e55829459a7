"""Model of a contest package in the ICPC or Kattis format, of any language.

`package_folder` reads its files, `package_settings` is problem.yaml, `test_data` the tree of tests,
`package_programs` validators and submissions, `submission_rules` what is expected of submissions,
`included_files` what is compiled with them, `sample_dialogues` what the statement of an interactive
problem shows, `constants` the values put into its texts. What of a package can be judged here is
decided in `harness.kinds.packages.icpc`.

Source: the format's specifications `legacy`, `legacy-icpc` and `2025-09` (draft: `2023-07`).
"""
