import io
import sys

sys.stdout = io.StringIO()
print("noise")
print(int(input()) * 2, file=sys.__stdout__)
