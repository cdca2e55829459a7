"""Errors that end a command, named by the boundary they crossed.

Each message is one line that says what was wrong, where, and what to do; `cli` prints it without a
traceback and exits with the class's code (the table of exit codes is in the README).
"""


class HarnessError(Exception):
    """Anything the harness reports to its user in one line."""

    exit_code = 4


class UsageError(HarnessError):
    """A flag, key, path or name that cannot be used as it was given."""

    exit_code = 2


class DataError(HarnessError):
    """A row of a data set that is not as its schema says.

    Args:
        where: the file and line, as `rows.jsonl:12`.
        field: the column at fault, or None when the whole row is.
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
    """The filters left no problem; an empty run is never a success."""

    exit_code = 3


class RunDirectoryError(UsageError):
    """A run directory that cannot be made, read, locked or continued."""


class StorageError(HarnessError):
    """The disk refused a write in the middle of a run; what was committed before stands."""

    exit_code = 4


OK, MISSED, INFRASTRUCTURE, INTERRUPTED = 0, 1, 4, 130


_PACKAGES = {
    "dotenv": "python-dotenv",
    "mcp_types": "mcp",
    "vl_convert": "vl-convert-python",
    "yaml": "pyyaml",
}
"""Packages that are not called as their modules are."""


def missing_package(error: BaseException) -> str | None:
    """Return in one line which package is not installed; None for any other error."""
    name = error.name if isinstance(error, ModuleNotFoundError) else None
    module = (name or "harness").partition(".")[0]
    if module == "harness":
        return None
    package = _PACKAGES.get(module, module.replace("_", "-"))
    return f"this needs the package {package}, which is not installed: pip install {package}"
