"""Request of `POST /run_code`."""

import binascii
from base64 import b64decode
from pathlib import PurePosixPath

from pydantic import BaseModel, ConfigDict, Field, field_validator

from harness.features.serve.requests import Text
from harness.sandbox.limits import MEBIBYTE, Limits

LONGEST_RUN_S = 1_800.0
LONGEST_COMPILE_S = 60.0
MOST_FILES = 1_000
MOST_OUTPUT = 64 * MEBIBYTE
WALL_FACTOR = 1.0


class RunRequest(BaseModel):
    """A program to run; keys that SandboxFusion does not know are ignored, as there.

    Attributes:
        compile_timeout: seconds of CPU time of the compiler, at most `LONGEST_COMPILE_S`. A client
            that gives it waits that much longer than the run may take, so that it limits the wait
            for a worker where nothing is compiled.
        run_timeout: seconds, at most `LONGEST_RUN_S`; larger values are reduced to that.
        memory_mb: MiB; -1 for the server's own limit, which is also the largest.
        files: contents in base64, by path; None for no such file.
        fetch_files: paths of files to return in the answer.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    code: Text
    language: str
    stdin: Text | None = None
    compile_timeout: float | None = Field(None, ge=0, allow_inf_nan=False)
    run_timeout: float = Field(10.0, gt=0, allow_inf_nan=False)
    memory_mb: int = Field(-1, alias="memory_limit_MB")
    files: dict[str, str | None] = Field(default_factory=dict, max_length=MOST_FILES)
    fetch_files: list[str] = Field(default_factory=list, max_length=MOST_FILES)

    def limits(self, most_memory: int) -> Limits:
        """Return the limits of the run.

        Args:
            most_memory: most bytes that a program may use.
        """
        seconds = min(self.run_timeout, LONGEST_RUN_S)
        memory = self.memory_mb * MEBIBYTE if self.memory_mb > 0 else most_memory
        return Limits(
            cpu_s=seconds,
            memory_bytes=min(memory, most_memory),
            output_bytes=MOST_OUTPUT,
            own_wall_s=WALL_FACTOR * seconds,
        )

    @property
    def input(self) -> bytes:
        """Standard input of the program."""
        return (self.stdin or "").encode("utf-8", "surrogatepass")

    @property
    def given_files(self) -> dict[str, str]:
        """Contents in base64 of the files that there are, by path."""
        return {path: content for path, content in self.files.items() if content is not None}

    @field_validator("files")
    @classmethod
    def _files_are_files(cls, files: dict[str, str | None]) -> dict[str, str | None]:
        for path, content in files.items():
            check_path(path)
            try:
                b64decode("".join((content or "").split()), validate=True)
            except (binascii.Error, ValueError):
                raise ValueError(f"{path!r:.60} is not base64") from None
        return files

    @field_validator("fetch_files")
    @classmethod
    def _paths_are_inside(cls, paths: list[str]) -> list[str]:
        for path in paths:
            check_path(path)
        return paths


def check_path(path: str) -> None:
    """Raise ValueError if a path leaves the working directory or names no file."""
    parts = PurePosixPath(path).parts
    if not parts or path.startswith("/") or ".." in parts or "\0" in path:
        raise ValueError(f"{path!r:.60} is not a path inside the working directory")
