"""`--executor ray`: judging on the nodes of a Ray cluster."""
