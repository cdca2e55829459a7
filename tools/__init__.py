"""Tools that the model may call, and the workspace they use."""
