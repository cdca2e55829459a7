"""Python programs with arguments: how they are started in the sandbox."""

from collections.abc import Sequence

from harness.sandbox.program import Program

_START = """\
import sys as _sys
_sys.argv = {arguments!r}
_sys.path.insert(0, "")
exec(compile({code!r}, {name!r}, "exec"), globals())
"""


def python_script(code: str, arguments: Sequence[str]) -> Program:
    """Return a program that runs a script with arguments, and finds modules in its folder.

    Args:
        code: source of the script.
        arguments: its arguments, the first being its name.
    """
    start = _START.format(arguments=[*arguments], code=code, name=arguments[0])
    return Program(start)
