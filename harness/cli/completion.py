"""Shell completion: names known to the harness, and runs on disk.

A shell may execute completions, so they contain only letters, digits and characters without
meaning to shells. Only what a completion needs is imported, since the user waits for it.
"""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

HARMLESS = re.compile(r"[\w./:@+,=-]+\Z", re.ASCII)
MOST = 200
"""Largest number of completions."""


def _offered(values: Iterable[str], incomplete: str) -> list[str]:
    matching = sorted({each for each in values if each.startswith(incomplete)})
    return [each for each in matching if HARMLESS.match(each)][:MOST]


def _with_plugins(own: Iterable[str], group: str, incomplete: str) -> list[str]:
    """Complete built-in names, and those of plug-ins."""
    from harness.plugins import installed

    return _offered([*own, *(each.name for each in installed(group))], incomplete)


def benchmarks(incomplete: str) -> list[str]:
    """Complete `NAME[:WHERE]`: sources, and after a colon their releases, or files."""
    from harness.plugins import SOURCES
    from harness.registry import LOADERS
    from harness.sources.hub_datasets import HOMES

    name, colon, where = incomplete.partition(":")
    if not colon:
        return _with_plugins(LOADERS, SOURCES, incomplete)
    files = _files(where) if where or name not in {"fixture", *HOMES} else ()
    names = [*HOMES.get(name, ()), *files]
    return _offered((f"{name}:{word}" for word in names), incomplete)


def models(incomplete: str) -> list[str]:
    """Complete models: priced names, prefixes, plug-ins, and recorded runs."""
    from harness.models.prices.price_lists import bundled_prices
    from harness.models.providers import PROVIDERS, PYTHON_PREFIX, REPLAY_PREFIX
    from harness.plugins import MODELS

    if incomplete.startswith(REPLAY_PREFIX):
        names = ["bundled", *_runs(incomplete.removeprefix(REPLAY_PREFIX))]
        return _offered((REPLAY_PREFIX + each for each in names), incomplete)
    prefixes = [*(each.prefix for each in PROVIDERS), PYTHON_PREFIX, REPLAY_PREFIX]
    priced = [each for each in bundled_prices().models if "*" not in each]
    return _with_plugins([*prefixes, *priced], MODELS, incomplete)


def strategies(incomplete: str) -> list[str]:
    """Complete strategies."""
    from harness.agent.strategies.modes import built_in_modes
    from harness.plugins import STRATEGIES

    names = [mode.name for mode in built_in_modes(asking=True)]
    return _with_plugins(names, STRATEGIES, incomplete)


def prompts(incomplete: str) -> list[str]:
    """Complete bundled prompt sets and folders."""
    from harness.agent.templates.prompt_set import bundled_names

    names = set(bundled_names())
    return _offered([*names, *_folders(incomplete)], incomplete)


def rules(incomplete: str) -> list[str]:
    """Complete comparison rules."""
    from harness import plugins, registry

    return _with_plugins(registry.RULES, plugins.RULES, incomplete)


def observers(incomplete: str) -> list[str]:
    """Complete observers of plug-ins."""
    from harness.plugins import OBSERVERS

    return _with_plugins((), OBSERVERS, incomplete)


def runs(incomplete: str) -> list[str]:
    """Complete run directories, and folders that may contain them."""
    return _offered(_runs(incomplete), incomplete)


def schemas(incomplete: str) -> list[str]:
    """Complete names of JSON Schemas."""
    from harness.registry import SCHEMA_NAMES

    return _offered(SCHEMA_NAMES, incomplete)


def _runs(incomplete: str) -> Iterator[str]:
    """Yield runs and folders; for an empty word, also the runs in `runs/`."""
    for path in _folders(incomplete):
        yield path if not _is_run(Path(path)) else path.rstrip("/")
    if not incomplete:
        yield from (path.rstrip("/") for path in _folders("runs/") if _is_run(Path(path)))


def _is_run(path: Path) -> bool:
    return (path / "run.json").is_file()


def _folders(incomplete: str) -> list[str]:
    return [path for path in _files(incomplete) if path.endswith("/")]


def _files(incomplete: str) -> Iterator[str]:
    """Yield the paths that start with a text; folders end with a slash."""
    folder = incomplete[: incomplete.rfind("/") + 1]
    try:
        with os.scandir(folder or ".") as entries:
            for entry in entries:
                if not entry.name.startswith("."):
                    yield f"{folder}{entry.name}{'/' * entry.is_dir()}"
    except OSError:  # it does not exist or is not readable
        return
