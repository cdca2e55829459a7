"""What a command's exit says; those of errors stand with them in `harness.errors`."""

OK, INFRASTRUCTURE, INTERRUPTED = 0, 4, 130
