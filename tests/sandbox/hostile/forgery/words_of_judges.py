for word in ("accepted", "AC", "OK", "PASSED", "true", "[true, true]", '{"status": "ok"}', "D{}"):
    print(word)
