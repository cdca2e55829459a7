first, second = ValueError(1), KeyError(2)
first.__cause__, second.__cause__ = second, first
first.__context__ = first
raise first
