"""Language models behind one protocol: providers, recordings and Python functions.

`protocol` defines what a model has to do; `model_names` finds one by its name.
"""
