"""What all tests share."""

import compileall
import gc
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Generator, Iterator
from concurrent.futures import wait
from pathlib import Path

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, settings

pytest_plugins = ["files_on_demand", "run_fixtures", "judging_fixtures", "row_fixtures"]

# Collecting garbage as often as usual takes a seventh of the time, and until all tests are
# collected there is none.
gc.disable()
gc.set_threshold(20_000, 20, 20)

# PYTHONDONTWRITEBYTECODE would make each process compile all tests, which takes 10 seconds.
sys.dont_write_bytecode = False

# How long an example takes hangs on what else the machine does.
unhurried = [HealthCheck.too_slow]
settings.register_profile("unhurried", deadline=None, suppress_health_check=unhurried)
settings.register_profile("quick", settings.get_profile("unhurried"), max_examples=40)
settings.load_profile("unhurried")

# Settings of who runs the tests are none of the tests'.
for name in [*os.environ]:
    if name.startswith("HARNESS_") and not name.startswith(("HARNESS_TEST_", "HARNESS_WRITE_")):
        del os.environ[name]

# A command that a shell starts in the background ignores interrupts, and so does what it starts.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A test that reads a large file must neither find nor leave anything in its user's cache. The hub's
# client reads this once, when it is first imported. All workers have one, with what is compiled.
_cache = None
if "PYTEST_XDIST_WORKER" not in os.environ:
    _cache = tempfile.TemporaryDirectory()
    os.environ["HF_HOME"] = _cache.name


def pytest_configure(config: pytest.Config) -> None:
    """Try fewer examples in the quick half: it runs often, and has others each time."""
    if config.option.markexpr == "not thorough":
        settings.load_profile("quick")


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Keep a file's tests in one process, unless told otherwise: it makes their fixtures once."""
    if getattr(config.option, "numprocesses", None) and config.option.dist == "no":
        config.option.dist, config.option.loadscopereorder = "loadfile", False


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers() -> int:
    """Return two workers a core: many tests wait and leave a core idle."""
    return min(2 * len(os.sched_getaffinity(0)), 16)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes() -> None:
    """Start the process that commands are forked from, once for all workers."""
    from program import SHARED, the_one_imported

    os.environ[SHARED] = the_one_imported().name


def pytest_sessionstart(session: pytest.Session) -> None:
    """Compile the package once: sandboxes, which write nothing, would do it at every start.

    Raises:
        pytest.UsageError: a path that does not exist, which several workers would not name.
    """
    for each in session.config.args:
        if not Path(session.config.invocation_params.dir, each.partition("::")[0]).exists():
            raise pytest.UsageError(f"file or directory not found: {each}")
    if not hasattr(session.config, "workerinput"):
        for folder in (Path(__file__).parents[1] / "harness", Path(__file__).parent / "support"):
            compileall.compile_dir(folder, quiet=2, workers=0)


def pytest_collection_finish() -> None:
    """Leave what was imported and collected out of every collection of garbage."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call() -> Generator[None]:
    """Kill the programs that a failed test leaves: they may run for ever, on all cores."""
    failed = True
    _let_go(kill=False)  # what fixtures have started lives on
    try:
        yield
        failed = False
    finally:
        _let_go(kill=failed)


def _let_go(*, kill: bool) -> None:
    if "program" in sys.modules:
        from program import let_go

        let_go(kill=kill)


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """End the fork server that a file's tests have kept ready: another file's count processes."""
    strongest = sys.modules.get("harness.sandbox.strongest")
    if strongest is not None and (nextitem is None or nextitem.path != item.path):
        wait(strongest._early)
        strongest._early.clear()
        strongest._end_spares()


@pytest.fixture(scope="session", autouse=True)
def _nothing_is_found_above(tmp_path_factory: pytest.TempPathFactory) -> None:  # pyright: ignore[reportUnusedFunction] - a fixture
    """End the search for settings at the folder of all tests, as a repository would."""
    root = tmp_path_factory.getbasetemp()
    root = root.parent if "PYTEST_XDIST_WORKER" in os.environ else root
    (root / ".git").mkdir(exist_ok=True)


@pytest.fixture(scope="session", autouse=True)
def _no_cache_is_left() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction] - a fixture
    yield
    if _cache is not None:
        _cache.cleanup()


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder of real data-set rows; tests that need it are skipped where there is none."""
    folder = os.environ.get("HARNESS_TEST_DATA")
    if not folder:
        pytest.skip("HARNESS_TEST_DATA does not name the folder of real rows")
    return Path(folder)


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def chromium() -> AsyncIterator[None]:
    """One browser for all tests of the session that are marked with `browser.in_one_browser`."""
    from browser import one_browser

    async with one_browser():
        yield
