"""Episodes for training: the agent loop with the model outside, and a reward from hidden tests."""
