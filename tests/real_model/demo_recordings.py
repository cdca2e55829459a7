"""Makes the bundled recordings from the runs of the piece `demo`.

    python tests/real_model/demo_recordings.py real-runs

Each run OUT/demo/MODE-PROMPT becomes fixtures/recordings/MODE/PROMPT/transcripts: of every sample
its start, the model's answers as they came, and how it ended. What harness says itself (requests,
tool results, grades) is left out; a replay makes it anew. `run.json` beside them has the limits and
the texts that a replay uses. `recordings/recorded.json` says which model answered, on what server,
when, and to which command.
"""

import argparse
import json
import shutil
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from measure import RECORD

from harness.agent.events import Event, Refused, Response, SampleEnd, SampleStart, standing
from harness.run.settings.spec import SETTINGS
from harness.run.store.transcript import file_name
from harness.run.store.transcripts import Transcripts

RECORDINGS = Path(__file__).parents[2] / "fixtures" / "recordings"
RECORDS = "recorded.json"
RECORDED = (
    "mode",
    "samples_per_problem",
    *(key for key, setting in SETTINGS.items() if setting.recorded),
)
"""Keys of a run's spec that a replay takes over."""
FACTS = ("model", "temperature", "max_tokens", "samples_per_problem", "mode", "prompt", "max_turns")
"""Keys of a run's spec that say how its answers came about."""


def played(events: Iterable[Event]) -> Iterator[dict[str, Any]]:
    """Yield the events of a sample that a replay needs, as JSON."""
    for event in events:
        match event:
            case SampleStart():
                kept = {"schema", "sample", "problem_id", "index", "mode", "model"}
                yield {"event": "sample_start"} | event.model_dump(
                    mode="json", by_alias=True, include=kept
                )
            case Response():
                yield event.model_dump(mode="json", exclude={"response": {"request_id"}})
            case Refused() | SampleEnd():
                yield event.model_dump(mode="json")
            case _:
                pass


def copy(run: Path, recording: Path) -> int:
    """Write the recording of a run; return the number of samples in it.

    Raises:
        SystemExit: a sample of the run is pending.
    """
    manifest = json.loads((run / "run.json").read_text())
    results = [json.loads(line) for line in (run / "results.jsonl").read_text().splitlines()]
    due = len(manifest["problems"]) * manifest["spec"]["samples_per_problem"]
    if len(results) < due:
        raise SystemExit(f"{run}: {due - len(results)} of {due} samples are pending")
    folder = recording / "transcripts"
    shutil.rmtree(recording, ignore_errors=True)
    folder.mkdir(parents=True)
    kept = {key: manifest[key] for key in ("spec", "prompt", "problems")}
    kept["spec"] = {key: kept["spec"][key] for key in RECORDED if kept["spec"].get(key) is not None}
    (recording / "run.json").write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n")
    samples = 0
    transcripts = Transcripts(run)
    for name in transcripts.names():
        events = list(played(standing(transcripts.events(name))))
        start = events[0]
        lines = [json.dumps(event, ensure_ascii=False) + "\n" for event in events]
        (folder / file_name(start["problem_id"], start["index"])).write_text("".join(lines))
        samples += 1
    return samples


def facts(run: Path, record: dict[str, Any]) -> dict[str, Any]:
    """Return how a run's answers came about."""
    manifest = json.loads((run / "run.json").read_text())
    spec = {key: manifest["spec"][key] for key in FACTS if manifest["spec"].get(key) is not None}
    if spec["mode"] == "single_shot":
        spec.pop("max_turns", None)
    own = record["results"].get(run.name, {})
    arguments = own.get("command", [])
    return {"command": " ".join(["harness", *arguments]), "date": manifest["created"][:10], **spec}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("out", type=Path, help="folder of the pieces, as for measure.py")
    parser.add_argument("--to", type=Path, default=RECORDINGS, help="folder of the recordings")
    given = parser.parse_args()
    piece = given.out / "demo"
    runs = sorted(path.parent for path in piece.glob("*/run.json"))
    if not runs:
        sys.exit(f"{piece}: no runs there; first: measure.py demo --out {given.out}")
    record = json.loads((piece / RECORD).read_text())
    recorded: dict[str, Any] = {"server": record["server"], "recordings": {}}
    for run in runs:
        mode, _, prompt = run.name.rpartition("-")
        print(f"{mode}/{prompt}: {copy(run, given.to / mode / prompt)} samples")
        recorded["recordings"][f"{mode}/{prompt}"] = facts(run, record)
    (given.to / RECORDS).write_text(json.dumps(recorded, indent=2) + "\n")


if __name__ == "__main__":
    main()
