import resource

resource.getrlimit(resource.RLIMIT_AS)
resource.getrusage(resource.RUSAGE_SELF)
print(int(input()) * 2)
