"""Whether a solution is still starter code: its function has a docstring, and nothing else."""

from harness.languages import PYTHON
from harness.python_source import parse_or_none
from harness.solution_source import lacks_body
from harness.tools.workspace import Workspace


def empty_function(workspace: Workspace, code: str) -> str:
    """Return the name of the function that is called, if it has no body yet; else nothing."""
    name = workspace.problem.entry_point
    if name is None or workspace.language != PYTHON:
        return ""
    tree = parse_or_none(code)
    return name if tree is not None and lacks_body(tree, name) else ""
