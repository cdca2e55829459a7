"""The program with every provider at an address of the test's, otherwise as its users run it."""

import asyncio
import sys
from pathlib import Path

from program import environment, finish

PROGRAM = """
import sys
from dataclasses import replace
from harness.models import providers
here = sys.argv.pop(1)
providers.PROVIDERS = tuple(replace(each, base_url=here) for each in providers.PROVIDERS)
from harness.cli import main
main()
"""


async def run_redirected(
    folder: Path, base_url: str, *arguments: str | Path, **env: str
) -> tuple[int | None, str, str]:
    """Its exit code, stdout and stderr; Ollama's address is that of `OLLAMA_HOST` all the same."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        PROGRAM,
        base_url,
        *map(str, arguments),
        cwd=folder,
        env=environment(**env),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    return await finish(process)
