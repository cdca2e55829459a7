"""The environment variables that an agent's process receives."""

import os
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

from harness.errors import UsageError

PASSED_ON = (
    *("PATH", "LANG", "LANGUAGE", "TERM", "TZ", "COLORTERM", "SSL_CERT_FILE", "SSL_CERT_DIR"),
    *("NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE"),
    *("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"),
)
"""Environment variables passed to the agent; others need `--agent-env`."""


_LOOPBACK = "127.0.0.1,localhost"


def environment_for(environ: Mapping[str, str], names: Iterable[str]) -> dict[str, str]:
    """Return an agent's environment: no secrets except requested variables.

    Programs are looked for beside the running interpreter first, so that those of its virtual
    environment are found although that is not active.

    Args:
        environ: all environment variables.
        names: names of requested variables.

    Raises:
        UsageError: a requested variable is not set.
    """
    missing = [name for name in names if name not in environ]
    if missing:
        raise UsageError(f"--agent-env {missing[0]}: no such variable is set")
    kept = {*PASSED_ON, *names, *(name for name in environ if name.startswith("LC_"))}
    variables = {name: value for name, value in environ.items() if name in kept}
    own = str(Path(sys.executable).parent)
    variables["PATH"] = os.pathsep.join((own, environ.get("PATH", os.defpath)))
    for name in ("no_proxy", "NO_PROXY"):  # the MCP server is on this machine
        others = environ.get(name, "")
        variables[name] = f"{_LOOPBACK},{others}" if others else _LOOPBACK
    return variables
