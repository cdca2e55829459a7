"""`--impossible`: public tests changed so that no right solution passes them.

choice: which problems get one, by the seed; fitness: which problems cannot have one, and why.
mutations: changes of an expected output; proof: the problem's rule and references refuse them.
"""
