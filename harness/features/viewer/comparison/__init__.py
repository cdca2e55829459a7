"""Two runs beside each other in the viewer, and experiments."""
