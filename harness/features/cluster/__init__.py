"""`--executor ray`: judging on the nodes of a Ray cluster.

ray_executor: the executor in the driver. ray_node: the actor on each node.
slots: which node takes the next piece of work. serialization: work and outcomes as bytes.
"""
