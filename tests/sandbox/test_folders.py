"""Both sides of tests with files: what is packed is read, and a head that is cut is refused."""

import sys
import tempfile
from pathlib import Path

import pytest

import harness
from harness.sandbox.test_folder import TestFolder

sys.path.insert(0, str(Path(harness.__file__).parent / "sandbox"))

from inside.folder import read_head


def test_a_head_may_be_all_of_an_input() -> None:
    packed = TestFolder(["program", "-x"]).packed()
    with tempfile.TemporaryFile() as file:
        file.write(b"before" + packed)
        file.flush()
        head, stdin = read_head(file.fileno(), len(b"before"), len(packed))
    assert head == {"arguments": ["program", "-x"], "files": [], "kept": "", "stdin": 0}
    assert stdin == len(b"before" + packed)


def test_a_head_that_is_longer_than_its_input_is_refused() -> None:
    packed = TestFolder(["program"]).packed()
    with tempfile.TemporaryFile() as file:
        file.write(packed * 2)
        file.flush()
        with pytest.raises(ValueError, match="longer than its input"):
            read_head(file.fileno(), 0, len(packed) - 1)
