"""What runs inside the sandbox: loaded by path, in its own interpreter; `records` here as well."""
