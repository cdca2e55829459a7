"""`--executor ray`: judging on the nodes of a Ray cluster.

ray_executor: the executor in the driver. ray_node: the actor on each node, and work as bytes.
"""
