"""Code that runs inside the sandbox, loaded by path in a separate interpreter."""
