table = {}
while True:
    table[len(table)] = {len(table)}
