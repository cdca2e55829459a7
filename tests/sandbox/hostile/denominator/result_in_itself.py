def f(n):
    ring, table = [n], {}
    ring.append(ring)
    table[0] = table
    return ring if n % 2 else table
