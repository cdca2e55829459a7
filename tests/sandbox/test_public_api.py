"""The sandbox as a part that others use: a pool, programs, what they did and what they returned."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from for_each import for_each

import harness.sandbox
from harness.problem import Codec, Signature
from harness.sandbox import (
    Ending,
    Execution,
    Isolation,
    IsolationError,
    Level,
    Limits,
    Program,
    SandboxError,
    SandboxPool,
)
from harness.sandbox.execution import Opaque, WorkerStoppedError

LIMITS = Limits(cpu_s=2, memory_bytes=256 << 20, output_bytes=1 << 20, own_wall_s=20)


of_one_loop = pytest.mark.asyncio(loop_scope="module")
"""Tests that share a pool, which belongs to one event loop."""


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def pool() -> AsyncIterator[SandboxPool]:
    async with SandboxPool(LIMITS, workers=1) as pool:
        yield pool


@pytest_asyncio.fixture(loop_scope="module")
async def impatient() -> AsyncIterator[SandboxPool]:
    """A pool whose programs may take a moment."""
    async with SandboxPool(Limits(cpu_s=0.2), workers=1) as pool:
        yield pool


def test_what_it_offers_is_there() -> None:
    for name in harness.sandbox.__all__:
        assert hasattr(harness.sandbox, name)
    assert harness.sandbox.__all__ == sorted(harness.sandbox.__all__)
    assert harness.sandbox.__doc__ is not None
    assert issubclass(SandboxError, Exception)
    assert issubclass(IsolationError, Exception)


async def test_the_example_in_its_docstring() -> None:
    async with SandboxPool(Limits(cpu_s=2)) as pool:
        execution = await pool.run("print(input()[::-1])", stdin="abc")
        assert (execution.ending, execution.stdout) == (Ending.FINISHED, b"cba\n")
        program = Program("def f(a, b): return a + b", entry_point="f")
        execution = await pool.run(program, arguments=[1, 2])
        assert execution.value == 3


@of_one_loop
class TestPrograms:
    @for_each(
        ("given", "read"),
        [
            ("abc", "'abc'"),
            (b"abc", "'abc'"),
            ("", "''"),
            ("é\n", r"'\xe9\n'"),
            (b"\xff", "'\\udcff'"),
        ],
    )
    async def test_a_program_reads_its_stdin(
        self, given: str | bytes, read: str, pool: SandboxPool
    ) -> None:
        execution = await pool.run("import sys\nprint(ascii(sys.stdin.read()))", stdin=given)
        assert execution.stdout.decode().strip() == read

    async def test_an_execution_has_what_was_written(self, pool: SandboxPool) -> None:
        code = "import sys\nprint('out')\nprint('err', file=sys.stderr)"
        execution = await pool.run(code)
        assert (execution.stdout, execution.stderr) == (b"out\n", "err\n")
        assert (execution.code, execution.error, execution.result) == (0, "", None)
        assert execution.alone

    async def test_an_execution_has_time_and_memory(self, pool: SandboxPool) -> None:
        code = (
            "import time\nx = bytearray(60 << 20)\nwhile time.process_time() < 0.1: pass\n"
            "time.sleep(0.2)"
        )
        execution = await pool.run(code)
        assert 0 < execution.cpu_s < 2
        assert execution.wall_s > 0.2
        assert execution.wall_s > execution.cpu_s
        assert 60 << 20 < execution.peak_bytes < 200 << 20

    @for_each(
        ("code", "ending", "number"),
        [
            ("", Ending.FINISHED, 0),
            ("exit()", Ending.FINISHED, 0),
            ("exit(7)", Ending.EXIT, 7),
            ("1 / 0", Ending.ERROR, 0),
            ("import os\nos._exit(9)", Ending.EXIT, 9),
            ("import os\nos.abort()", Ending.SIGNAL, 6),
            ("print(", Ending.CANNOT_COMPILE, 0),
            ("x = bytearray(400 << 20)", Ending.MEMORY_LIMIT, 0),
            ("print('x' * (3 << 20))", Ending.OUTPUT_LIMIT, 0),
        ],
    )
    async def test_an_execution_has_ending_and_code(
        self, code: str, ending: Ending, number: int, pool: SandboxPool
    ) -> None:
        execution = await pool.run(code)
        assert (execution.ending, execution.code) == (ending, number)
        error_expected = ending in {Ending.ERROR, Ending.CANNOT_COMPILE} or "os._exit" in code
        assert bool(execution.error) == error_expected

    async def test_limits_are_the_pool_s(self) -> None:
        short = Limits(cpu_s=0.2, own_wall_s=0.4, memory_bytes=128 << 20)
        async with SandboxPool(short, workers=2) as pool:
            spins, sleeps = await asyncio.gather(
                pool.run("while True: pass"), pool.run("import time\ntime.sleep(100)")
            )
        assert spins.ending in {Ending.CPU_LIMIT, Ending.WALL_LIMIT}
        assert sleeps.ending is Ending.WALL_LIMIT

    async def test_a_preamble_comes_first(self, pool: SandboxPool) -> None:
        program = Program("print(floor(base), base)", preamble="from math import floor\nbase = 2.5")
        assert (await pool.run(program)).stdout == b"2 2.5\n"

    async def test_each_runs_by_itself(self, pool: SandboxPool) -> None:
        await pool.run("import math, os\nmath.seen = 1\nopen('left', 'w').close()")
        execution = await pool.run("import math, os\nprint(hasattr(math, 'seen'), os.listdir())")
        assert execution.stdout == b"False []\n"

    async def test_many_at_a_time_each_with_its_own(self) -> None:
        async with SandboxPool(LIMITS, workers=3) as pool:
            code = "print(int(input()) ** 2)"
            done = await asyncio.gather(*(pool.run(code, str(n)) for n in range(20)))
        assert [int(execution.stdout) for execution in done] == [n * n for n in range(20)]


@of_one_loop
class TestFunctions:
    async def test_a_function_or_a_method_is_called(self, pool: SandboxPool) -> None:
        for code in (
            "def add(a, b): return a + b",
            "class Solution:\n    def add(self, a, b): return a + b",
            "add = lambda a, b: a + b",
        ):
            execution = await pool.run(Program(code, entry_point="add"), arguments=[1, 2])
            assert execution.value == 3

    @for_each(
        "arguments",
        [[], [1], [[1, 2], {"a": None}], ["\u2028\n", "é", "\ud800"], [[]], [1e300, -0.5, True]],
    )
    async def test_arguments_come_as_they_are(
        self, arguments: list[Any], pool: SandboxPool
    ) -> None:
        program = Program("def f(*given): return list(given)", entry_point="f")
        assert (await pool.run(program, arguments=arguments)).value == arguments

    async def test_arguments_may_be_nodes(self, pool: SandboxPool) -> None:
        code = """
class ListNode:
    def __init__(self, val=0, next=None): self.val, self.next = val, next
def f(node):
    total = 0
    while node: total, node = total + node.val, node.next
    return total
"""
        signature = Signature(arguments=(Codec.LINKED_LIST,))
        program = Program(code, entry_point="f", signature=signature)
        assert (await pool.run(program, arguments=[[1, 2, 3]])).value == 6

    async def test_what_cannot_be_an_argument_is_the_caller_s_error(
        self, pool: SandboxPool
    ) -> None:
        program = Program("def f(x): return x", entry_point="f")
        with pytest.raises(TypeError):
            await pool.run(program, arguments=[object()])
        assert (await pool.run(program, arguments=[1])).value == 1

    @for_each(
        "code",
        [
            "def g(): ...",
            "def f(): 1 / 0",
            "def f(): exit()",
            "import os\ndef f(): os._exit(0)",
            "def f(",
            "def f():\n    while True: pass",
        ],
    )
    async def test_without_a_result_there_is_no_value(
        self, code: str, impatient: SandboxPool
    ) -> None:
        execution = await impatient.run(Program(code, entry_point="f"), arguments=[])
        with pytest.raises(ValueError, match="no result"):
            _ = execution.value

    async def test_a_script_has_no_value(self, pool: SandboxPool) -> None:
        execution = await pool.run("print(1)")
        with pytest.raises(ValueError, match="no result"):
            _ = execution.value


NODES = """
class ListNode:
    def __init__(self, val=0, next=None): self.val, self.next = val, next
class TreeNode:
    def __init__(self, val=0, left=None, right=None):
        self.val, self.left, self.right = val, left, right
"""
VALUES: dict[str, tuple[str, Any]] = {
    "None": ("None", None),
    "a boolean": ("True", True),
    "an integer": ("-(10 ** 15)", -(10**15)),
    "a long integer": ("-(7 ** 500)", -(7**500)),
    "a very long integer": ("10 ** 20_000", 10**20_000),
    "a float": ("0.1", 0.1),
    "infinity": ("float('inf')", float("inf")),
    "a string": ("'é\\u2028\\0'", "é\u2028\0"),
    "half of a pair": ("'\\ud800'", "\ud800"),
    "a list": ("[1, [2, []], 'x']", [1, [2, []], "x"]),
    "a tuple": ("(1, (2, 3))", [1, [2, 3]]),
    "a range": ("range(3)", [0, 1, 2]),
    "a generator": ("(n for n in (1, 2 ** 70))", [1, 2**70]),
    "a dict": ("{1: 'a', 'b': [2], (3, 4): {5}}", {1: "a", "b": [2], (3, 4): {5}}),
    "an empty dict": ("{}", {}),
    "a dict by tuples in tuples": ("{((1, 2), 3): 0}", {((1, 2), 3): 0}),
    "a set": ("{1, 2, 'x'}", {1, 2, "x"}),
    "a frozen set of tuples": ("frozenset({(1, 2), (3,)})", {(1, 2), (3,)}),
    "a set of sets": ("{frozenset({1}), frozenset({2})}", {frozenset({1}), frozenset({2})}),
    "a counter": ("__import__('collections').Counter('aab')", {"a": 2, "b": 1}),
    "a linked list": ("ListNode(1, ListNode(2 ** 80))", [1, 2**80]),
    "linked lists": ("[ListNode(1), ListNode(2, ListNode(3))]", [[1], [2, 3]]),
    "a tree": ("TreeNode(1, None, TreeNode(2, TreeNode(3)))", [1, None, 2, 3]),
    "bytes": ("b'abc'", Opaque("bytes")),
    "an object": ("object()", Opaque("object")),
    "a function": ("f", Opaque("function")),
    "a complex number": ("1j", Opaque("complex")),
    "a decimal": ("__import__('decimal').Decimal('0.5')", 0.5),
    "a subclass of int": ("type('I', (int,), {'__repr__': lambda s: '9'})(5)", 5),
    "something deep": ("__import__('functools').reduce(lambda x, _: [x], range(50), 1)", None),
}


@of_one_loop
@pytest.mark.parametrize("name", VALUES)
async def test_values_come_out_as_python_has_them(name: str, pool: SandboxPool) -> None:
    expression, wanted = VALUES[name]
    code = f"{NODES}\ndef f(): return {expression}"
    execution = await pool.run(Program(code, entry_point="f"), arguments=[])
    assert execution.ending is Ending.FINISHED, execution.error
    value = execution.value
    if name == "something deep":
        for _ in range(50):
            (value,) = value
        assert value == 1
        return
    assert value == wanted
    assert type(value) is type(wanted)


@of_one_loop
async def test_a_list_that_leads_back_is_a_cycle(pool: SandboxPool) -> None:
    code = f"{NODES}\ndef f():\n    node = ListNode(1)\n    node.next = node\n    return node"
    execution = await pool.run(Program(code, entry_point="f"), arguments=[])
    assert execution.value == Opaque("cycle")


@of_one_loop
async def test_nan_is_nan(pool: SandboxPool) -> None:
    execution = await pool.run(
        Program("def f(): return float('nan')", entry_point="f"), arguments=[]
    )
    assert execution.value != execution.value


WRITTEN = (
    b"", b"{", b"nonsense", b"\xff\xfe", b'{"x": 1}', b'{"d": 1}', b'{"d": [[1]]}', b'{"d": [1]}',
    b'{"s": 1}', b'{"s": [[{"d": []}]]}', b'{"s": [{"d": []}]}', b'{"i": 5}', b'{"i": "zz"}',
    b'{"d": [[{"d": []}, 1]]}', b"[" * 200_000, b"1 2", b'{"o": 1}',
    b'{"l": {}}', b'{"c": "x"}', b"9" * 100_000,
)  # fmt: skip


@for_each("result", WRITTEN)
def test_what_a_program_wrote_itself_is_a_value_error_or_data(result: bytes) -> None:
    """Judged code can write on the channel that results come on."""
    execution = Execution(
        ending=Ending.FINISHED,
        stdout=b"",
        stderr="",
        result=result,
        error="",
        code=0,
        cpu_s=0.0,
        wall_s=0.0,
        peak_bytes=0,
    )
    with pytest.raises(ValueError, match=r".") as caught:
        _ = execution.value
    assert len(str(caught.value)) < 1000


@of_one_loop
class TestPool:
    async def test_a_level_can_be_named(self) -> None:
        isolation = Isolation(Level.LANDLOCK)
        try:
            async with SandboxPool(LIMITS, workers=1, isolation=isolation) as pool:
                assert (await pool.run("print(1)")).stdout == b"1\n"
                assert (await pool.call(lambda worker: worker.isolation)) == isolation
        except SandboxError as error:
            pytest.skip(str(error))

    async def test_one_that_cannot_be_had_is_the_sandbox_s_error(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("harness.sandbox.launch.bubblewrap_path", lambda: None)
        isolation = Isolation(Level.NAMESPACES, "bubblewrap")
        async with SandboxPool(LIMITS, workers=1, isolation=isolation) as pool:
            with pytest.raises(SandboxError, match="not installed"):
                await pool.run("print(1)")

    async def test_a_fork_server_that_dies_is_replaced(self, pool: SandboxPool) -> None:
        assert (await pool.run("print(1)")).stdout == b"1\n"
        process = await pool.call(lambda worker: worker.process_id)
        assert process is not None
        os.kill(process, 9)
        assert (await pool.run("print(2)")).stdout == b"2\n"

    async def test_once_closed_it_runs_nothing(self) -> None:
        async with SandboxPool(LIMITS, workers=1) as pool:
            await pool.run("")
        with pytest.raises(WorkerStoppedError):
            await pool.run("print(1)")

    async def test_nothing_is_left_of_it(self) -> None:
        async with SandboxPool(LIMITS, workers=2) as pool:
            await asyncio.gather(pool.run(""), pool.run("import time\ntime.sleep(0.1)"))
            processes = {worker.process_id for worker in pool._workers} - {None}
            assert processes
        assert not any(map(_is_there, processes))

    async def test_json_of_a_value_is_what_a_caller_would_write(self, pool: SandboxPool) -> None:
        program = Program("def f(x): return x", entry_point="f")
        value = {"rows": [[1, None, "é"]], "total": 1.5}
        assert json.dumps((await pool.run(program, arguments=[value])).value) == json.dumps(value)


def _is_there(process: int | None) -> bool:
    return Path(f"/proc/{process}").exists()
