"""What the model may call, and the workspace it works in."""
