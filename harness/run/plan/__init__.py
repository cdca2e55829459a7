"""From a spec to a plan: model, price, budget, problems, tools."""
