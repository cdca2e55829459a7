"""The command line: one module a command, errors in one line, exit codes as the README lists."""

import sys


def main() -> None:
    """The console script `harness`."""
    from harness.cli.app import app
    from harness.errors import HarnessError

    try:
        sys.exit(app(standalone_mode=False) or 0)
    except HarnessError as error:
        _say(str(error))
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        _say("interrupted")
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output has gone, as `| head` does
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        import click

        if isinstance(error, click.exceptions.Abort):
            sys.exit(130)
        if isinstance(error, click.ClickException):
            _say(error.format_message())
            sys.exit(error.exit_code)
        raise


def _say(message: str) -> None:
    from harness.report.text import printable

    print(f"harness: {printable(' '.join(message.split()))}", file=sys.stderr)  # noqa: T201
