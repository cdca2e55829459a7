"""How fast right solutions are, measured beside reference solutions."""
