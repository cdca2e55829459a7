"""`executor: ray`: judging on the nodes of a Ray cluster.

- `ray_executor`: the executor in the driver
- `ray_node`: the actor on each node
- `machine_slots`: which machine judges next
- `packed_work`: work as bytes
- `outcomes`: what became of it, as bytes
"""
