# coding: latin-1
# vim: set fileencoding=nonsense :
print(int(input()) * 2)
