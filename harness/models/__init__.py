"""Language models behind one protocol: providers, recordings, functions.

`protocol` is what a model has to do; `model_names` finds one by its name.
"""
