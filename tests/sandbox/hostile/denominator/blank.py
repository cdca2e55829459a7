print(" \n\t\n\f", end="\r\n")
