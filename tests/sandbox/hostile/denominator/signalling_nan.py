print("sNaN")
