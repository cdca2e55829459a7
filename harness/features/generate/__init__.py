"""`harness fetch icpc:FOLDER --generate`: make the tests of packages by their generators.

- `library`: packages of a folder, one after another
- `generation`: tests of one package: input, check, answer
- `program_runs`: run a package's programs in the sandbox
- `program_endings`: how they end
- `input_checks`: inputs by the package's input validators
- `view`: print what became of each package
- `staged_tests`: write the tests of a package, all or none
"""
