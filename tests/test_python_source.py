import ast
import gc
import keyword
import os
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from concurrent import futures
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from for_each import for_each

from harness import python_source
from harness.python_source import UNREADABLE, parse, parse_or_none, read_literal

DEEP = "x = " + "+".join(f"f({n})" for n in range(60)) + "\n"
ESCAPES = r"pattern = '\d \. \w'"


@contextmanager
def _at_each_collection(work: Callable[[], object]) -> Iterator[None]:
    """Let the garbage collector call a function, and run it often, also in a parse."""

    def called(phase: str, _info: dict[str, int]) -> None:
        if phase == "start":
            work()

    thresholds = gc.get_threshold()
    gc.callbacks.append(called)
    gc.set_threshold(100)
    try:
        yield
    finally:
        gc.set_threshold(*thresholds)
        gc.callbacks.remove(called)


def _one_in_the_middle_of_another(do: Callable[[str], object]) -> list[object]:
    """Parse in a second thread while the first is in the middle of a parse; return the trees."""
    first = threading.get_ident()
    with ThreadPoolExecutor(1) as pool:
        second: list[Future[object]] = []

        def interrupt() -> None:
            if threading.get_ident() == first and not second:
                second.append(pool.submit(do, DEEP))
                futures.wait(second, 0.2)

        with _at_each_collection(interrupt):
            trees = [do(DEEP * 20)]
        return [*trees, *(each.result() for each in second)]


@pytest.mark.skipif(sys.version_info >= (3, 11, 8), reason="later versions of Python have no fault")
def test_the_parser_of_this_python_has_the_fault() -> None:
    with pytest.raises(SystemError, match="recursion depth mismatch"):
        _one_in_the_middle_of_another(ast.parse)


def test_a_second_thread_does_not_break_a_parse() -> None:
    trees = _one_in_the_middle_of_another(parse)
    assert [len(each.body) for each in trees if isinstance(each, ast.Module)] == [20, 1]


def test_a_parse_without_the_lock_does_not_break_one_with_it() -> None:
    left = [1]

    def another() -> None:
        if left:
            left.pop()
            ast.parse(DEEP)

    with _at_each_collection(another):
        assert len(parse(DEEP * 20).body) == 20
    assert not left


@pytest.mark.thorough
def test_many_threads_parse_at_once() -> None:
    before = list(warnings.filters)
    start = threading.Barrier(8)

    def work(number: int) -> int:
        start.wait()
        return sum(len(parse(f"{DEEP}{ESCAPES}\n" * 5).body) for _ in range(10)) + number

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(work, range(8))) == [100 + n for n in range(8)]
    assert warnings.filters == before


@for_each("action", ["error", "always"])
def test_the_parsers_warnings_are_left_out(action: str) -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter(action)
        before = list(warnings.filters)
        assert parse_or_none(ESCAPES)
        assert warnings.filters == before
    assert not seen


def test_other_threads_keep_their_warnings() -> None:
    heard: list[str] = []

    def elsewhere() -> None:
        with pytest.warns(UserWarning, match="told"):
            warnings.warn("told", stacklevel=1)
        heard.append("told")

    def beside() -> None:
        if not heard:
            thread = threading.Thread(target=elsewhere)
            thread.start()
            thread.join()

    with _at_each_collection(beside):
        parse(DEEP * 20)
    assert heard


def test_filters_that_are_reset_meanwhile_stay_so() -> None:
    with warnings.catch_warnings():
        with _at_each_collection(warnings.resetwarnings):
            parse(DEEP * 20)
        assert warnings.filters == []


@pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
def test_a_forked_process_can_parse() -> None:
    held, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with python_source._lock:
            held.set()
            leave.wait()

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait()
    threading.Timer(0.1, leave.set).start()
    child = os.fork()
    if not child:
        os._exit(0 if parse_or_none(ESCAPES) else 1)
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


@for_each(
    "source",
    ["def f(", "x = '\0'", "x = " + "(" * 10_000, "x = " + "-" * 100_000 + "1", "'\ud800'"],
)
def test_what_is_no_python_raises_what_the_parser_raises(source: str) -> None:
    with pytest.raises(UNREADABLE) as ours:
        parse(source)
    with pytest.raises(UNREADABLE) as theirs:
        ast.parse(source)
    assert ours.type is theirs.type
    assert parse_or_none(source) is None


WORDS = [*keyword.kwlist, *keyword.softkwlist, "x", "_y", "größe"]


def test_two_words_at_the_beginning_are_refused_only_where_the_parser_refuses_them() -> None:
    ends = (
        "",
        ":",
        " = 1",
        ": 1",
        " z",
        "\n",
        ":\n    pass",
        " in x: pass",
        ": z",
        ":\n case 1: 1",
    )
    sources = (f"\n{one} {two}{end}" for one in WORDS for two in WORDS for end in ends)
    wrong: list[str] = []
    for source in sources:
        try:
            tree = parse(source)
        except SyntaxError:
            tree = None
        if (tree is None) != (parse_or_none(source) is None):
            wrong.append(source)
    assert not wrong


def test_a_literal_is_read_or_refused() -> None:
    assert read_literal(" [1, {'a': (2,)}, -3.5]") == [1, {"a": (2,)}, -3.5]
    with pytest.raises(ValueError, match="malformed"):
        read_literal("f(1)")
    with pytest.raises(TypeError):
        read_literal("{[]: 1}")
