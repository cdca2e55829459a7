"""The settings of a run.

- `*_settings`: their declarations, in groups; `setting`: what a declaration says
- `reward_functions`: settings of reward functions
- `spec`: all settings of a run, from flags, YAML and stored runs
- `yaml_file`, `unknown_keys`: YAML files; unknown keys and the one that was meant
- `keys`: the settings for type checkers
- `python_arguments`, `python_signature`, `python_messages`: arguments, signatures and errors of the
  Python functions
"""
