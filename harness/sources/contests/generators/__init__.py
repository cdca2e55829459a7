"""Generators of a package: which tests `generators/generators.yaml` asks for, by which programs.

- `generators_file`: tests that the file lists, in order, with their names
- `generator_command`: command of a test, its arguments and its seed
- `generator_programs`: sources of generators, solutions and input validators

`harness.features.generate` runs them.
"""
