"""Language models behind one protocol: providers, recordings and Python functions."""
