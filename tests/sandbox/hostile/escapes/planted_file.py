import io
import mmap
import os

path = input()


def opened():
    return open(path).read()


def descriptor():
    return os.read(os.open(path, os.O_RDONLY), 100)


def file_io():
    return io.FileIO(path).read()


def mapped():
    return mmap.mmap(os.open(path, os.O_RDWR), 0)[:]


def relative():
    return open("../" * 20 + path.lstrip("/")).read()


def by_folder():
    folder = os.open(os.path.dirname(path), os.O_PATH)
    return os.read(os.open(os.path.basename(path), os.O_RDONLY, dir_fd=folder), 100)


def by_changing_to_it():
    os.chdir(os.path.dirname(path))
    return open(os.path.basename(path)).read()


def by_handle_of_path_only():
    return open(f"/proc/self/fd/{os.open(path, os.O_PATH)}").read()


def as_source():
    return os.stat(path).st_size and compile(open(path).read(), path, "exec")


for way in (opened, descriptor, file_io, mapped, relative, by_folder, by_changing_to_it,
            by_handle_of_path_only, as_source):  # fmt: skip
    try:
        print("ESCAPED:", way.__name__, way())
    except (OSError, SyntaxError):
        pass
print("denied")
