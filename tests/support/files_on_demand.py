"""Workers of xdist import and collect a test file when it is their turn to run it.

By itself each worker collects all files, and the controller hands out tests. Here a worker collects
one item a file, and running that item collects and runs the file's tests: a file is collected once,
by one worker. Not where single tests are named, or the last failures are asked for.
"""

import gc
import random
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

SIZES = pytest.StashKey[dict[str, int]]()
"""Sizes of the files that are to be run, in the controller."""
BEGUN = pytest.StashKey[set[str]]()
"""Those of them that a test has run of."""


LONG = {"test_code_test_rows.py", "test_gepa_search.py", "test_partial_points.py"}
"""Small files whose tests take long: as the last they would keep one core alone at work."""


def expected_length(path: Path) -> int:
    """Return a number that is greater for files whose tests take longer, a guess by the size."""
    return 64 if path.name in LONG else path.stat().st_size.bit_length()


class FileOfTests(pytest.File):
    """A file with one item, which stands for all of its tests."""

    module: pytest.Module

    def collect(self) -> Iterator[pytest.Item]:
        yield AllTests.from_parent(self, name="all", nodeid=self.nodeid)


class AllTests(pytest.Item):
    """The tests of one file, not collected yet."""

    parent: FileOfTests

    def runtest(self) -> None:
        raise AssertionError("pytest_runtest_protocol runs the file's tests in its place")


@pytest.hookimpl(wrapper=True)
def pytest_pycollect_makemodule(
    parent: pytest.Collector,
) -> Generator[None, pytest.Module, pytest.Collector]:
    module = yield
    config = parent.config
    named = any("::" in argument for argument in config.args)
    if named or config.getoption("lf", False) or not hasattr(config, "workerinput"):
        return module
    file: FileOfTests = FileOfTests.from_parent(parent, path=module.path)
    file.module = module
    return file


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    config: pytest.Config, items: list[pytest.Item]
) -> Generator[None]:
    """Keep files from selection by name or mark; begin with those that take long, in any order."""
    files = [item for item in items if isinstance(item, AllTests)]
    items[:] = [item for item in items if not isinstance(item, AllTests)]
    yield
    random.Random(config.getoption("randomly_seed", 0)).shuffle(files)
    files.sort(key=lambda file: -expected_length(file.path))
    items.extend(files)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Collect and run the tests of a file."""
    if not isinstance(item, AllTests):
        return None
    session, hook = item.session, item.config.hook
    gc.disable()
    tests = list(session.genitems(item.parent.module))
    gc.enable()
    hook.pytest_collection_modifyitems(session=session, config=item.config, items=tests)
    position = session.items.index(item)
    for test, following in zip(tests, [*tests[1:], nextitem], strict=False):
        session.items[position] = test  # xdist expects the report of this item
        hook.pytest_runtest_protocol(item=test, nextitem=following)
        if session.shouldfail or session.shouldstop:
            break
    session.items[position] = item
    if not tests:  # what an earlier file has set up for the files of its folder
        session._setupstate.teardown_exact(nextitem)
    return True


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_node_collection_finished(node: Any, ids: list[str]) -> None:
    """Remember how large the files are, since the number of tests is not known."""
    root = node.config.rootpath
    node.config.stash[SIZES] = {
        name: (root / name.partition("::")[0]).stat().st_size for name in ids
    }


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: Any) -> None:
    """Make the percentage at the end of a line the part of the files that is begun, by size."""
    if not hasattr(report, "node") or report.nodeid in report.node.config.stash[SIZES]:
        return
    config = report.node.config
    sizes, begun = config.stash[SIZES], config.stash.setdefault(BEGUN, set())
    begun.add(report.nodeid.partition("::")[0])
    done = sum(map(sizes.__getitem__, begun)) or 1
    reported = config.pluginmanager.get_plugin("terminalreporter").reported_progress
    estimate = reported * sum(sizes.values()) // done
    config.pluginmanager.get_plugin("session").testscollected = max(reported + 1, estimate)
