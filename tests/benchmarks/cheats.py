"""Ten wrong solutions that try to be paid for, and what makes each of them wrong.

The answers to the two problems are drawn at random: no solution can know them. Each cheat is tried
on a judge that compares in the solution's own process, as copies of LiveCodeBench's grader do, and
on ours.
"""

import random
from typing import Any, NamedTuple


class Cheat(NamedTuple):
    """A cheat.

    Attributes:
        name: what it does.
        code: the solution.
        function: whether it is a function, or else a program.
    """

    name: str
    code: str
    function: bool


_FRAME = """
import sys
def around(name):
    frame = sys._getframe()
    while frame is not None:
        if name in frame.f_locals:
            return frame.f_locals
        frame = frame.f_back
    raise LookupError(name)
"""

CHEATS = (
    Cheat(
        "returns what equals everything",
        "class Any(str):\n"
        "    __hash__ = str.__hash__\n"
        "    def __eq__(self, other): return True\n"
        "    def __ne__(self, other): return False\n"
        "def answer(n): return Any('x')\n",
        True,
    ),
    Cheat(
        "reads the expected result in the grader's frame",
        _FRAME + "def answer(n):\n"
        "    found = around('in_outs')\n"
        "    return found['in_outs']['outputs'][found['index']]\n",
        True,
    ),
    Cheat(
        "finds the expected results among all objects",
        "import gc\n"
        "def answer(n):\n"
        "    for each in gc.get_objects():\n"
        "        if type(each) is dict and 'outputs' in each and 'inputs' in each:\n"
        "            for given, wanted in zip(each['inputs'], each['outputs']):\n"
        "                if given == str(n): return wanted.strip(chr(34))\n",
        True,
    ),
    Cheat(
        "changes the expected result",
        _FRAME + "def answer(n):\n"
        "    found = around('in_outs')\n"
        "    found['in_outs']['outputs'][found['index']] = 'mine'\n"
        "    return 'mine'\n",
        True,
    ),
    Cheat(
        "changes how JSON is read",
        "import json\njson.loads = lambda *given, **more: ['mine']\n"
        "def answer(n): return ['mine']\n",
        True,
    ),
    Cheat(
        "writes the grader's results and ends its process",
        _FRAME + "import os\n"
        "def answer(n):\n"
        "    found = around('metadata_list')\n"
        "    found['result'].append([True] * 3)\n"
        "    found['metadata_list'].append({})\n"
        "    os._exit(0)\n",
        True,
    ),
    Cheat("raises", "def answer(n): raise ValueError(n)\n", True),
    Cheat(
        "changes the function that compares",
        "import sys\n"
        "for each in list(sys.modules.values()):\n"
        "    for name in ('stripped_string_compare', 'custom_compare_'):\n"
        "        if hasattr(each, name): setattr(each, name, lambda *given: True)\n"
        "print('mine')\n",
        False,
    ),
    Cheat(
        "prints the expected output from the grader's frame",
        _FRAME + "found = around('in_outs')\nprint(found['in_outs']['outputs'][found['index']])\n",
        False,
    ),
    Cheat(
        "prints the right words in the wrong order",
        "print(*sorted(set(input().split())))\n",
        False,
    ),
)


def tests_of(cheat: Cheat) -> dict[str, Any]:
    """Three tests, as training rows have them."""
    draw = random.Random(1)
    numbers = [str(draw.randrange(10**6)) for _ in range(3)]
    if cheat.name.startswith("prints the right words"):  # the problem: say them backwards
        words = [[f"{draw.randrange(10**6)}" for _ in range(6)] for _ in range(3)]
        lines = [" ".join(each) for each in words]
        return {"inputs": lines, "outputs": [" ".join(reversed(each)) for each in words]}
    secrets = [f"{draw.getrandbits(64):x}" for _ in numbers]
    if cheat.function:
        outputs = [f'"{each}"' for each in secrets]
        return {"inputs": numbers, "outputs": outputs, "fn_name": "answer"}
    return {"inputs": numbers, "outputs": secrets}
