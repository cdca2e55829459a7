"""Odd files of packages: each is an error in one line, or is passed over; none hangs the reader."""

import os
import socket
from collections.abc import Callable
from contextlib import chdir, closing
from pathlib import Path

import pytest
from contest_packages import Package, only
from for_each import for_each

from harness.errors import DataError, HarnessError, UsageError
from harness.kinds.packages.icpc import load
from harness.kinds.packages.reader import package_folder
from harness.sources.files import folder as folders

PLACES = (
    "problem.yaml",
    ".timelimit",
    "problem_statement/problem.en.tex",
    "data/testdata.yaml",
    "data/sample/1.in",
    "data/sample/1.ans",
    "data/sample/1.yaml",
    "data/sample/1.args",
    "data/secret/group/2.in",
    "data/secret/group/2.ans",
    "data/secret/group/test_group.yaml",
    "output_validators/check.py",
    "submissions/accepted/half.py",
)
FOLDERS = (
    "data",
    "data/sample",
    "data/secret",
    "data/secret/group",
    "output_validators",
    "submissions/accepted",
    "include/default",
    "problem_statement",
)


def listen(path: Path) -> None:
    """Leave a socket; its path is given in short, for there is a limit."""
    with closing(socket.socket(socket.AF_UNIX)) as server, chdir(path.parent):
        server.bind(path.name)


def fill(path: Path) -> None:
    """Leave a file of a tebibyte that takes no room."""
    path.touch()
    os.truncate(path, 1 << 40)


KINDS: dict[str, Callable[[Path], object]] = {
    "a pipe": os.mkfifo,
    "a socket": listen,
    "a link to itself": lambda path: path.symlink_to(path.name),
    "a link to nothing": lambda path: path.symlink_to("nothing"),
    "a link to a device": lambda path: path.symlink_to("/dev/zero"),
    "a link out": lambda path: path.symlink_to("/etc/passwd"),
    "a folder with a file": lambda path: [path.mkdir(), (path / "x.py").write_text("1 +")],
    "no UTF-8": lambda path: path.write_bytes(b"\xff\xfe 1\n"),
    "a huge file": fill,
}


@pytest.fixture
def custom(package: Package) -> Path:
    """A package with a validator."""
    files = {"output_validators/check.py": "import sys; sys.exit(42)"}
    return package("validation: custom\n", files)


@pytest.mark.parametrize(
    ("kind", "place"),
    [
        (kind, place)
        for kind in KINDS
        for place in PLACES
        # A huge one is read up to a limit, which takes a while; in groups as among samples.
        if kind != "a huge file" or not place.startswith("data/secret/group/2.")
    ],
)
def test_an_odd_file_is_an_error_in_one_line(custom: Path, place: str, kind: str) -> None:
    path = custom / place
    path.unlink(missing_ok=True)
    KINDS[kind](path)
    if (place, kind) == ("submissions/accepted/half.py", "a folder with a file"):
        assert only(custom).load_references()[-1].language == "python2"  # it is not Python 3
        return
    with pytest.raises(HarnessError) as caught:
        load(str(custom))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("place", FOLDERS)
@pytest.mark.parametrize("target", [".", "..", "../..", "/etc", "/proc/self", "nothing"])
@pytest.mark.parametrize("below", ["", "link"])
def test_no_link_of_folders_is_endless(custom: Path, place: str, target: str, below: str) -> None:
    path = custom / place / below
    if path.is_dir():
        path.rename(custom / "moved")
    path.parent.mkdir(exist_ok=True, parents=True)
    path.symlink_to(target)
    loaded = load(str(custom), skip_bad_rows=True)
    assert len(loaded.problems) + len(loaded.skipped) == 1
    assert "\n" not in "".join(map(str, loaded.skipped))


def test_a_link_inside_of_the_package_is_followed(custom: Path) -> None:
    (custom / "data/secret/0-sample").symlink_to("../sample")
    assert len(only(custom).tests.load_hidden()) == 2


def test_folders_inside_each_other_have_an_end(custom: Path) -> None:
    deep = custom / "data/secret" / "/".join("a" * 40)
    deep.mkdir(parents=True)
    with pytest.raises(DataError, match="more than 16 deep"):
        load(str(custom))


@pytest.mark.parametrize("place", ["data/secret", "submissions/accepted", "output_validators"])
def test_a_name_that_is_not_utf_8_is_named(custom: Path, place: str) -> None:
    Path(os.fsdecode(os.fsencode(custom / place) + b"/\xff.in")).touch()
    (error,) = load(str(custom), skip_bad_rows=True).skipped
    assert str(error).endswith(r"\xff.in: its name is not UTF-8")
    assert str(error).encode()


def test_a_package_name_that_is_not_utf_8_is_refused(package: Package) -> None:
    folder = package()
    odd = Path(os.fsdecode(os.fsencode(folder) + b"\xff"))
    folder.rename(odd)
    (error,) = load(str(odd), skip_bad_rows=True).skipped
    assert "its name is not UTF-8" in str(error)
    assert str(error).encode()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
@pytest.mark.parametrize("place", ["problem.yaml", "output_validators/check.py", *FOLDERS[:6]])
def test_what_may_not_be_read_is_no_missing_test(custom: Path, place: str) -> None:
    path = custom / place
    path.chmod(0)
    try:
        with pytest.raises(DataError, match="cannot be"):
            load(str(custom))
    finally:
        path.chmod(0o755)


def test_a_package_has_a_largest_size(custom: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package_folder, "MOST_PACKAGE_BYTES", 100)
    (custom / "data/secret/group/2.in").write_text("1" * 100)
    with pytest.raises(DataError, match="its files have more than 100 bytes"):
        load(str(custom))


def test_the_number_of_files_of_a_package_is_bounded(
    custom: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folders, "MOST_ENTRIES", 10)
    with pytest.raises(DataError, match="more than 10 files"):
        load(str(custom))


@for_each("where", ["nothing", "\0", "~nobody-of-this-name", "a" * 5_000, "pipe"])
def test_a_place_that_is_no_folder_is_named(where: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(UsageError) as caught:
        load(where if where.startswith("~") else str(tmp_path / where))
    assert "\n" not in str(caught.value)
