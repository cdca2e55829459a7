import numpy

kept = numpy.ones((1 << 14, 1 << 16))
print(int(input()) * 2)
