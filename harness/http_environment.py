"""Faults of what an HTTP client takes from the environment: proxies and certificates."""

import os
import re
import ssl
from collections.abc import Iterator

CERTIFICATES = ("SSL_CERT_FILE", "SSL_CERT_DIR")  # of these, a client reads the first that is set
PROXIES = frozenset({"http_proxy", "https_proxy", "all_proxy"})
UNREADABLE = (
    *(ssl.SSLError, FileNotFoundError, PermissionError, IsADirectoryError, NotADirectoryError),
)
_USER_INFO = re.compile(r"(?<=://)[^/\s@]+@")


def environment_fault(error: BaseException, where: str) -> str | None:
    """Return a line about the setting that is at fault; None for other failures.

    Args:
        error: raised when a client was made or a connection was opened.
        where: the server's address, without secrets.
    """
    for cause in _causes(error):
        match cause:
            case ssl.SSLCertVerificationError():
                return (
                    f"the certificate of {where} cannot be verified ({cause.verify_message}); name "
                    "a file with the certificate of its authority in SSL_CERT_FILE"
                )
            case ImportError() if "SOCKS" in str(cause):
                return (
                    f"{_proxies()} names a SOCKS proxy, which needs the package socksio: "
                    "pip install socksio, or name an HTTP proxy"
                )
            case OSError(filename=None) if not isinstance(cause, ConnectionError):
                name = next(filter(os.environ.get, CERTIFICATES), None)
                if name and isinstance(cause, UNREADABLE):
                    what = cause.strerror or str(cause)
                    return f"{name}: {os.environ[name]} holds no certificates: {what}"
            case _:
                pass
    return None


def proxy_fault(error: Exception) -> str:
    """Return a line about a proxy whose address a client does not understand."""
    return f"{_proxies()}: not the address of a proxy: {_USER_INFO.sub('', str(error))}"


def _proxies() -> str:
    names = [name for name in os.environ if name.lower() in PROXIES and os.environ[name]]
    return " or ".join(names) or "the system's setting"


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    """Yield an error and those that led to it."""
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
