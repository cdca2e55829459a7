"""`harness plugins`: the plug-ins of installed packages, and whether each loads."""

import typer


def plugins() -> None:
    """List the plug-ins of installed packages, and load each to see whether it can be used.

    Exits with 2 where one cannot.
    """
    from harness.errors import UsageError
    from harness.grading.rules import RULES as OUR_RULES
    from harness.models.providers import by_shape
    from harness.plugins import (
        GROUPS,
        MODELS,
        RULES,
        SOURCES,
        STRATEGIES,
        Plugin,
        find,
        installed,
    )
    from harness.registry import LOADERS, MODES
    from harness.terminal.consoles import console
    from harness.terminal.rich_tables import words_table

    ours = {SOURCES: LOADERS, STRATEGIES: MODES, RULES: OUR_RULES}

    def state(plugin: Plugin) -> str:
        shaped = plugin.group == MODELS and by_shape(plugin.name) is not None
        if shaped or plugin.name in ours.get(plugin.group, ()):
            return "not used: this name is built in"
        try:
            if find(plugin.group, plugin.name) is None:
                return "not used: not a valid name"
            plugin.load()
        except UsageError as error:
            return str(error)
        return "ready"

    out = console()
    states = [(each, state(each)) for group in GROUPS for each in installed(group)]
    if not states:
        out.print("no plug-in is installed")
        return
    rows = ((e.kind, e.name, f"{e.package} {e.version}", word) for e, word in states)
    out.print(words_table(("plug-in", "name", "package", "state"), rows))
    if any(word != "ready" for _, word in states):
        raise typer.Exit(UsageError.exit_code)
