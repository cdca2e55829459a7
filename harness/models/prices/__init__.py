"""Prices of tokens: what a request costs, lists of prices, and the price of a model."""
