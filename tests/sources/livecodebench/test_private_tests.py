import base64
import io
import json
import pickle
import sys
import tracemalloc
import zlib
from contextlib import suppress
from pathlib import Path

import pytest
from for_each import for_each
from hypothesis import given
from hypothesis import strategies as st

from harness.sources.livecodebench.livecodebench import decode_hidden_tests, inflate, pickled_string


def encode(payload: bytes) -> str:
    return base64.b64encode(zlib.compress(payload)).decode()


@pytest.mark.parametrize("protocol", range(1, pickle.HIGHEST_PROTOCOL + 1))
@given(text=st.text())
def test_a_pickled_string_comes_back(protocol: int, text: str) -> None:
    assert decode_hidden_tests(encode(pickle.dumps(text, protocol))).decode() == text


@for_each("size", [0, 255, 256, 2**16 - 1, 2**16, 2**20])
@for_each("protocol", range(1, pickle.HIGHEST_PROTOCOL + 1))
def test_any_length_comes_back_from_both_of_pythons_picklers(protocol: int, size: int) -> None:
    text = "é" * size
    stream = io.BytesIO()
    pickle._Pickler(stream, protocol).dump(text)  # the one written in Python
    for pickled in (pickle.dumps(text, protocol), stream.getvalue()):
        assert pickled_string(pickled).decode() == text


def test_plain_json_needs_no_decoding() -> None:
    assert json.loads(decode_hidden_tests('[{"input": "é"}]')) == [{"input": "é"}]
    assert decode_hidden_tests("  []") == b"  []"


class Runs:
    """Its pickle calls a function when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return (Path.touch, (self.path,))


@for_each("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_that_runs_code_is_refused_and_does_not_run(tmp_path: Path, protocol: int) -> None:
    mark = tmp_path / "ran"
    pickled = pickle.dumps(Runs(mark), protocol)
    with pytest.raises(ValueError, match="something else than one string"):
        decode_hidden_tests(encode(pickled))
    assert not mark.exists()
    pickle.loads(pickled)
    assert mark.exists()  # the attack itself works


SHORT = b"\x8c\x02[]"
HOSTILE = {
    "os.system by GLOBAL and REDUCE": b"cos\nsystem\n(S'true'\ntR.",
    "os.system by STACK_GLOBAL": b"\x80\x04\x8c\x02os\x8c\x06system\x93\x8c\x04true\x85R.",
    "os.system by INST": b"(S'true'\nios\nsystem\n.",
    "os.system by OBJ": b"(cos\nsystem\nS'true'\no.",
    "an extension code": b"\x82\x01.",
    "a string, then a call": SHORT + b"0cos\nsystem\n\x8c\x04true\x85R.",
    "a call, then a string": b"cos\nsystem\n\x8c\x04true\x85R0" + SHORT + b".",
    "a persistent id": b"P../../etc/passwd\n.",
    "a persistent id from the stack": SHORT + b"Q.",
    "state set on a string": SHORT + b"}b.",
    "an instance made by NEWOBJ": b"cbuiltins\nstr\n)\x81.",
    "a memo index that makes a table of 32 GB": SHORT + b"r\xff\xff\xff\x7f0" + SHORT + b".",
    "a byte array allocated before it is read": b"\x96" + (2**40).to_bytes(8, "little") + b".",
    "a string longer than the data": b"X\xff\xff\xff\xff[].",
    "a long string longer than the data": b"\x8d" + b"\xff" * 8 + b"[].",
    "tuples doubled through the memo": b"(t" + b"2\x86" * 500 + b".",
    "a key nested too deep to hash": b"}" + b")" + b"\x85" * 100_000 + b"Ns.",
    "an integer of a million digits": b"I" + b"9" * 1_000_000 + b"\n.",
    "memo marks without end": SHORT + b"\x94" * 1_000_000 + b".",
    "bytes": pickle.dumps(b"[]"),
    "a list": pickle.dumps(["[]"]),
    "an escaped string of protocol 0": pickle.dumps("[]", 0),
    "two strings": SHORT + SHORT + b".",
    "a string and something after its end": SHORT + b"..",
    "a string and no end": SHORT,
    "nothing": b"",
    "an end and no string": b"\x80\x04.",
}


@pytest.mark.parametrize("pickled", HOSTILE.values(), ids=HOSTILE)
def test_a_pickle_of_anything_else_is_refused_at_no_cost(pickled: bytes) -> None:
    encoded = encode(pickled)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="the pickle holds something else"):
            decode_hidden_tests(encoded)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 10 * len(pickled) + 300_000


@given(st.binary(max_size=60))
def test_any_bytes_of_private_tests_are_read_or_refused(pickled: bytes) -> None:
    with suppress(ValueError):  # and nothing else
        assert pickled_string(pickled) in pickled


def test_no_module_that_a_pickle_names_is_imported() -> None:
    assert "antigravity" not in sys.modules
    with pytest.raises(ValueError, match="something else"):
        decode_hidden_tests(encode(b"cantigravity\nfly\n."))
    assert "antigravity" not in sys.modules


def test_a_zip_bomb_is_refused_before_it_is_held() -> None:
    bomb = zlib.compress(bytes(64 * 2**20), 9)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="more than 1000000 bytes when decompressed"):
            inflate(bomb, 1_000_000)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 4_000_000


def test_data_of_just_the_limit_is_taken() -> None:
    assert inflate(zlib.compress(bytes(1000)), 1000) == bytes(1000)
    with pytest.raises(ValueError, match="more than 999 bytes"):
        inflate(zlib.compress(bytes(1000)), 999)
    with pytest.raises(ValueError, match="more than 9 bytes"):
        decode_hidden_tests(encode(pickle.dumps("0123456789")), limit=9)


@for_each(
    ("encoded", "complaint"),
    [
        (encode(SHORT + b".") + "!", "neither a JSON list nor base64"),
        ("eJ!!", "neither a JSON list nor base64"),
        ("eJé=", "neither a JSON list nor base64"),
        ("e", "neither a JSON list nor base64"),
        (base64.b64encode(b"no zlib").decode(), "broken zlib data"),
        (base64.b64encode(zlib.compress(SHORT + b".")[:-3]).decode(), "the zlib data ends early"),
        (base64.b64encode(b"").decode(), "the zlib data ends early"),
    ],
    ids=["junk", "alphabet", "non-ASCII", "padding", "compression", "end", "empty"],
)
def test_broken_encodings_are_said(encoded: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        decode_hidden_tests(encoded)
