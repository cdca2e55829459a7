"""`harness merge` and `harness.merge_runs`: merge the shards of a run into one run.

The result is an ordinary run, as if it had never been divided: it can be shown, compared, resumed
and regraded. Only its results are in another order, that of the samples, since each shard's results
are in the order in which its samples ended.
"""

import fcntl
import os
import shutil
from collections import Counter
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from secrets import token_hex
from typing import Annotated, Any, NamedTuple, cast

import typer

from harness.errors import RunDirectoryError, StorageError, UsageError
from harness.features.impossible.changed_tests import IMPOSSIBLE
from harness.features.show.library import LoadedRun
from harness.figures import count
from harness.run.settings.python_arguments import path_of
from harness.run.settings.python_messages import python_words
from harness.run.settings.spec import RESUMABLE, RunSpec
from harness.run.store.directory import (
    BATCHES,
    MANIFEST,
    RESULTS,
    SUMMARY,
    read_manifest,
    write_json,
)
from harness.run.store.files import LARGEST_SUMMARY, open_file, read_json
from harness.run.store.planned_samples import samples_by_problem
from harness.run.store.results import SampleResult, line_of, read_results
from harness.run.store.transcripts import FOLDER, Transcripts
from harness.run.store.versions import versions_together
from harness.run.summary.loaded_run import (
    max_tokens_of,
    price_in,
    prices_as_of,
    read_run,
    with_costs,
)
from harness.run.summary.summary import Summary, summarize
from harness.sandbox.isolation import Level
from harness.terminal.consoles import console
from harness.terminal.run_screen import print_summary

MAY_DIFFER = (RESUMABLE - {"price", "prices"}) | {"shard"}
"""Keys of the spec in which shards of one run may differ, as machines may differ."""
SAME = ("prompt", "tools", "price", "data")
"""Keys of the manifests that must be the same."""


@dataclass(frozen=True, slots=True)
class ShardFolder:
    """A shard on disk.

    Attributes:
        index, of: number of the shard, from 1, and number of all shards.
        total: number of problems of the whole run.
        selection: hash of the problems of the whole run.
        problems: hashes of the shard's problems by id, in order.
    """

    path: Path
    manifest: Mapping[str, Any]
    index: int
    of: int
    total: int
    selection: str
    problems: Mapping[str, str]

    @classmethod
    def read(cls, path: Path) -> "ShardFolder":
        """Read a shard's manifest. Raises RunDirectoryError if the run is not a shard."""
        manifest = read_manifest(path)
        try:
            shard = manifest["shard"]
            index, of, total = (int(shard[key]) for key in ("index", "of", "problems"))
            selection = str(shard["selection"])
        except (KeyError, TypeError, ValueError) as error:
            raise RunDirectoryError(
                f"{path} is not a shard; those are made by `harness run --set shard=I/N`"
            ) from error
        if len(manifest["problems"]) != len(range(index - 1, total, of)):
            raise RunDirectoryError(f"{path}: run.json has not the problems of shard {index}/{of}")
        return cls(path, manifest, index, of, total, selection, manifest["problems"])


class Merged(NamedTuple):
    """Result of merging: its summary, and the numbers of missing shards."""

    summary: Summary
    missing: tuple[int, ...]


def merge_command(
    shards: Annotated[
        list[Path], typer.Argument(metavar="SHARD...", help="Runs made with --set shard=I/N.")
    ],
    out: Annotated[Path, typer.Option("-o", "--out", help="The new run directory.")],
    partial: Annotated[
        bool,
        typer.Option("--partial", help="Go without missing shards; their samples are pending."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    """Merge the shards of a run into one run.

    The shards stay as they are. Samples that are pending in one are pending in the run.
    """
    merged = merge(shards, out, partial=partial)
    print_summary(console(), merged.summary, out, as_json=as_json)
    if merged.missing:
        missing = count(len(merged.missing), "shard")
        message = f"{missing} missing; go on without shards with: harness run --resume {out}"
        console(error=True).print(message, soft_wrap=True)


def merge_runs(
    shards: Iterable[str | Path | LoadedRun], out: str | Path, *, partial: bool = False
) -> LoadedRun:
    """Merge the shards of a run into one run, as `harness merge` does; they stay as they are.

    Args:
        shards: directories of runs made with `shard="I/N"`, in any order.
        out: directory of the new run; must be empty or not exist.
        partial: go without missing shards; their samples are pending.

    Raises:
        UsageError: a shard is missing, or given twice.
        RunDirectoryError: the directories are not shards of one run, a shard is damaged or still
            being written, or `out` is not empty.
        StorageError: the disk refused a write.
    """
    given: Any = shards
    kind = type(shards).__name__
    with python_words("merge_runs()", partial="partial=True"):
        if isinstance(given, str | Path | Mapping) or not isinstance(given, Iterable):
            raise UsageError(f"merge_runs(): shards is of type {kind}; give a list")
        if partial not in (True, False):
            raise UsageError(f"merge_runs(): partial {partial!r:.40}: give True or False")
        parts = [
            each.path if isinstance(each, LoadedRun) else path_of("merge_runs()", "a shard", each)
            for each in shards
        ]
        if not parts:
            raise UsageError("merge_runs(): there is no shard")
        path = path_of("merge_runs()", "out", out)
        merge(parts, path, partial=partial)
    return LoadedRun(read_run(path))


def merge(paths: Sequence[Path], out: Path, *, partial: bool = False) -> Merged:
    """Merge shards, for the command and the library. Raises HarnessError as `merge_runs`."""
    parts = sorted(map(ShardFolder.read, paths), key=lambda part: part.index)
    _check_same(parts)
    missing = _missing(parts, partial=partial)
    _check_free(out)
    with ExitStack() as stack:
        for part in parts:
            stack.enter_context(_held(part.path / RESULTS))
        problems = _problems(parts)
        results = _results(parts, problems)
        _check_batches(parts, results)
        summary = _summary(parts, results)
        draft = out.parent / f".{out.name[:40]}.{token_hex(8)}.draft"  # of this call alone
        try:
            (draft / FOLDER).mkdir(parents=True)
            _copy_transcripts(parts, draft / FOLDER)
            with (draft / RESULTS).open("wb") as file:
                file.writelines(map(line_of, results))
                file.flush()
                os.fsync(file.fileno())
            write_json(draft / SUMMARY, summary.model_dump(mode="json"))
            write_json(draft / MANIFEST, _manifest(parts, problems, missing))
            draft.replace(out)
        except OSError as error:
            _check_free(out)  # another call may have been faster
            raise StorageError(f"{out}: {error.strerror or error}; the shards are safe") from error
        finally:
            shutil.rmtree(draft, ignore_errors=True)
    return Merged(summary, missing)


@contextmanager
def _held(path: Path) -> Generator[None]:
    """Keep a run from going on meanwhile, by a lock that needs no right to write.

    Raises:
        RunDirectoryError: another process is at work on the run, or its results cannot be read.
    """
    try:
        file = open_file(path)
    except FileNotFoundError:  # nothing is graded yet
        yield
        return
    except OSError as error:
        raise RunDirectoryError(f"{path} cannot be read: {error.strerror}") from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise RunDirectoryError(
                f"{path.parent}: another process is at work on this run; wait for it to end"
            ) from error
        except OSError:  # a file system without locks, or one that gives none to readers
            pass
        yield


def _check_free(out: Path) -> None:
    """Check that a new run can be put there. Raises RunDirectoryError, StorageError."""
    try:
        free = not out.exists() or (out.is_dir() and not any(out.iterdir()))
    except OSError as error:
        raise StorageError(f"{out}: {error.strerror or error}; the shards are safe") from error
    if not free:
        raise RunDirectoryError(f"{out} exists and is not an empty directory; choose another --out")


def _check_same(parts: Sequence[ShardFolder]) -> None:
    """Check that these are shards of one run. Raises RunDirectoryError."""
    first = parts[0]
    for part in parts[1:]:
        if (part.of, part.total, part.selection) != (first.of, first.total, first.selection):
            raise _other(first, part, "the problems that were dealt out")
        keys = sorted({*first.manifest["spec"], *part.manifest["spec"]} - MAY_DIFFER)
        for key in keys:
            if _value(first, key) != _value(part, key):
                raise _other(first, part, f"{key} ({_value(first, key)!r}, {_value(part, key)!r})")
        for key in SAME:
            if first.manifest.get(key) != part.manifest.get(key):
                raise _other(first, part, f"{key} in run.json")


def _value(part: ShardFolder, key: str) -> Any:
    field = RunSpec.model_fields.get(key)
    return part.manifest["spec"].get(key, field.get_default() if field else None)


def _other(one: ShardFolder, other: ShardFolder, what: str) -> RunDirectoryError:
    return RunDirectoryError(
        f"{one.path} and {other.path} are not shards of one run; they differ in {what}"
    )


def _missing(parts: Sequence[ShardFolder], *, partial: bool) -> tuple[int, ...]:
    """Return the missing shards, except those without problems. Raises UsageError."""
    of, total = parts[0].of, parts[0].total
    places: dict[int, Path] = {}
    for part in parts:
        if part.index in places:
            raise UsageError(
                f"{places[part.index]} and {part.path} are both shard {part.index}/{of}; give one"
            )
        places[part.index] = part.path
    missing = tuple(index for index in range(1, min(of, total) + 1) if index not in places)
    if missing and not partial:
        shown = ", ".join(f"{index}/{of}" for index in missing[:8])
        more = f" and {len(missing) - 8} more" if len(missing) > 8 else ""  # noqa: PLR2004
        raise UsageError(f"shard {shown}{more} is missing; give it too, or --partial to go without")
    return missing


def _problems(parts: Sequence[ShardFolder]) -> dict[str, str]:
    """Return the problems of all shards, in their order in the whole run."""
    hands = {part.index: iter(part.problems.items()) for part in parts}
    dealt = (place % parts[0].of + 1 for place in range(parts[0].total))
    return dict(next(hands[index]) for index in dealt if index in hands)


def _results(parts: Sequence[ShardFolder], problems: Mapping[str, str]) -> list[SampleResult]:
    """Return the results of all shards, ordered by sample. Raises RunDirectoryError."""
    order = {problem_id: place for place, problem_id in enumerate(problems)}
    results: dict[str, SampleResult] = {}
    for part in parts:
        for result in read_results(part.path / RESULTS):
            if result.problem_id not in part.problems or result.sample in results:
                raise RunDirectoryError(
                    f"{part.path / RESULTS}: {result.sample} is there twice, or is not a sample of "
                    f"shard {part.index}/{part.of}"
                )
            results[result.sample] = result
    return sorted(results.values(), key=lambda each: (each.index, order[each.problem_id]))


def _check_batches(parts: Sequence[ShardFolder], results: Sequence[SampleResult]) -> None:
    """Check that no shard waits for a provider batch. Raises RunDirectoryError."""
    done = Counter(result.problem_id for result in results)
    for part in parts:
        planned = sum(samples_by_problem(part.manifest).values())
        left = planned - sum(done[problem_id] for problem_id in part.problems)
        if left and (part.path / BATCHES).exists():
            raise RunDirectoryError(
                f"{part.path} has {left} samples pending that may be at the provider, in a batch "
                f"that it alone can fetch; finish it first: harness run --resume {part.path}"
            )


def _manifest(
    parts: Sequence[ShardFolder], problems: Mapping[str, str], missing: Sequence[int]
) -> dict[str, Any]:
    """Return the manifest of the whole run, with the weakest sandbox of any shard."""
    first = parts[0].manifest
    sandboxes = (part.manifest["sandbox"] for part in parts)
    weakest = min(sandboxes, key=lambda each: Level(each["level"]).rank)
    merged = {key: value for key, value in first.items() if key != "shard"}
    merged["spec"] = {**first["spec"], "shard": None}
    merged["sandbox"] = weakest
    merged["versions"] = versions_together(part.manifest for part in parts)
    merged["problems"] = dict(problems)
    limits = (part.manifest.get("test_limits", {}) for part in parts)  # by source
    merged["test_limits"] = reduce(_joined, limits, {})
    if IMPOSSIBLE in first:  # each shard looked at the problems of the whole run
        changes = (part.manifest.get(IMPOSSIBLE, {}).get("problems", {}) for part in parts)
        merged[IMPOSSIBLE] = {**first[IMPOSSIBLE], "problems": reduce(_joined, changes, {})}
    merged["merged"] = {
        "problems": parts[0].total,
        "shards": [
            {
                "shard": f"{part.index}/{part.of}",
                **{key: part.manifest.get(key) for key in ("created", "harness", "machine")},
            }
            for part in parts
        ],
        "missing": [f"{index}/{parts[0].of}" for index in missing],
    }
    return merged


def _joined(one: Any, other: Any) -> Any:
    """Merge two JSON objects recursively."""
    if isinstance(one, dict) and isinstance(other, dict):
        first, second = cast("dict[str, Any]", one), cast("dict[str, Any]", other)
        return {key: _joined(first.get(key), second.get(key)) for key in {**first, **second}}
    return cast("Any", one if other is None else other)


def _copy_transcripts(parts: Sequence[ShardFolder], folder: Path) -> None:
    """Copy all transcripts, also those of pending samples. Raises OSError.

    They stay as they are, unless a shard of another version shares other parts.
    """
    for part in parts:
        same = part.manifest.get("transcripts") == parts[0].manifest.get("transcripts")
        transcripts = Transcripts(part.path)
        for name in transcripts.names():
            data = transcripts.read(name)
            if not same:
                lines = data.splitlines(keepends=True)
                data = b"".join(map(transcripts.shared.put_back, lines))
            (folder / name).write_bytes(data)


def _summary(parts: Sequence[ShardFolder], results: Sequence[SampleResult]) -> Summary:
    """Summarize the whole run, with the shards' reasons for pending samples."""
    failures: Counter[str] = Counter()
    for part in parts:
        failures.update(_failures(part.path / SUMMARY))
    first = parts[0].manifest
    planned = parts[0].total * first["spec"]["samples_per_problem"]
    done = with_costs(results, price_in(parts[0].path, first))
    return summarize(
        done, planned, failures, prices_as_of=prices_as_of(first), max_tokens=max_tokens_of(first)
    )


def _failures(path: Path) -> dict[str, int]:
    """Return a shard's pending samples by verdict; empty if it has no good summary."""
    try:
        pending = read_json(path, LARGEST_SUMMARY)["pending"]
        return {str(key): int(value) for key, value in pending.items() if key != "not_run"}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
