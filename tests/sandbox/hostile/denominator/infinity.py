print(["inf", "-Infinity", "+INF", "1e309"][int(input()) % 4])
