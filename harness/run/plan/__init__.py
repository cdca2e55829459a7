"""From a spec to a plan: model, price, budget, problems, tools.

Start reading with `plan.prepare`. With `modes`, features add modes and transports.
"""
