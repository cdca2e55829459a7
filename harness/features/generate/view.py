"""Print what became of each package, as lines or as JSON."""

import json
from typing import Any

from rich.filesize import decimal

from harness.features.generate.generation import Generated
from harness.features.generate.library import Refused, generate, packages_with_generators
from harness.figures import count
from harness.terminal.consoles import console
from harness.terminal.progress import live_bar
from harness.text import printable_line


def print_generated(spec: str, *, as_json: bool) -> bool:
    """Make the tests of packages; print of each what was made, or why nothing was.

    Args:
        spec: `icpc:FOLDER`.
        as_json: print one JSON object at the end, in place of a line a package.

    Returns:
        Whether the tests of every package were made.

    Raises:
        UsageError: `spec` names no package with generators.
        SandboxError: the sandbox failed.
    """
    out = console()
    made: list[Generated] = []
    refused: list[Refused] = []
    packages = packages_with_generators(spec)
    with live_bar(console(error=True)) as bar:
        task = bar.add_task("")

        def watch(what: str, number: int, of: int) -> None:
            bar.update(task, description=printable_line(what), completed=number, total=of)

        for package in generate(packages, watch):
            if isinstance(package, Refused):
                refused.append(package)
            else:
                made.append(package)
            if not as_json:
                out.print(_lines(package), markup=False, soft_wrap=True)
    if as_json:
        out.print(json.dumps(_as_json(made, refused)), soft_wrap=True, markup=False)
    return not refused


def _lines(package: Generated | Refused) -> str:
    name = printable_line(package.package)
    if isinstance(package, Refused):
        return f"{name}: nothing made: {printable_line(str(package.error))}"
    files = count(package.written, "new file")
    first = f"{name}: {count(package.tests, 'test')}, {decimal(package.size)}, {files}"
    unchecked = [f"  inputs not checked: {printable_line(why)}" for why in package.unchecked]
    return "\n".join([first, *unchecked])


def _as_json(made: list[Generated], refused: list[Refused]) -> dict[str, Any]:
    return {
        "packages": [
            {
                "package": package.package,
                "tests": package.tests,
                "new_files": package.written,
                "bytes": package.size,
                "inputs_not_checked": list(package.unchecked),
            }
            for package in made
        ],
        "refused": [{"package": each.package, "why": str(each.error)} for each in refused],
        "tests": sum(package.tests for package in made),
    }
