"""LiveCodeBench: code generation, code execution and test output prediction.

- `code_execution`: code execution rows.
- `fields`: columns of all kinds of rows.
- `livecodebench`: code generation rows and their hidden tests, and choice by columns.
- `test_output`: test output prediction rows.
"""
