"""Language models behind one protocol: providers, recordings and Python functions.

Start reading with `protocol`; then `route`, which decides where requests for a model's
name go, and `opening`, which opens the model.
"""
