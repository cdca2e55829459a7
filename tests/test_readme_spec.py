"""README's table of keys is that of the program."""

from spec_table import table, written


def test_every_key_stands_there_with_its_default_and_its_meaning() -> None:
    assert written() == table(), "run: python tests/loopback/spec_table.py"
