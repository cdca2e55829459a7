raise [KeyboardInterrupt, GeneratorExit, BaseException][int(input()) % 3]
