text = input()
while True:
    text += text
