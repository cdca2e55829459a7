"""How fast right solutions are: measured beside known ones, in turns."""
