"""The program with all providers at an address of the test, else as users run it."""

import asyncio
from pathlib import Path

from program import harness_after

MOVED = """
from harness.features.info import models as showing_models
from harness.models import providers
here = {here!r}
providers.PROVIDERS = tuple(each._replace(base_url=here) for each in providers.PROVIDERS)
showing_models.PROVIDERS = providers.PROVIDERS
"""


async def run_redirected(
    folder: Path, base_url: str, *arguments: str | Path, **env: str
) -> tuple[int | None, str, str]:
    """Return exit code, stdout and stderr; Ollama's address is still `OLLAMA_HOST`."""
    moved = MOVED.format(here=base_url)
    done = await asyncio.to_thread(harness_after, moved, folder, *arguments, **env)
    return done.returncode, done.stdout, done.stderr
