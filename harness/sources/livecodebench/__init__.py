"""LiveCodeBench: code generation, code execution and test output prediction."""
