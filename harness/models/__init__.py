"""Language models behind one protocol: providers, recordings and plain functions."""
