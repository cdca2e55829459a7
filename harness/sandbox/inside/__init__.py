"""What runs inside the sandbox: loaded by path in its own interpreter, never imported here."""
