"""Keeps what the real model answered, and puts it back to be resumed or checked.

    python tests/real_model/answers.py save real-runs       # OUT/PIECE -> answers/PIECE.tar.xz
    python tests/real_model/answers.py restore real-runs    # and back, where OUT has no such piece

A piece is kept as its run directories are: transcripts, results and settings. After `restore`,
`measure.py PIECE --out OUT` asks only what is pending, `harness grade` judges the answers again,
and `harness run -m replay:OUT/PIECE/RUN` plays them without the model.
"""

import argparse
import io
import tarfile
from pathlib import Path

from measure import RECORD

ANSWERS = Path(__file__).parent / "answers"
BUNDLED = ("protocols", "demo")
"""Pieces that are kept: those on bundled problems. Transcripts hold the problems' text, and that of
published problems is not ours to keep."""
LEFT_OUT = (".lock", ".html")


def save(out: Path, name: str, answers: Path) -> None:
    """Write a piece's archive: the same bytes for the same files."""
    piece = out / name
    files = sorted(path for path in piece.rglob("*") if path.is_file())
    answers.mkdir(exist_ok=True)
    archive = answers / f"{name}.tar.xz"
    with tarfile.open(archive, "w:xz", preset=9) as members:
        for path in files:
            if path.suffix in LEFT_OUT:
                continue
            content = path.read_bytes()
            member = tarfile.TarInfo(str(path.relative_to(out)))
            member.size = len(content)
            members.addfile(member, io.BytesIO(content))
    print(f"{archive.name}: {archive.stat().st_size:,} bytes")


def restore(out: Path, name: str, answers: Path) -> None:
    """Unpack a piece's archive, unless the piece is there."""
    if (out / name / RECORD).exists():
        print(f"{name}: is there already")
        return
    with tarfile.open(answers / f"{name}.tar.xz") as members:
        members.extractall(out, filter="data")
    print(f"{name}: restored")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("action", choices=["save", "restore"])
    parser.add_argument("out", type=Path, help="folder of the pieces, as for measure.py")
    parser.add_argument("--answers", type=Path, default=ANSWERS, help="folder of the archives")
    given = parser.parse_args()
    for name in BUNDLED:
        if given.action == "save" and (given.out / name / RECORD).exists():
            save(given.out, name, given.answers)
        if given.action == "restore" and (given.answers / f"{name}.tar.xz").exists():
            restore(given.out, name, given.answers)


if __name__ == "__main__":
    main()
