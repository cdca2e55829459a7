"""Measures a real model in pieces, each of which can be stopped and started again.

    python tests/real_model/llama_server.py --folder llm            # gets and starts the model
    python tests/real_model/measure.py --list
    python tests/real_model/measure.py humaneval-single --out real-runs
    python tests/real_model/measure.py modes --out real-runs --size 20

A piece is one or more ordinary runs or experiments of harness in OUT/PIECE; the same command goes
on with what is there. OUT/PIECE/piece.json holds the commands, the server's own words and the
seconds that each start took. `results_page.py` writes docs/results.md from OUT.

HumanEval's, MBPP's and LiveCodeBench's rows come from the folder that HARNESS_TEST_DATA names, else
from the hub. Commands are run in OUT, where `data` is a link to that folder.
"""

import argparse
import gzip
import json
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

SERVER = "http://127.0.0.1:8089/v1"
MODEL = "qwen2.5-coder-1.5b"
CONCURRENCY = 4
"""As many as the server has slots."""
SEED = 29
MOST_TOKENS = 1024
"""Of one answer; a small model may repeat itself without end."""
WARM = 0.7
"""Temperature where several samples of a problem are asked for."""
MBPP_TEST = range(11, 511)
"""The ids of MBPP's test split, which the file as published does not mark."""
TRIVIAL = (
    *("even-parcels", "long-words", "shelf-gap", "letter-count", "till-roll"),
    *("backward-signs", "bell-and-gong", "guest-list", "above-average", "door-number"),
)
MIDDLE = (
    *("judges-mark", "hall-lamps", "race-places", "odd-socks", "parking-meter"),
    *("monogram", "dish-vote", "water-meter", "nearest-stop", "herb-jars"),
)
EASY = (
    *("egg-boxes", "warmer-mornings", "wheel-lock", "commonest-vowel", "late-train"),
    *("second-summit", "parcel-vans", "mirrored-plates", "bead-strings", "crowded-bus"),
    *("coin-drawer", "garden-fence", "busiest-hours", "museum-guards", "painted-posts"),
    "roll-call",
)
DEMO = (*TRIVIAL, *MIDDLE, *EASY)
"""Bundled problems that are recorded: the three levels of fixtures/README.md, easiest first."""
FEWER_TOKENS = 700
"""Most tokens of one answer where the loop is compared."""
MOST_TURNS = 6
"""Most turns of the agent loop: this model repeats a failing solution."""
LOOP = ("--agentic-mode", "--tool-protocol", "text", "--max-turns", str(MOST_TURNS))
"""The agent loop without native tools."""
NATIVE = ("--agentic-mode", "--tool-protocol", "native", "--max-turns", str(MOST_TURNS))
SHOTS = 6
"""Single shots of a problem: what the loop spends buys about as many."""
PROMPTS = ("default", "terse", "reasoning")
SECOND_PROMPT = "terse"
RECORD = "piece.json"
DATA = "data"
MBPP_FILE = "mbpp-test.jsonl"


@dataclass(frozen=True)
class Options:
    """What the command line says.

    Attributes:
        out: folder of all pieces.
        size: number of problems; None for the piece's own.
        server: base URL of the model's server, with `/v1`.
        model: name of the model.
        concurrency: requests at the same time.
        has_data: whether published rows are in `out`/data; if not, they come from the hub.
    """

    out: Path
    size: int | None
    server: str
    model: str
    concurrency: int
    has_data: bool

    def asked(self, most_tokens: int = MOST_TOKENS) -> list[str]:
        """Flags that say which model is asked, and how."""
        address = ["-m", self.model, "--base-url", self.server]
        return [*address, "--concurrency", str(self.concurrency), "--max-tokens", str(most_tokens)]

    def drawn(self, size: int | None) -> list[str]:
        """Flags that draw problems by seed; all without a size."""
        size = self.size or size
        return [] if size is None else f"-n {size} --sampling random --seed {SEED}".split()


@dataclass(frozen=True)
class Piece:
    """A part of the measurement.

    Attributes:
        about: what is measured, in one line.
        commands: returns the arguments of `harness`, one list a command, without `--out`; the
            key is the folder of its result.
    """

    about: str
    commands: Callable[[Options], dict[str, list[str]]]


def rows(name: str, file: str, options: Options) -> str:
    """Return the benchmark's name for `-b`, with the published file where it is at hand."""
    return f"{name}:{DATA}/{file}" if options.has_data else name


def humaneval(options: Options) -> list[str]:
    """Flags that select HumanEval."""
    return ["-b", rows("humaneval", "humaneval/HumanEval.jsonl.gz", options)]


def livecodebench(options: Options) -> list[str]:
    """Flags that select the easy problems of LiveCodeBench that are at hand."""
    where = rows("livecodebench", "lcb_codegen_full184/test_*", options)
    return ["-b", where, "--filter-difficulty", "easy"]


def mbpp(options: Options) -> list[str]:
    """Flags that select MBPP's test split; makes its file from the published one."""
    if not options.has_data:
        return ["-b", "mbpp"]
    split = options.out / MBPP_FILE
    if not split.exists():
        with gzip.open(options.out / DATA / "mbpp" / "mbpp.jsonl.gz", "rt") as published:
            kept = [line for line in published if json.loads(line)["task_id"] in MBPP_TEST]
        split.write_text("".join(kept))
    return ["-b", f"mbpp:{MBPP_FILE}"]


def experiment(options: Options, temperature: float, **axes: Sequence[str]) -> list[str]:
    """Return the arguments of an experiment whose variants are all combinations of `axes`."""
    address = ["-m", options.model, "--base-url", options.server]
    settings = {"temperature": temperature, "max_tokens": FEWER_TOKENS}
    variants = [
        word for axis, names in axes.items() for name in names for word in (f"--{axis}", name)
    ]
    of_all = [word for key, value in settings.items() for word in ("--vary", f"{key}={value}")]
    flags = ["--concurrency", str(options.concurrency), *of_all]
    return ["experiment", *address, *variants, *flags]


def humaneval_single(options: Options) -> dict[str, list[str]]:
    cold = ["run", *humaneval(options), *options.drawn(None), *options.asked()]
    return {"run": [*cold, "--temperature", "0"]}


def mbpp_single(options: Options) -> dict[str, list[str]]:
    cold = ["run", *mbpp(options), *options.drawn(100), *options.asked()]
    return {"run": [*cold, "--temperature", "0"]}


def compared(asked: list[str]) -> dict[str, list[str]]:
    """Return the runs that are set beside each other: shots, self-repair and the loops."""
    warm = [*asked, "--temperature", str(WARM)]
    return {
        "shots": [*warm, "-k", str(SHOTS)],
        "fresh": [*warm, *LOOP, "--context", "fresh"],
        "self_repair": [*warm, "--mode", "self_repair"],
        "grow": [*warm, *LOOP, "--context", "grow"],
        "native": [*warm, *NATIVE],
    }


def loop(options: Options) -> dict[str, list[str]]:
    asked = ["run", *humaneval(options), *options.drawn(60), *options.asked(FEWER_TOKENS)]
    return compared(asked)


def modes(options: Options) -> dict[str, list[str]]:
    asked = ["run", *livecodebench(options), *options.drawn(20), *options.asked(FEWER_TOKENS)]
    return compared(asked)


def prompts(options: Options) -> dict[str, list[str]]:
    compared = experiment(options, 0, mode=("single_shot",), prompt=PROMPTS)
    return {"single_shot": [*compared, *humaneval(options), *options.drawn(60)]}


def tune(options: Options) -> dict[str, list[str]]:
    asked = ["tune", *humaneval(options), *options.drawn(80), *options.asked(FEWER_TOKENS)]
    split = ["--train", "20", "--selection", "20", "--test", "40", "--max-evaluations", "160"]
    return {"tuning": [*asked, *split, "--temperature", "0", "--mode", "self_repair"]}


def protocols(options: Options) -> dict[str, list[str]]:
    asked = ["run", *humaneval(options), *options.drawn(4), *options.asked(), "--agentic-mode"]
    return {api: [*asked, "--api", api] for api in ("chat", "responses", "messages")}


def demo(options: Options) -> dict[str, list[str]]:
    some = [word for slug in DEMO[: options.size] for word in ("-t", f"fixture/{slug}")]
    asked = ["run", "-b", "fixture", *some, *options.asked(FEWER_TOKENS)]
    asked += ["--temperature", str(WARM)]
    return {
        "agentic-default": [*asked, *LOOP],
        "single_shot-default": [*asked, "-k", str(SHOTS)],
        "self_repair-default": [*asked, "--mode", "self_repair"],
        "agentic_grow-default": [*asked, *LOOP, "--context", "grow"],
        f"single_shot-{SECOND_PROMPT}": [*asked, "--prompt", SECOND_PROMPT],
    }


PIECES = {
    "humaneval-single": Piece("HumanEval (164), single shot, temperature 0", humaneval_single),
    "mbpp-single": Piece("MBPP (100 of its test split), single shot, temperature 0", mbpp_single),
    "loop": Piece("HumanEval (60 problems), agent loop and other modes", loop),
    "modes": Piece("LiveCodeBench (20 easy problems), modes at equal spend", modes),
    "prompts": Piece(f"HumanEval (60 problems), prompt sets {', '.join(PROMPTS)}", prompts),
    "tune": Piece("HumanEval (80 problems), prompt set tuned for self-repair", tune),
    "protocols": Piece("chat, responses and messages: a few problems each, agent loop", protocols),
    "demo": Piece("bundled problems, recorded for the demo", demo),
}


def measure(name: str, options: Options, *, dry_run: bool) -> int:
    """Run a piece's commands one after the other; return the exit code of the last one tried."""
    (options.out / name).mkdir(parents=True, exist_ok=True)
    for result, arguments in PIECES[name].commands(options).items():
        command = [*arguments, "--out", f"{name}/{result}"]
        print("harness", *command, flush=True)
        tried = [*command, "--dry-run"] if dry_run else command
        started, clock = datetime.now(UTC), time.monotonic()
        code = subprocess.run(
            [sys.executable, "-m", "harness", *tried], cwd=options.out, check=False
        ).returncode
        if not dry_run:
            start = {"started": started.isoformat(timespec="seconds"), "exit_code": code}
            start["seconds"] = round(time.monotonic() - clock)
            record(options.out / name / RECORD, result, command, start, options)
        if code:
            return code
    return 0


def record(
    path: Path, result: str, command: list[str], start: dict[str, Any], options: Options
) -> None:
    """Add one start of a command to the piece's record."""
    whole: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"results": {}}
    whole["server"] = server_words(options.server) or whole.get("server", {})
    own = whole["results"].setdefault(result, {"command": [], "starts": []})
    own["command"] = command
    own["starts"].append(start)
    path.write_text(json.dumps(whole, indent=2) + "\n")


def server_words(server: str) -> dict[str, Any]:
    """Return what llama.cpp's server says of itself; nothing if it does not."""
    try:
        with urllib.request.urlopen(server.removesuffix("/v1") + "/props", timeout=5) as answer:
            props: dict[str, Any] = json.load(answer)
    except (OSError, ValueError):
        return {}
    generation = props.get("default_generation_settings", {})
    return {
        "build": props.get("build_info"),
        "slots": props.get("total_slots"),
        "context_of_a_slot": generation.get("n_ctx"),
        "file": Path(str(props.get("model_path", ""))).name,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("pieces", nargs="*", metavar="PIECE", help="pieces to measure, in order")
    parser.add_argument("--list", action="store_true", help="list the pieces")
    parser.add_argument("--out", type=Path, default=Path("real-runs"), help="folder of all pieces")
    parser.add_argument("--size", type=int, help="number of problems of each selection")
    parser.add_argument("--server", default=SERVER, help=f"base URL [default: {SERVER}]")
    parser.add_argument("--model", default=MODEL, help=f"model's name [default: {MODEL}]")
    parser.add_argument("--concurrency", type=int, default=CONCURRENCY, help="requests at a time")
    parser.add_argument("--dry-run", action="store_true", help="print commands and estimates only")
    given = parser.parse_args()
    if given.list or not given.pieces:
        for name, piece in PIECES.items():
            print(f"{name:18} {piece.about}")
        return 0
    if unknown := [name for name in given.pieces if name not in PIECES]:
        parser.error(f"no piece {', '.join(unknown)}; there are {', '.join(PIECES)}")
    out = given.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    if (data := os.environ.get("HARNESS_TEST_DATA")) and not (out / DATA).is_symlink():
        (out / DATA).symlink_to(Path(data).resolve())
    options = Options(
        out=out,
        size=given.size,
        server=given.server,
        model=given.model,
        concurrency=given.concurrency,
        has_data=(out / DATA).is_dir(),
    )
    for name in given.pieces:
        if code := measure(name, options, dry_run=given.dry_run):
            print(f"{name}: exit code {code}; the same command goes on", file=sys.stderr)
            return code
    return 0


if __name__ == "__main__":
    sys.exit(main())
