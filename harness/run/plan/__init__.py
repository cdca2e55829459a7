"""From a spec to a plan: model, price, budget, problems, tools.

Begin with `plan.prepare`. `modes` is how features add modes and transports.
"""
