"""`--show-completion` and `--install-completion`: the script of a shell that completes words."""

import os
from collections.abc import Sequence
from pathlib import Path

import typer

from harness.errors import UsageError

SHOW, INSTALL = "--show-completion", "--install-completion"
SHELLS = ("bash", "zsh", "fish")


def with_shell(args: Sequence[str]) -> list[str]:
    """Return the arguments; a leading flag of this module has a value, the user's shell by default.

    Args:
        args: arguments of `harness`.
    """
    if not args or args[0] not in {SHOW, INSTALL}:
        return [*args]
    flag, *rest = args
    named = rest[:1] if rest and not rest[0].startswith("-") else [current_shell()]
    return [f"{flag}={named[0]}", *rest[1:]]


def current_shell() -> str:
    """Return the shell that started this program, else the user's login shell; may be empty.

    A Dockerfile, a service and cron start programs by `sh`, which completes nothing, or directly.
    """
    import shellingham  # pyright: ignore[reportMissingTypeStubs]

    try:
        shell = str(shellingham.detect_shell()[0])  # pyright: ignore[reportUnknownMemberType]
    except (shellingham.ShellDetectionFailure, OSError):
        shell = ""
    return shell if shell in SHELLS else Path(os.environ.get("SHELL", "")).name


def show_completion(shell: str | None) -> None:
    """Print a shell's script and exit. Raises UsageError."""
    if shell is None:
        return
    from typer.completion import (
        get_completion_script,  # pyright: ignore[reportPrivateImportUsage]
    )

    _check(SHOW, shell)
    script = get_completion_script(
        prog_name="harness", complete_var="_HARNESS_COMPLETE", shell=shell
    )
    typer.echo(script)
    raise typer.Exit


def install_completion(shell: str | None) -> None:
    """Add a shell's script to the user's start files and exit. Raises UsageError."""
    if shell is None:
        return
    from typer.completion import install  # pyright: ignore[reportPrivateImportUsage]

    _check(INSTALL, shell)
    _, path = install(shell=shell, prog_name="harness")
    typer.echo(f"{shell} completion installed in {path}; it takes effect in new shells")
    raise typer.Exit


def _check(flag: str, shell: str) -> None:
    if shell not in SHELLS:
        what = f"{shell!r} completes no words" if shell else "the current shell is not known"
        raise UsageError(f"{flag}: {what}; name one, e.g. {flag} bash ({', '.join(SHELLS)})")
