import zlib

packer = zlib.compressobj(9)
packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(16)) + packer.flush()
print(len(zlib.decompress(packed) * 64))
