"""Content hashes of problems."""

import hashlib
from typing import Any

from harness.judged_by import Checker


def content_hash(*parts: str) -> str:
    """Return the SHA-256 of some strings, each preceded by its length to be unambiguous."""
    digest = hashlib.sha256()
    add_parts(digest, *(part.encode() for part in parts))
    return digest.hexdigest()


def add_parts(digest: Any, *parts: bytes) -> None:
    """Add some data to a hash, each preceded by its length to be unambiguous."""
    for part in parts:
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)


def with_checker(digest: str, checker: Checker | None) -> str:
    """Return a row's content hash, combined with its added checker, if there is one."""
    return content_hash(digest, checker.code) if checker else digest
