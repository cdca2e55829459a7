print("\f\nn = \\\n\tint(input())\nif n:\n\tprint(n\\\n * 2)\n\f")
