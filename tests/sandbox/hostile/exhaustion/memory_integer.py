number = 3
while True:
    number <<= number.bit_length()
