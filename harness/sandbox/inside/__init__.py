"""What runs inside the sandbox: loaded by path in its own interpreter; little of it here, too."""
