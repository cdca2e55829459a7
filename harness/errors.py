"""Errors that end a command, each with an exit code.

Each message is one line that says what was wrong, where, and what to do; `cli` prints it without a
traceback and exits with the class's code (the table of exit codes is in the README).
"""

OK, MISSED, INFRASTRUCTURE, INTERRUPTED = 0, 1, 4, 130
_PACKAGES = {
    "dotenv": "python-dotenv",
    "mcp_types": "mcp",
    "vl_convert": "vl-convert-python",
    "yaml": "pyyaml",
}
"""Names of packages that differ from their modules' names."""


class HarnessError(Exception):
    """An error that is reported to the user in one line."""

    exit_code = 4


class UsageError(HarnessError):
    """A flag, key, path or name cannot be used as given."""

    exit_code = 2


class DataError(HarnessError):
    """A row of a data set does not match its schema.

    Args:
        where: file and line, such as `rows.jsonl:12`.
        field: the invalid column, or None for the whole row.
        what: what is wrong with it.
    """

    exit_code = 2

    def __init__(self, where: str, field: str | None, what: str) -> None:
        self.where = where
        self.field = field
        self.what = what
        super().__init__(f"{where}: {f'field {field!r}: ' if field else ''}{what}")

    def __reduce__(self) -> tuple[type["DataError"], tuple[str, str | None, str]]:
        return type(self), (self.where, self.field, self.what)


class NothingSelectedError(HarnessError):
    """No problem matches the filters; an empty run never counts as a success."""

    exit_code = 3


class RunDirectoryError(UsageError):
    """A run directory cannot be made, read, locked or resumed."""


class StorageError(HarnessError):
    """A write to disk failed during a run; committed samples are safe."""

    exit_code = 4


def missing_package(error: BaseException) -> str | None:
    """Return a line naming a package that is not installed; None for other errors."""
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    module = (name or "harness").partition(".")[0]
    if module == "harness":
        return None
    package = _PACKAGES.get(module, module.replace("_", "-"))
    return f"this needs the package {package}, which is not installed: pip install {package}"
