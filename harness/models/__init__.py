"""Language models behind one protocol: providers, recordings and Python functions.

Start reading with `protocol`; `model_names` opens the model of a name on the command line.
"""
